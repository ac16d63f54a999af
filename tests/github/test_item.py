"""What a step reads beside its item: files of others, what finished items came to, and what else a repository was asked for."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cogworks.errors import CogworksError, TryAgainLater, UsageError
from cogworks.forge.snapshot import Neighbour
from cogworks.github.documents import Answer, GraphQLProblem
from cogworks.github.item import read_elsewhere, read_item_costs, read_neighbours
from cogworks.packs.declared import Exemplar
from cogworks.unexpected import UnexpectedAnswer
from cogworks.vocabulary import BranchName, IssueNumber
from tests.github.test_ledger_reads import NOON, Scripted, answer

ONE = Exemplar(repository="a/one", ref="main", path="x.py")
OTHER = Exemplar(repository="a/other", ref="main", path="x.py")
FILE = {"file": {"__typename": "Blob", "oid": "1", "text": "x", "isTruncated": False, "isBinary": False}}


class Answers:
    """Gives the first file, and a problem in the place of the other."""

    def __init__(self, kind: str, message: str) -> None:
        self._problem = GraphQLProblem(("r1",), kind, message)

    def query(self, document: str, variables: Mapping[str, Any], *, cut_short_repeats: int = 3) -> Answer:
        return Answer({"r0": FILE, "r1": None}, (self._problem,), datetime.now(UTC))


def test_what_is_not_there_is_said_beside_what_is() -> None:
    found = read_elsewhere(Answers("NOT_FOUND", "Could not resolve to a Repository"), [ONE, OTHER])

    assert (found[ONE].text, found[OTHER].problem) == ("x", "it is not there, or the token may not see it")


@pytest.mark.parametrize(
    ("kind", "message"),
    [("RATE_LIMITED", "slow down"), ("", "Something went wrong while executing your query.")],
)
def test_what_fails_for_a_moment_is_missing_from_no_run(kind: str, message: str) -> None:
    with pytest.raises(TryAgainLater, match="read files of other repositories"):
        read_elsewhere(Answers(kind, message), [ONE, OTHER])


def tip(message: str, *, days: int) -> dict[str, Any]:
    return {"target": {"message": message, "committedDate": (NOON - timedelta(days=days)).isoformat()}}


def ended(usd: str, *, days: int, pipeline: str = "small") -> dict[str, Any]:
    line = f"Cogworks-Cost: {pipeline} {usd} USD 3000 tokens, a round 0.500000 USD 2000 tokens"
    return tip(f"cogworks: integration succeeded [skip ci]\n\n{line}\nskip-checks: true", days=days)


def repository(ledgers: object, archive: object) -> dict[str, Any]:
    return {"repository": {"ledgers": {"nodes": ledgers}, "archive": {"nodes": archive}}}


def test_items_that_ended_come_with_the_last_one_first_whether_put_away_or_not() -> None:
    under_way = tip("cogworks: intake claim [skip ci]\n\nskip-checks: true", days=0)
    a_tag: dict[str, Any] = {"target": {}}
    ledgers = [ended("0.100000", days=3), under_way, a_tag, ended("0.300000", days=1)]
    client = Scripted([answer(repository(ledgers, [ended("0.200000", days=2, pipeline="default")]))])

    found = read_item_costs(client, "octo-org/adder")

    assert [(cost.pipeline, cost.whole.usd) for cost in found] == [
        ("small", 0.3),
        ("default", 0.2),
        ("small", 0.1),
    ]
    assert client.asked[0]["ledgers"] == "refs/heads/cogworks/ledger/"
    assert client.asked[0]["archive"] == "refs/cogworks/archive/"


@pytest.mark.parametrize(
    "data", [{"repository": None}, repository(None, []), repository([{"target": None}], [])]
)
def test_an_answer_of_another_shape_is_an_error_that_says_where(data: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer):
        read_item_costs(Scripted([answer(data)]), "octo-org/adder")


def test_what_github_refuses_is_told() -> None:
    refused = answer(
        {"repository": None}, GraphQLProblem(type="FORBIDDEN", message="no", path=("repository",))
    )

    with pytest.raises(CogworksError, match="read what finished items of octo-org/adder came to"):
        read_item_costs(Scripted([refused]), "octo-org/adder")


ISSUE = {"number": 3, "title": "It fails", "body": "It does.", "state": "CLOSED", "stateReason": "COMPLETED"}
PULL = {"number": 5, "title": "Mend it", "body": "", "headRefName": "mend"}


def listed(*, issues: object, pulls: object = ()) -> object:
    return {"repository": {"issues": {"nodes": issues}, "pullRequests": {"nodes": list(pulls)}}}  # type: ignore[call-overload]  # Any list.


def test_issues_and_merged_pull_requests_come_with_one_request() -> None:
    issue = {**ISSUE, "labels": {"nodes": [{"name": "bug"}]}}
    client = Scripted([answer(listed(issues=[issue], pulls=[PULL]))])

    found = read_neighbours(client, "octo-org/adder")

    assert found == (
        Neighbour(
            number=IssueNumber(3),
            title="It fails",
            body="It does.",
            kind="issue",
            state="closed",
            why_closed="completed",
            labels=("bug",),
        ),
        Neighbour(
            number=IssueNumber(5),
            title="Mend it",
            body="",
            kind="pull request",
            state="merged",
            head=BranchName("mend"),
        ),
    )


@pytest.mark.parametrize(
    ("state", "reason", "told"),
    [
        ("OPEN", None, ("open", "")),
        ("OPEN", "REOPENED", ("open", "")),
        ("CLOSED", "NOT_PLANNED", ("closed", "not planned")),
    ],
    ids=["open", "reopened", "not planned"],
)
def test_how_an_issue_stands_is_told(state: str, reason: str | None, told: tuple[str, str]) -> None:
    issue = {**ISSUE, "state": state, "stateReason": reason, "labels": {"nodes": []}}

    [found] = read_neighbours(Scripted([answer(listed(issues=[issue]))]), "octo-org/adder")

    assert (found.state, found.why_closed) == told


def test_a_refusal_and_another_shape_are_errors() -> None:
    with pytest.raises(UsageError, match="no repository octo-org/adder"):
        read_neighbours(Scripted([answer({"repository": None})]), "octo-org/adder")
    with pytest.raises(UnexpectedAnswer, match=r"repository\.issues\.nodes"):
        read_neighbours(Scripted([answer(listed(issues=None))]), "octo-org/adder")
    problem = GraphQLProblem(("repository",), "FORBIDDEN", "no")
    with pytest.raises(CogworksError, match="list the issues of octo-org/adder"):
        read_neighbours(Scripted([answer({"repository": None}, problem)]), "octo-org/adder")
