import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cogworks.errors import CogworksError, PermissionRefused
from cogworks.forge.addresses import IssueAddress
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.github.reading import SnapshotReader
from cogworks.vocabulary import IssueNumber

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "github" / "answers" / "work-item.json").read_text("utf-8")
)
ADDRESS = IssueAddress("https://github.com", "octo-org", "old-name", IssueNumber(42))
NOW = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
WHOLE = Answer(RECORDED["data"], (), NOW)


@dataclass
class Scripted:
    """Answers in the given order and keeps what it was asked."""

    answers: Sequence[Answer | Exception]
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)

    def query(self, document: str, variables: Mapping[str, Any], *, cut_short_repeats: int = 3) -> Answer:
        self.asked.append((document, variables))
        self.repeats.append(cut_short_repeats)
        answer = self.answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


def behind() -> Answer:
    data = copy.deepcopy(RECORDED["data"])
    data["repository"]["issue"]["comments"]["nodes"].pop()
    return Answer(data, (), NOW)


def unknown_field(name: str) -> Answer:
    return Answer(
        {}, (GraphQLProblem((), "undefinedField", f"Field '{name}' doesn't exist on type 'Issue'"),), NOW
    )


def test_a_work_item_is_read_in_one_request() -> None:
    github, slept = Scripted([WHOLE]), list[float]()

    snapshot = SnapshotReader(github, sleep=slept.append).read(ADDRESS)

    assert snapshot.issue.number == 42
    assert [variables for _, variables in github.asked] == [
        {
            "owner": "octo-org",
            "name": "old-name",
            "number": 42,
            "ledger": "refs/heads/cogworks/ledger/42",
            "root": "refs/heads/cogworks/ledger/root",
            "branchPrefix": "refs/heads/cogworks/42/",
        }
    ]
    assert slept == []


def test_a_list_shorter_than_its_count_is_read_again() -> None:
    github, slept = Scripted([behind(), WHOLE]), list[float]()

    snapshot = SnapshotReader(github, sleep=slept.append).read(ADDRESS)

    assert len(snapshot.issue.comments) == 2
    assert slept == [0.5]


def test_a_list_that_stays_short_is_taken_as_it_is_after_three_more_reads() -> None:
    github, slept = Scripted([behind()] * 4), list[float]()

    snapshot = SnapshotReader(github, sleep=slept.append).read(ADDRESS)

    assert len(snapshot.issue.comments) == 1
    assert slept == [0.5, 0.5, 0.5]


def test_a_server_without_dependencies_is_asked_without_them_from_then_on() -> None:
    data = copy.deepcopy(RECORDED["data"])
    del data["repository"]["issue"]["subIssues"]["nodes"][0]["blockedBy"]
    github = Scripted([unknown_field("blockedBy"), Answer(data, (), NOW), Answer(data, (), NOW)])
    reader = SnapshotReader(github, sleep=lambda _: None)

    snapshots = [reader.read(ADDRESS), reader.read(ADDRESS)]

    assert ["blockedBy" in document for document, _ in github.asked] == [True, False, False]
    assert [snapshot.issue.sub_issues[0].blocked_by for snapshot in snapshots] == [None, None]


def test_a_server_that_is_too_old_is_told_from_one_that_refuses() -> None:
    reader = SnapshotReader(Scripted([unknown_field("subIssues")] * 2), sleep=lambda _: None)

    with pytest.raises(
        CogworksError, match=r"Field 'subIssues' doesn't exist .* Enterprise Server 3\.17 or newer"
    ):
        reader.read(ADDRESS)


MOMENT = {name: RECORDED["data"]["repository"][name] for name in ("defaultBranchRef", "ledger")}


def further_page(*problems: GraphQLProblem, **lists: Any) -> Answer:
    """A later page of the same moment: lists of the issue, or `refs`."""
    below = lists if "refs" in lists else {"issue": lists}
    return Answer({"repository": {"id": "R_1", **MOMENT, **below}}, problems, NOW)


