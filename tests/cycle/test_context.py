"""The same context and the same result give the same context, and nothing changes behind anybody's back."""

import pytest
from pydantic import ValidationError

from cogworks.canonical import canonical
from cogworks.cycle.context import CycleContext, Task, fold
from cogworks.cycle.results import Action, ActionResult, Payload
from cogworks.repair.ladder import Rung
from tests.cycle.scripted import BROKEN, DONE, FOUND, committed, proposed, ran, rolled_back

START = CycleContext(task=Task(goal="g"))


def after(context: CycleContext, action: Action, result: ActionResult, **parameters: object) -> CycleContext:
    payload = Payload(action=action, goal="g", parameters=parameters)
    return fold(context, payload, result, finalists=2)


def test_the_same_result_gives_the_same_document() -> None:
    before = canonical(START.model_dump(mode="json"))

    once = after(START, Action.RUN_TESTS, ran("t.py::a", tree="t"))
    twice = after(START, Action.RUN_TESTS, ran("t.py::a", tree="t"))

    assert canonical(once.model_dump(mode="json")) == canonical(twice.model_dump(mode="json"))
    assert canonical(START.model_dump(mode="json")) == before


def test_a_context_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        START.cycle = 7  # type: ignore[misc]  # on purpose: what is frozen is written to


def test_a_run_that_passes_counts_for_its_tree_alone() -> None:
    passed = after(START, Action.RUN_TESTS, ran(tree="t1"))
    changed = after(passed, Action.APPLY_PATCH, committed("t2"))

    assert (passed.tests_passing, changed.tests_passing) == (True, False)
    assert (changed.patches, changed.commits, changed.test_runs) == (1, 1, 1)


def test_a_patch_that_is_rolled_back_is_remembered_until_one_is_kept() -> None:
    tried = after(
        after(START, Action.GENERATE_PATCH, proposed("1", "2", "3")), Action.APPLY_PATCH, rolled_back("1")
    )
    kept = after(tried, Action.APPLY_PATCH, committed("t"))

    assert [candidate.id for candidate in tried.candidates] == ["2"]
    assert [attempt.fingerprint for attempt in tried.attempts] == ["1"]
    assert (tried.reasons, tried.patches, tried.commits) == (("1 is no good",), 1, 0)
    assert (kept.attempts, kept.candidates, kept.reasons, kept.patches) == ((), (), (), 2)


def test_a_patch_that_broke_half_way_is_still_there_to_be_tried_again() -> None:
    found = after(after(START, Action.GENERATE_PATCH, proposed("1")), Action.APPLY_PATCH, BROKEN)

    assert [candidate.id for candidate in found.candidates] == ["1"]
    assert (found.errors_in_row, found.error) == (1, "too slow")


def test_an_analysis_in_another_mode_begins_the_requests_anew() -> None:
    blocked = START.model_copy(update={"misses": 2, "blanks": 1})

    found = after(blocked, Action.ANALYZE_FAILURE, FOUND, mode="replan")

    assert (found.misses, found.ladder.climbed, found.blanks) == (0, (Rung.PLAN_AGAIN,), 0)


def test_commits_that_were_undone_count_no_more() -> None:
    kept = START.model_copy(update={"commits": 3})
    undone = FOUND.model_copy(update={"taken_back": 2})

    assert after(kept, Action.ANALYZE_FAILURE, undone).commits == 1
    assert after(kept, Action.REVERT_PATCH, DONE).commits == 2
    assert after(kept, Action.REVERT_PATCH, DONE.model_copy(update={"taken_back": 2})).commits == 1


def test_a_climb_remembers_the_reasons_of_every_attempt() -> None:
    climbing = CycleContext(task=Task(goal="g", climbs=True), reasons=("first",))

    assert after(climbing, Action.APPLY_PATCH, rolled_back("1")).reasons == ("first", "1 is no good")
    assert after(START, Action.APPLY_PATCH, rolled_back("1")).reasons == ("1 is no good",)
