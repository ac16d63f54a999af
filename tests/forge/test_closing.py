"""The words by which the merge of a pull request closes the issue, and the issue that they could not close."""

import json
from typing import Any

import pytest

from cogworks.forge.bases import bodies_put_right, issue_closed, part_of, shown_only_closed
from cogworks.forge.effects import CloseIssue, ClosePullRequest, OpenPullRequest
from cogworks.forge.facts import Branch
from cogworks.forge.snapshot import Snapshot
from cogworks.hub.actions.timeline import closing_numbers
from cogworks.pipeline.state import KnownPull, RunState
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber
from tests.pipeline.runs import new_run
from tests.world import World

PLAIN, LAST = (part_of(IssueNumber(7), closes=closes) for closes in (False, True))


def shown(*bodies: str, state: str = "open", **ledger: Any) -> tuple[Snapshot, RunState]:
    """An item with these pull requests of its own, numbered from 101."""
    world = World()
    for at, body in enumerate(bodies, 1):
        branch = BranchName(f"cogworks/7/swi-{at}")
        world.branches[branch] = Branch(oid=CommitOid("b" * 40), message="x")
        world.do(
            OpenPullRequest(slug=f"swi-{at}", head=branch, base=BranchName("main"), title="t", body=body)
        )
    known = tuple(
        KnownPull(slug=f"swi-{at}", number=each.number, node_id=each.node_id, head=each.head, base=each.base)
        for at, each in enumerate(world.pulls, 1)
    )
    world.pulls = [each.model_copy(update={"state": state}) for each in world.pulls]
    world.empty_ledger()
    world.files["state.json"] = json.dumps(ledger)
    return world.snapshot(), new_run(pull_requests=known, status="done")


def edited(*bodies: str, closing: int = 0) -> list[tuple[int, str]]:
    snapshot, state = shown(*bodies)
    return [
        (effect.number, effect.body) for effect in bodies_put_right(snapshot, state, IssueNumber(closing))
    ]


def test_github_closes_the_issue_by_the_last_words_alone() -> None:
    assert (closing_numbers(PLAIN), closing_numbers(LAST)) == ((), (7,))
    assert closing_numbers(f"Closes #21. {LAST}. Follows the interfaces in #12.") == (21, 7)


def test_the_last_pull_request_gets_the_words_and_loses_them_again() -> None:
    first, second = f"Closes #21. {PLAIN}.\n\nMore of #7.", f"Closes #22. {PLAIN}. Follows #12."
    closing = f"Closes #22. {LAST}. Follows #12."

    assert edited(first, second, closing=102) == [(102, closing)]
    assert edited(first, closing, closing=102) == []
    assert edited(first, closing) == [(102, second)]


def test_a_pull_request_from_before_these_words_gets_them_and_is_known_by_the_old_ones() -> None:
    old = "Closes #22. Part of #7, the last part: closes #7. Follows #12."

    assert edited(old, closing=101) == [(101, f"Closes #22. {LAST}. Follows #12.")]
    assert edited(old) == [(101, f"Closes #22. {PLAIN}. Follows #12.")]
    assert closed(old) == []


@pytest.mark.parametrize(
    "body", ["Closes #7", "By hand", "", "\n\n", f"Text\n\n{PLAIN}.", "Part of #71."], ids=repr
)
def test_the_words_of_people_are_left_alone(body: str) -> None:
    assert edited(body) == []
    assert edited(body, closing=101) == []


def test_a_pull_request_that_is_not_open_keeps_its_words() -> None:
    snapshot, state = shown(PLAIN, state="merged")

    assert list(bodies_put_right(snapshot, state, IssueNumber(101))) == []


def closed(body: str = PLAIN, *, is_all_merged: bool = True, **ledger: Any) -> list[CloseIssue]:
    snapshot, state = shown(body, state="merged", **ledger)
    return list(issue_closed(snapshot, state, is_all_merged=is_all_merged))


def test_an_issue_that_no_merge_could_close_is_closed_once() -> None:
    merged, waiting = ({"pulls": [{"state": how}]} for how in ("merged", "open"))

    assert closed() == [CloseIssue(issue_id="I_7", number=IssueNumber(7))]
    assert closed(status="done", inputs=waiting) == closed()
    assert closed(status="running", inputs=merged) == closed()
    # Whoever reopens it afterwards wants it open.
    assert closed(status="done", inputs=merged) == []
    assert closed(is_all_merged=False) == []


def test_what_is_only_shown_is_not_waited_for_by_whoever_reopens_the_issue() -> None:
    seen = {"pulls": [{"number": 101, "state": "closed"}, {"number": 102, "state": "merged"}]}
    known = [{"number": 101, "is_shown_only": True}, {"number": 102}]

    assert closed(status="done", inputs=seen, pull_requests=known) == []
    assert closed(status="done", inputs=seen) == [CloseIssue(issue_id="I_7", number=IssueNumber(7))]


@pytest.mark.parametrize(
    ("state", "approved"), [("open", {101}), ("open", set()), ("closed", {101}), ("merged", {101})]
)
def test_what_people_are_done_with_is_closed_once(state: str, approved: set[int]) -> None:
    snapshot, run = shown(PLAIN, state=state)

    found = list(shown_only_closed(snapshot, run, {IssueNumber(each) for each in approved}))

    wanted = ClosePullRequest(pull_id=snapshot.pulls[0].node_id, number=IssueNumber(101))
    assert found == ([wanted] if state == "open" and approved else [])


def test_an_issue_that_was_reopened_after_the_merge_had_closed_it_stays_open() -> None:
    assert closed(f"{LAST}.") == []
