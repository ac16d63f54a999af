"""Histories longer than a page, refusals, and answers of another shape; the rest is tested against a real hub."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cogworks.errors import CogworksError, PermissionRefused, TryAgainLater, UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.github.ledger_log import read_copy, read_log
from cogworks.github.ledgers import IssueEnd, LedgerTip, archive, issue_ends, list_ledgers
from cogworks.unexpected import UnexpectedAnswer
from cogworks.vocabulary import CommitOid, IssueNumber
from tests.world import World

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ADDRESS = IssueAddress("https://github.com", "octo-org", "adder", IssueNumber(7))


@dataclass
class Scripted:
    """A client that gives the answers it was told, in their order."""

    answers: list[Answer]
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer:
        self.asked.append(dict(variables))
        return self.answers.pop(0)

    mutate = query


def answer(data: Any, *problems: GraphQLProblem) -> Answer:
    return Answer(data, problems, NOON)


def commits(first: int, count: int) -> list[dict[str, Any]]:
    return [
        {
            "oid": f"{number:040x}",
            "message": f"commit {number}",
            "committedDate": (NOON + timedelta(seconds=number)).isoformat(),
            "parents": {"nodes": [{"oid": f"{number - 1:040x}"}] if number > 1 else []},
        }
        for number in range(first, first - count, -1)
    ]


def history_page(first: int, count: int, *, after: str | None) -> Answer:
    page = {"hasNextPage": after is not None, "endCursor": after}
    target = {
        "__typename": "Commit",
        "newest": {"nodes": [{"file": {"object": {"text": "{}", "isTruncated": False}}}]},
        "history": {"totalCount": 130, "pageInfo": page, "nodes": commits(first, count)},
    }
    return answer({"repository": {"issue": {"url": "u"}, "at": target}})


def test_a_long_history_is_read_page_by_page() -> None:
    client = Scripted([history_page(130, 100, after="c1"), history_page(30, 30, after=None)])

    found = read_log(client, ADDRESS, limit=0)

    assert [int(commit.oid, 16) for commit in found.commits] == list(range(130, 0, -1))
    assert (found.total, found.state_text) == (130, "{}")
    assert [(asked["first"], asked["after"]) for asked in client.asked] == [(100, None), (100, "c1")]


def test_a_limit_is_never_exceeded() -> None:
    client = Scripted([history_page(130, 100, after="c1"), history_page(30, 20, after="c2")])

    assert len(read_log(client, ADDRESS, limit=120).commits) == 120
    assert [asked["first"] for asked in client.asked] == [100, 20]


def test_what_github_refuses_is_told_as_its_kind() -> None:
    broken = GraphQLProblem(("repository", "at"), "INTERNAL", "Something went wrong")

    with pytest.raises(TryAgainLater, match="read the ledger of"):
        read_log(Scripted([answer({"repository": None}, broken)]), ADDRESS, limit=10)
    with pytest.raises(TryAgainLater, match="list the ledgers of octo-org/adder"):
        list_ledgers(Scripted([answer({"repository": None}, broken)]), "octo-org/adder")


@pytest.mark.parametrize("found", [[], {"history": None}, {"history": {"nodes": 1}}])
def test_an_answer_of_another_shape_is_told_as_such(found: Any) -> None:
    data = {"repository": {"issue": {"url": "u"}, "at": found, "tip": found}}

    with pytest.raises((UnexpectedAnswer, CogworksError), match=r"unexpected|nothing"):
        read_log(Scripted([answer(data)]), ADDRESS, limit=10)
    with pytest.raises((UnexpectedAnswer, CogworksError), match=r"unexpected|nothing"):
        read_copy(Scripted([answer(data)]), World().snapshot(), CommitOid("a" * 40))


def test_a_copy_holds_every_commit_and_every_file() -> None:
    folders = [{"name": f"{number:04d}-plan", "type": "tree"} for number in range(1, 11)]
    visits = {"object": {"entries": [*folders, {"name": "README", "type": "blob"}]}}

    def page(first: int, count: int, after: str | None) -> Answer:
        shown = {"hasNextPage": after is not None, "endCursor": after}
        return answer(
            {
                "repository": {
                    "tip": {"file": visits, "history": {"pageInfo": shown, "nodes": commits(first, count)}}
                }
            }
        )

    def texts(count: int) -> Answer:
        entries = [
            {"name": "visit.json", "object": {"text": "{}", "isTruncated": False}},
            {"name": "reply-1.json", "object": {"text": "cut", "isTruncated": True}},
        ]
        return answer({"repository": {f"f{number}": {"entries": entries} for number in range(count)}})

    client = Scripted([page(130, 100, "c1"), page(30, 30, None), texts(8), texts(2)])
    copy = read_copy(client, World().snapshot(), CommitOid(f"{130:040x}"))

    assert [int(commit.oid, 16) for commit in copy.chain] == list(range(130, 0, -1))
    assert (copy.chain[0].parents, copy.chain[-1].parents) == ((f"{129:040x}",), ())
    assert len(copy.files) == 20
    assert copy.files["visits/0010-plan/visit.json"] == "{}"
    assert copy.files["visits/0001-plan/reply-1.json"] is None
    assert client.asked[2]["p0"] == f"{130:040x}:visits/0001-plan"


def tip(number: int) -> LedgerTip:
    return LedgerTip(
        issue=IssueNumber(number), oid=CommitOid(f"{number:040x}"), message="m", committed_date=NOON
    )


def test_ledgers_are_listed_by_number_and_without_their_root() -> None:
    def page(names: list[str], after: str | None) -> Answer:
        target = {"oid": "a" * 40, "message": "m", "committedDate": NOON.isoformat()}
        refs = {
            "pageInfo": {"hasNextPage": after is not None, "endCursor": after},
            "nodes": [{"name": name, "target": target} for name in names],
        }
        return answer(
            {
                "repository": {
                    "id": "R_1",
                    "nameWithOwner": "octo-org/adder",
                    "defaultBranchRef": None,
                    "refs": refs,
                }
            }
        )

    found = list_ledgers(Scripted([page(["10", "root"], "c"), page(["9", "9a"], None)]), "octo-org/adder")

    assert [one.issue for one in found.tips] == [9, 10]
    assert (found.config_text, found.server_date) == (None, NOON)


def test_a_repository_that_is_not_there_is_refused() -> None:
    missing = GraphQLProblem(("repository",), "NOT_FOUND", "Could not resolve")

    with pytest.raises(UsageError, match="octo-org/adder"):
        list_ledgers(Scripted([answer({"repository": None}, missing)]), "octo-org/adder")


def test_issues_are_asked_fifty_at_a_time_and_one_that_is_gone_is_told() -> None:
    gone = GraphQLProblem(("repository", "i2"), "NOT_FOUND", "gone")
    closed = {"state": "CLOSED", "closedAt": NOON.isoformat()}
    reopened = {"state": "OPEN", "closedAt": NOON.isoformat()}
    first = {f"i{number}": reopened for number in range(1, 51)} | {"i1": closed, "i2": None}
    client = Scripted([answer({"repository": first}, gone), answer({"repository": {"i51": closed}})])

    ends = issue_ends(client, "octo-org/adder", [IssueNumber(number) for number in range(1, 52)])

    assert ends[IssueNumber(1)].closed_at is not None
    assert ends[IssueNumber(2)] == IssueEnd(is_there=False, closed_at=None)
    assert ends[IssueNumber(3)] == IssueEnd(is_there=True, closed_at=None)
    assert len(client.asked) == 2


def test_a_ledger_that_moved_meanwhile_stays_where_it_is() -> None:
    stale = GraphQLProblem(("m2",), "STALE_DATA", "Expected refs/heads/cogworks/ledger/2")
    client = Scripted([answer({"m1": {}, "m2": None}, stale), answer({"m2": None}, stale)])

    moved = archive(client, "R_1", [tip(1), tip(2)])

    assert [(one.issue, one.ref, bool(one.problem)) for one in moved] == [
        (1, "refs/cogworks/archive/1", False),
        (2, "", True),
    ]
    assert client.asked[0]["m1"]["refUpdates"] == [
        {"name": "refs/cogworks/archive/1", "beforeOid": "0" * 40, "afterOid": tip(1).oid},
        {"name": "refs/heads/cogworks/ledger/1", "beforeOid": tip(1).oid, "afterOid": "0" * 40},
    ]
    assert list(client.asked[1]) == ["m2"]


def test_a_token_that_may_not_move_refs_is_told_what_it_lacks() -> None:
    forbidden = GraphQLProblem(("m1",), "FORBIDDEN", "Resource not accessible by integration")

    with pytest.raises(PermissionRefused, match="contents: write"):
        archive(Scripted([answer({"m1": None}, forbidden)]), "R_1", [tip(1)])
