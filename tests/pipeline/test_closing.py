"""Which pull request closes the issue: the one that is merged last, if it is known which that is."""

import pytest

from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import PartIssue, RunState, SubItem
from cogworks.pipeline.unmerged import closing_pull, end_of, is_all_merged, is_all_parts_closed
from cogworks.vocabulary import IssueNumber, SubItemKey
from tests.pipeline.runs import GRAPH, MERGED_SPEC, PLAN, facts, finished, lease, new_run, pull, with_pull

INDEPENDENT = (PLAN[0], PLAN[1].model_copy(update={"depends_on": ()}))
DONE = ("spec", "plan", "code@A", "review@A", "ship@A", "code@B", "review@B", "ship@B")


def run(*done: str, plan: tuple[SubItem, ...] = PLAN) -> RunState:
    """A run after these visits, with the pull requests that they opened."""
    state = finished(new_run(), *done)
    if state.sub_items is not None:
        state = state.model_copy(update={"sub_items": plan})
    return state


def last(state: RunState, *pulls: PullFacts) -> int | None:
    seen = facts(*pulls)
    found = closing_pull(Standing(state, seen, GRAPH))
    return found.number if found else None


def test_of_stacked_pull_requests_the_one_on_top_is_the_last() -> None:
    assert last(run(*DONE), MERGED_SPEC, pull(41), pull(42)) == 42


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("open", "open", None), ("merged", "open", 42), ("open", "merged", 41), ("merged", "merged", None)],
)
def test_of_pull_requests_beside_each_other_only_one_that_is_left_is_the_last(
    first: str, second: str, expected: int | None
) -> None:
    assert last(run(*DONE, plan=INDEPENDENT), MERGED_SPEC, pull(41, first), pull(42, second)) == expected


def test_nothing_is_the_last_while_work_is_left() -> None:
    assert last(run("spec", "plan", "code@A", "review@A", "ship@A"), MERGED_SPEC, pull(41)) is None
    assert last(run("spec"), pull(31)) is None
    again = run(*DONE)
    again = again.model_copy(update={"leases": (lease(again, "ship@B"),)})
    assert last(again, MERGED_SPEC, pull(41), pull(42)) is None


def test_a_rejected_pull_request_leaves_none_that_completes_the_item() -> None:
    assert last(run(*DONE), MERGED_SPEC, pull(41, "closed"), pull(42)) is None


def test_a_specification_that_is_approved_and_not_merged_is_merged_first_only_if_it_lies_below() -> None:
    approved, bases = pull(31, approved_by="ann"), {"swi-1": "cogworks/7/spec", "swi-2": "cogworks/7/swi-1"}
    beside = run(*DONE)
    pulls = tuple(
        known.model_copy(update={"base": bases.get(known.slug, "main")}) for known in beside.pull_requests
    )
    above = beside.model_copy(update={"pull_requests": pulls})

    assert last(above, approved, pull(41), pull(42)) == 42
    assert last(beside, approved, pull(41), pull(42)) is None


def test_a_run_ended_with_its_pull_requests_merged_or_waiting() -> None:
    state = run(*DONE).model_copy(update={"status": "done"})
    waiting, merged = (facts(MERGED_SPEC, pull(41, how), pull(42, how)).pulls for how in ("open", "merged"))

    assert [is_all_merged(state, pulls) for pulls in (waiting, merged)] == [False, True]
    assert not is_all_merged(state.model_copy(update={"status": "running"}), merged)
    assert end_of(state, waiting) == "every sub-work-item has a reviewed pull request"
    assert end_of(state, merged) == "every pull request is merged"
    undivided = state.model_copy(update={"sub_items": None})
    assert end_of(undivided, waiting) == "there is a reviewed pull request"


def test_a_run_that_divided_its_issue_ends_with_the_last_of_the_parts() -> None:
    part = PartIssue(key=SubItemKey("A"), title="a", number=IssueNumber(51), node_id="I_51")
    state = run(*DONE).model_copy(update={"status": "done", "parts": (part,), "pull_requests": ()})

    assert end_of(state, {}, (part.number,)) == "divided into #51; this issue is closed with the last of them"
    assert end_of(state, {}) == "every part of this issue is closed"
    assert [is_all_parts_closed(state, left) for left in ((part.number,), ())] == [False, True]
    assert not is_all_parts_closed(state.model_copy(update={"status": "running"}), ())
    assert not is_all_parts_closed(state.model_copy(update={"parts": ()}), ())


def test_a_pull_request_that_no_node_ends_with_is_never_the_last() -> None:
    state = with_pull(run(*DONE), "notes", 43)

    assert last(state, MERGED_SPEC, pull(41), pull(42), pull(43)) is None
