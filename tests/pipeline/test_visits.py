"""Folding visits that no longer count: nothing that is asked of a run changes, and its state stops growing."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.ledger.record import state_text
from cogworks.pipeline import visits as visits_module
from cogworks.pipeline.lane_choice import MovedUp
from cogworks.pipeline.limits import by_node, by_sub_item
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import RunState, first_visit_key, visit_key
from cogworks.pipeline.visits import KEPT_DISCARDED, MAX_ATTEMPTS, FoldedVisits
from tests.pipeline.runs import GRAPH, at, facts, finished, new_run, visit

PLACES = ["code@A", "code@B", "review@A", "review@B"]
DISCARD = st.sets(st.sampled_from(PLACES), min_size=1).map(lambda names: ("discard", frozenset(names)))
ENDED = st.tuples(
    st.sampled_from(PLACES),
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["succeeded", "failed"]),
            "has_output": st.booleans(),
            "attempt": st.integers(1, MAX_ATTEMPTS),
            "duration_s": st.integers(0, 900).map(float),
        }
    ),
)
ROUNDS = st.lists(st.one_of(DISCARD, ENDED), max_size=60)


def planned() -> RunState:
    return finished(new_run(), "spec", "plan")


def walked(rounds: list[Any], *, kept: int, moved_up_after: int = 0) -> RunState:
    """A run after these rounds, of which so many discarded visits are kept whole."""
    state = planned()
    if moved_up_after:
        state = state.model_copy(update={"moved_up": MovedUp(why="more files", after=moved_up_after)})
    with patch.object(visits_module, "KEPT_DISCARDED", kept):
        for what, detail in rounds:
            if what == "discard":
                state = state.discarding(frozenset(map(at, detail)), frozenset())
            else:
                state = state.recorded(visit(state, what, **detail))
    return state


def answers(state: RunState) -> dict[str, Any]:
    """What others ask of a run's visits."""
    instances = [at(name) for name in ("spec", "plan", *PLACES)]
    return {
        "spent": state.spent,
        "revision": state.revision,
        "next": state.next_index(),
        "finished": state.finished(),
        "ordinals": [state.ordinal_of_next(each) for each in instances],
        "sums": [state.sum_of(each) for each in instances],
        "latest": [state.latest(each) for each in instances],
        "newest": [next((v for v in reversed(state.visits) if v.instance == i), None) for i in instances],
        "to edit": [
            next(
                (
                    v
                    for v in reversed(state.visits)
                    if v.instance == i and v.has_output and v.status == "succeeded"
                ),
                None,
            )
            for i in instances
        ],
        "by node": by_node(state),
        "by sub-item": by_sub_item(state),
        "first": first_visit_key(state),
        "counting": [v for v in state.visits if not v.is_discarded],
        "position": Standing(state, facts(), GRAPH).position,
    }


@given(rounds=ROUNDS)
def test_a_folded_run_gives_the_answers_of_one_that_kept_everything(rounds: list[Any]) -> None:
    assert answers(walked(rounds, kept=0)) == answers(walked(rounds, kept=10_000))


@given(rounds=ROUNDS, after=st.integers(1, 30))
def test_the_newest_output_of_a_lane_that_was_left_is_kept(rounds: list[Any], after: int) -> None:
    def newest_left(state: RunState) -> int | None:
        left = (v.index for v in reversed(state.visits) if v.has_output and v.index <= after)
        return next(left, None)

    folded, whole = (
        walked(rounds, kept=0, moved_up_after=after),
        walked(rounds, kept=10_000, moved_up_after=after),
    )
    assert newest_left(folded) == newest_left(whole)


@given(rounds=ROUNDS)
def test_a_visit_whose_runners_all_died_is_never_folded_as_it_may_have_no_folder(rounds: list[Any]) -> None:
    state = walked(rounds, kept=0)

    given_up = [
        v for v in walked(rounds, kept=10_000).visits if v.status == "failed" and v.attempt >= MAX_ATTEMPTS
    ]
    assert [v for v in state.visits if v in given_up] == given_up


def rounds_of_rework(count: int) -> RunState:
    state = planned()
    for _ in range(count):
        state = state.recorded(visit(state, "code@A")).recorded(visit(state, "review@A"))
        state = state.discarding(frozenset({at("code@A"), at("review@A")}), frozenset())
    return state


def test_people_find_the_newest_discarded_visits_whole_and_older_ones_as_a_sum() -> None:
    state = rounds_of_rework(30)

    discarded = [each for each in state.visits if each.is_discarded]
    assert len(discarded) == KEPT_DISCARDED + len(["the newest of code@A", "the newest of review@A"])
    assert {each.instance for each in state.folded} == {at("code@A"), at("review@A")}
    assert state.ended == 2 + 60


def test_a_state_grows_by_a_number_for_each_round_behind_it() -> None:
    thirty, ninety = (len(state_text(rounds_of_rework(count))) for count in (30, 90))

    per_visit = (ninety - thirty) / 120
    whole = len(visit(planned(), "code@A").model_dump_json())
    assert per_visit < 10 < whole / 20


def test_a_state_from_before_folding_is_read_and_folded_by_its_next_visit() -> None:
    again: list[tuple[str, dict[str, object] | set[str]]] = [("code@A", {}), ("discard", {"code@A"})]
    long = walked(again * 30, kept=10_000)
    text = long.model_dump_json(exclude={"folded"})

    state = RunState.model_validate_json(text)
    after = state.recorded(visit(state, "code@A"))

    assert state.folded == ()
    assert [len(each.indices) for each in after.folded] == [30 - KEPT_DISCARDED]
    assert after.spent.cost_usd == pytest.approx(state.spent.cost_usd + 0.1)


def test_folded_visits_keep_their_keys_and_folders() -> None:
    state = rounds_of_rework(30)

    oldest = next(each for each in state.folded if each.node == "code")
    assert isinstance(oldest, FoldedVisits)
    assert state.folder(oldest.indices[0], oldest.instance) == "visits/0003-code@21"
    known = {visit_key(state, instance, index) for index, instance in state.finished()}
    assert len(known) == state.ended