def page(number: int, *, is_last: bool) -> dict[str, Any]:
    branch = copy.deepcopy(RECORDED["data"]["repository"]["refs"]["nodes"][1])
    branch["name"] = f"swi-{number}"
    return {
        "totalCount": 3,
        "pageInfo": {"hasNextPage": not is_last, "endCursor": f"c{number}"},
        "nodes": [branch],
    }


def test_branches_of_further_pages_are_read_as_well() -> None:
    data = copy.deepcopy(RECORDED["data"])
    data["repository"]["refs"] = page(1, is_last=False)
    further = [further_page(refs=page(place, is_last=place == 3)) for place in (2, 3)]
    github = Scripted([Answer(data, (), NOW), *further])

    snapshot = SnapshotReader(github, sleep=lambda _: None).read(ADDRESS)

    assert list(snapshot.branches) == ["cogworks/42/swi-1", "cogworks/42/swi-2", "cogworks/42/swi-3"]
    assert [variables["cursor"] for _, variables in github.asked[1:]] == ["c1", "c2"]


def test_a_further_page_that_is_refused_leaves_no_room_for_a_decision() -> None:
    data = copy.deepcopy(RECORDED["data"])
    data["repository"]["refs"] = page(1, is_last=False)
    refusal = GraphQLProblem(("repository", "refs"), "FORBIDDEN", "no")
    github = Scripted([Answer(data, (), NOW), further_page(refusal, refs=None)])

    with pytest.raises(PermissionRefused, match=r"read the rest of repository\.refs"):
        SnapshotReader(github, sleep=lambda _: None).read(ADDRESS)


def test_recorded_pull_requests_that_are_missing_are_read_by_id() -> None:
    missing = copy.deepcopy(
        RECORDED["data"]["repository"]["refs"]["nodes"][0]["associatedPullRequests"]["nodes"][0]
    )
    missing.update(id="PR_40", number=40, pullRequestState="MERGED", repository={"id": "R_1"})
    gone = GraphQLProblem(("nodes", 1), "NOT_FOUND", "Could not resolve to a node")
    github = Scripted([WHOLE, Answer({"nodes": [missing, None]}, (gone,), NOW)])
    reader = SnapshotReader(github, sleep=lambda _: None)

    snapshot = reader.complete(reader.read(ADDRESS), ["PR_43", "PR_40", "PR_39"])

    assert [(pull.number, pull.state) for pull in snapshot.pulls] == [
        (40, "merged"),
        (41, "merged"),
        (43, "open"),
    ]
    assert github.asked[1][1] == {"ids": ["PR_40", "PR_39"]}


@pytest.mark.parametrize(
    ("changed", "stranger"),
    [
        ({"repository": {"id": "R_2"}}, "is of another repository"),
        ({"headRefName": "feature"}, "is #40 from branch 'feature', not from one below `cogworks/42/`"),
        ({"isCrossRepository": True}, "is #40 from branch 'cogworks/42/spec', not from one below"),
    ],
    ids=["repository", "branch", "fork"],
)
def test_a_recorded_pull_request_that_is_not_the_items_is_a_stranger(
    changed: dict[str, Any], stranger: str
) -> None:
    found = copy.deepcopy(
        RECORDED["data"]["repository"]["refs"]["nodes"][0]["associatedPullRequests"]["nodes"][0]
    )
    here = {"id": "PR_40", "number": 40, "repository": {"id": "R_1"}, "headRefName": "cogworks/42/spec"}
    found.update({**here, **changed})
    reader = SnapshotReader(Scripted([WHOLE, Answer({"nodes": [found]}, (), NOW)]), sleep=lambda _: None)

    snapshot = reader.complete(reader.read(ADDRESS), ["PR_40"])

    assert [pull.number for pull in snapshot.pulls] == [41, 43]
    assert len(snapshot.strangers) == 1
    assert snapshot.strangers[0].startswith(f"pull request PR_40 {stranger}")


def test_nothing_is_asked_when_every_recorded_pull_request_is_there() -> None:
    github = Scripted([WHOLE])
    reader = SnapshotReader(github, sleep=lambda _: None)
    snapshot = reader.read(ADDRESS)

    assert reader.complete(snapshot, ["PR_43", "PR_41"]) is snapshot
    assert len(github.asked) == 1
