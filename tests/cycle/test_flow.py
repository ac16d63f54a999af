"""After every way in which an action can end there is a way on, or an end; never nothing."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from cogworks.cycle.context import CycleContext, Task, fold
from cogworks.cycle.events import Limits
from cogworks.cycle.feedback import Attempt, Trial
from cogworks.cycle.flow import Draft, next_step
from cogworks.cycle.results import SIDE, TERMINAL, Action, ActionResult, Candidate, Outcome, Payload, outcomes
from cogworks.cycle.watchdogs import alarms
from cogworks.repair.ladder import ORDER, Ladder, Rung
from tests.cycle.scripted import (
    BROKEN,
    DIAGNOSTICS,
    DONE,
    FOUND,
    GREEN,
    NONE_VALID,
    NOTHING_FOUND,
    any_result,
    committed,
    proposed,
    ran,
    rolled_back,
)
from tests.exhaustive import tasted

START = CycleContext(task=Task(goal="g"))
WAYS = [
    (action, outcome)
    for action in Action
    if action not in TERMINAL and action not in SIDE
    for outcome in outcomes(action)
]


def after(
    action: Action, result: ActionResult, context: CycleContext = START, **parameters: Any
) -> CycleContext:
    payload = Payload(action=action, goal="g", parameters=parameters)
    return fold(context, payload, result, finalists=2)


def then(context: CycleContext) -> tuple[Any, ...] | None:
    draft = next_step(context, generation_retries=1)
    if draft is None:
        return None
    return (draft.action, draft.saliency, draft.urgency, draft.surprise, draft.reason)


def known(**changes: Any) -> CycleContext:
    return START.model_copy(update=changes)


def on(*rungs: Rung) -> Ladder:
    return Ladder(climbed=rungs)


def climbing(*rungs: Rung, **changes: Any) -> CycleContext:
    return known(task=Task(goal="g", climbs=True), ladder=on(*rungs), **changes)


TESTED = known(action=Action.RUN_TESTS, tree="t")
VALIDATING = known(task=Task(goal="g", has_validators=True))
WANTING = known(task=Task(goal="g", wants_change=True))
WRITING = known(task=Task(goal="g", writes_tests=True))
GENERATE = (Action.GENERATE_PATCH, 0.8, 0.5, 0.0)
ANALYSE = (Action.ANALYZE_FAILURE, 0.85, 0.6, 0.0)
TWO_LANDMARKS = known(landmarks=("a", "b"))


@pytest.mark.parametrize(
    ("context", "wanted"),
    [
        (START, (Action.RUN_TESTS, 0.9, 0.5, 0.0, "initial_test_run")),
        (after(Action.RUN_TESTS, ran(tree="t")), (Action.FINALIZE, 1.0, 0.8, 0.0, "tests_pass")),
        (
            after(Action.RUN_TESTS, ran(tree="t"), VALIDATING),
            (Action.VALIDATE, 0.95, 0.75, 0.0, "tests_pass"),
        ),
        (after(Action.RUN_TESTS, ran(tree="t"), WANTING), (*GENERATE, "change_wanted")),
        (
            after(Action.RUN_TESTS, ran("t.py::a"), WRITING),
            (Action.WRITE_TESTS, 0.9, 0.55, 0.0, "tests_first"),
        ),
        (
            after(Action.RUN_TESTS, ran(collection_errors=("boom",)), WRITING),
            (Action.WRITE_TESTS, 0.9, 0.55, 0.0, "tests_first"),
        ),
        (after(Action.WRITE_TESTS, DONE, WRITING), (Action.RUN_TESTS, 0.9, 0.7, 0.0, "tests_written")),
        (after(Action.WRITE_TESTS, NONE_VALID, WRITING), (Action.WRITE_TESTS, 0.9, 0.55, 0.0, "refused")),
        (after(Action.WRITE_TESTS, BROKEN, WRITING), (Action.WRITE_TESTS, 0.8, 0.5, 0.5, "retry")),
        (
            after(Action.RUN_TESTS, ran("a", newly=("a",)), known(commits=1)),
            (Action.REVERT_PATCH, 0.95, 0.85, 0.3, "regression"),
        ),
        (after(Action.RUN_TESTS, ran("a", newly=("a",))), (*ANALYSE, "tests_fail")),
        (after(Action.RUN_TESTS, ran("a")), (*ANALYSE, "tests_fail")),
        (
            after(Action.RUN_TESTS, ran(collection_errors=("boom",))),
            (Action.ANALYZE_FAILURE, 0.85, 0.9, 0.3, "not_collected"),
        ),
        (after(Action.RUN_TESTS, BROKEN), (Action.RUN_TESTS, 0.8, 0.5, 0.5, "retry")),
        (after(Action.ANALYZE_FAILURE, FOUND), (*GENERATE, "landmark")),
        (after(Action.ANALYZE_FAILURE, NOTHING_FOUND), (*ANALYSE, "widen")),
        (
            after(Action.GENERATE_PATCH, proposed("1")),
            (Action.APPLY_PATCH, 0.85, 0.6, 0.0, "proposed"),
        ),
        (after(Action.GENERATE_PATCH, NONE_VALID), (*GENERATE, "none_valid")),
        (after(Action.GENERATE_PATCH, NONE_VALID, known(misses=1)), (*ANALYSE, "replan")),
        (
            after(Action.GENERATE_PATCH, NONE_VALID, known(misses=1, ladder=on(Rung.PLAN_AGAIN))),
            (*ANALYSE, "recombine"),
        ),
        (
            after(Action.GENERATE_PATCH, NONE_VALID, known(misses=1, alternatives=1)),
            (*ANALYSE, "next_branch"),
        ),
        (
            after(Action.GENERATE_PATCH, NONE_VALID, climbing(Rung.PLAN_AGAIN, Rung.COMBINE_AGAIN, misses=1)),
            (*ANALYSE, "widen"),
        ),
        (after(Action.APPLY_PATCH, rolled_back("1"), climbing()), (*GENERATE, "rolled_back")),
        (after(Action.APPLY_PATCH, rolled_back("1"), climbing(Rung.PROPOSE_AGAIN)), (*ANALYSE, "replan")),
        (
            after(Action.APPLY_PATCH, rolled_back("1"), climbing(Rung.PROPOSE_AGAIN, alternatives=2)),
            (*ANALYSE, "next_branch"),
        ),
        (
            after(Action.ANALYZE_FAILURE, NOTHING_FOUND, climbing(), mode="replan"),
            (*ANALYSE, "recombine"),
        ),
        (after(Action.APPLY_PATCH, committed("t"), TWO_LANDMARKS), (*GENERATE, "next_landmark")),
        (
            after(Action.APPLY_PATCH, committed("t"), known(landmarks=("a",))),
            (Action.RUN_TESTS, 0.9, 0.7, 0.0, "verify_patch"),
        ),
        (
            after(Action.APPLY_PATCH, rolled_back("1"), known(candidates=proposed("1", "2").candidates)),
            (Action.APPLY_PATCH, 0.85, 0.6, 0.0, "next_finalist"),
        ),
        (after(Action.APPLY_PATCH, rolled_back("1")), (*GENERATE, "rolled_back")),
        (after(Action.REVERT_PATCH, DONE), (*ANALYSE, "regression")),
        (
            after(Action.VALIDATE, GREEN, known(task=VALIDATING.task, tree="t", passed_tree="t")),
            (Action.FINALIZE, 1.0, 0.8, 0.0, "tests_pass"),
        ),
        (
            after(Action.VALIDATE, GREEN, known(task=VALIDATING.task, tree="t", passed_tree="s")),
            (Action.RUN_TESTS, 0.9, 0.7, 0.0, "validated"),
        ),
        (after(Action.VALIDATE, DIAGNOSTICS), (*ANALYSE, "diagnostics")),
    ],
    ids=lambda value: "-".join(map(str, value[:1] + value[-1:])) if isinstance(value, tuple) else None,
)
def test_what_comes_next(context: CycleContext, wanted: Sequence[Any]) -> None:
    assert then(context) == wanted


@pytest.mark.parametrize(("action", "outcome"), WAYS, ids=[f"{a}-{o}" for a, o in WAYS])
def test_no_state_is_a_dead_end(action: Action, outcome: Outcome) -> None:
    """Over every combination of what the flow looks at; a quick run takes every fifth, others from day to day."""
    attempt = Attempt(fingerprint="x", trial=Trial(category="k", problems=("p",)))
    candidate = Candidate(id="1", change={})
    choices: dict[str, Sequence[Any]] = {
        "task": [
            Task(goal="g", wants_change=a, has_validators=b, writes_tests=c)
            for a, b, c in itertools.product([False, True], repeat=3)
        ]
        + [Task(goal="g", has_validators=True, climbs=True)],
        "alternatives": [0, 1],
        "commits": [0, 1],
        "landmarks": [(), ("a", "b")],
        "candidates": [(), (candidate, candidate)],
        "misses": [0, 1, 2],
        "ladder": [on(), on(Rung.PLAN_AGAIN), on(*ORDER)],
        "blanks": [0, 1],
        "refused_tests": [0, 1],
        "errors_in_row": [0, 1],
        "attempts": [(), (attempt,)],
    }
    result = any_result(action, outcome, 1)
    combinations = itertools.product(*choices.values())
    for values in tasted(combinations, days=7):
        context = known(**dict(zip(choices, values, strict=True)))
        found = after(action, result, context)

        is_going_on = next_step(found, generation_retries=1) is not None
        assert is_going_on or alarms(found, Limits())


@pytest.mark.parametrize("action", sorted(SIDE))
@pytest.mark.parametrize("outcome", [Outcome.DONE, Outcome.ERROR])
def test_an_aside_changes_nothing_of_the_flow(action: Action, outcome: Outcome) -> None:
    before = after(Action.ANALYZE_FAILURE, FOUND)

    found = after(action, ActionResult(outcome=outcome), before)

    assert then(found) == then(before)
    assert (found.resume_action, found.last_action) == (Action.ANALYZE_FAILURE, action)


def test_a_retry_is_of_the_same_thing() -> None:
    analysing = after(Action.ANALYZE_FAILURE, BROKEN, mode="replan")

    assert next_step(analysing, generation_retries=1) == Draft(
        Action.ANALYZE_FAILURE, 0.8, 0.5, 0.5, "retry", {"mode": "replan"}
    )
    assert next_step(after(Action.ANALYZE_FAILURE, BROKEN, analysing), generation_retries=1) is None


def test_tests_that_are_sent_back_twice_end_the_run_before_anybody_is_asked_for_code() -> None:
    once = after(Action.WRITE_TESTS, NONE_VALID, WRITING)
    twice = after(Action.WRITE_TESTS, NONE_VALID, once)
    again = next_step(once, generation_retries=1)

    assert again is not None
    assert again.parameters == {"reasons": ["not a diff"]}
    assert next_step(twice, generation_retries=1) is None
    assert [str(alarm) for alarm in alarms(twice, Limits())] == ["no_valid_tests: not a diff"]


@pytest.mark.parametrize(
    "tests",
    [ran(), ran("t.py::a"), ran("t.py::a", newly=("t.py::a",)), ran(collection_errors=("boom",))],
    ids=["pass", "fail", "regressed", "uncollected"],
)
def test_nothing_is_generated_before_tests_are_handed_over(tests: ActionResult) -> None:
    found = next_step(after(Action.RUN_TESTS, tests, WRITING), generation_retries=1)

    assert found is not None
    assert found.action is Action.WRITE_TESTS


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_test_that_cannot_be_collected_lets_no_run_end(is_changed: bool) -> None:
    written = after(Action.WRITE_TESTS, DONE, WRITING).model_copy(update={"commits": int(is_changed)})

    found = next_step(
        after(Action.RUN_TESTS, ran(collection_errors=("tests/test_a.py: cannot import name 'b'",)), written),
        generation_retries=1,
    )

    assert found is not None
    assert found.action is Action.ANALYZE_FAILURE


def test_the_wider_search_and_the_evidence_are_in_the_payload() -> None:
    blank = next_step(after(Action.ANALYZE_FAILURE, NOTHING_FOUND), generation_retries=1)
    reverted = after(Action.REVERT_PATCH, DONE, known(failing=("t.py::a",)))
    regression = next_step(reverted, generation_retries=1)
    diagnosed = next_step(after(Action.VALIDATE, DIAGNOSTICS), generation_retries=1)

    assert blank is not None
    assert regression is not None
    assert diagnosed is not None
    assert blank.parameters == {"widen": True}
    assert regression.parameters == {"evidence": "regression", "failing": ["t.py::a"]}
    assert diagnosed.parameters == {"evidence": "diagnostics", "reasons": ["x.py:1: bad"]}


def test_each_rung_is_climbed_once_and_what_is_kept_gives_none_back() -> None:
    context, seen = climbing(), list[str]()
    while (
        step := next_step(after(Action.APPLY_PATCH, rolled_back("1"), context), generation_retries=0)
    ) is not None:
        context = after(Action.APPLY_PATCH, rolled_back("1"), context)
        if step.action is Action.GENERATE_PATCH:
            context = after(Action.GENERATE_PATCH, proposed("1"), context, **step.parameters)
        else:
            context = after(Action.ANALYZE_FAILURE, FOUND, context, **step.parameters)
            context = after(Action.GENERATE_PATCH, proposed("1"), context)
        seen.append(str(step.parameters.get("rung") or step.parameters["mode"]))
        kept = after(Action.APPLY_PATCH, committed("t"), context)
        assert kept.ladder == context.ladder

    assert seen == ["repropose", "replan", "recombine", "widen"]
    ended = after(Action.APPLY_PATCH, rolled_back("1"), context)
    assert [str(alarm) for alarm in alarms(ended, Limits(generation_retries=0))] == ["given_up: 1 is no good"]
