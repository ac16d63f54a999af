"""What else a repository was asked for: one request, told as it is."""

import pytest

from cogworks.errors import CogworksError, UsageError
from cogworks.forge.neighbours import Neighbour
from cogworks.github.answers import GraphQLProblem
from cogworks.github.neighbours import read_neighbours
from cogworks.unexpected import UnexpectedAnswer
from cogworks.vocabulary import BranchName, IssueNumber
from tests.github.test_ledger_reads import Scripted, answer

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
