"""What comes after what: for every way an action can end, the action that is proposed next. Pure.

No state is a dead end: wherever this table proposes nothing, `watchdogs` ends the run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cogworks.cycle.context import CycleContext
from cogworks.cycle.results import Action, Outcome
from cogworks.repair.ladder import Rung

NEXT_BRANCH = "next_branch"
"""The mode of an analysis that only turns to the next way that is open."""
_ANEW = (Rung.PLAN_AGAIN, Rung.COMBINE_AGAIN)
TEST_WRITINGS = 2
"""How often tests are asked for before the run ends without any."""


@dataclass(frozen=True)
class Draft:
    """A proposal before it has a slot."""

    action: Action
    saliency: float
    urgency: float = 0.0
    surprise: float = 0.0
    reason: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


def next_step(context: CycleContext, *, generation_retries: int) -> Draft | None:
    """What the plan is now; None where there is no way on."""
    if context.action is None:
        return Draft(Action.RUN_TESTS, 0.9, 0.5, reason="initial_test_run")
    if context.outcome is Outcome.ERROR:
        # A tool that broke gets one more chance; a second failure in a row is for the watchdogs.
        retry = Draft(context.action, 0.8, 0.5, 0.5, reason="retry", parameters=context.parameters)
        return retry if context.errors_in_row < 2 else None
    rule = _RULES.get(context.action)
    return rule(context, generation_retries) if rule else None


def _after_tests(context: CycleContext, retries: int) -> Draft | None:
    del retries
    wants_tests = context.task.writes_tests and not context.are_tests_written
    if wants_tests:
        # Nobody is asked for a change before there are tests for it, whatever state the suite was found in.
        return _write_tests("tests_first")
    match context.outcome:
        case Outcome.UNCOLLECTED:
            focus = {"focus": "traceback"}
            return Draft(Action.ANALYZE_FAILURE, 0.85, 0.9, 0.3, reason="not_collected", parameters=focus)
        case Outcome.REGRESSED if context.commits:
            return Draft(Action.REVERT_PATCH, 0.95, 0.85, 0.3, reason="regression")
        case Outcome.PASSED:
            return _after_success(context)
        case _:
            return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason="tests_fail")


def _after_success(context: CycleContext) -> Draft:
    if context.task.wants_change and not context.commits:
        return _generate(context, "change_wanted")
    if context.task.has_validators and context.validated_tree != context.tree:
        return Draft(Action.VALIDATE, 0.95, 0.75, reason="tests_pass")
    return Draft(Action.FINALIZE, 1.0, 0.8, reason="tests_pass")


def _after_test_writing(context: CycleContext, retries: int) -> Draft | None:
    del retries
    if context.outcome is not Outcome.NONE_VALID:
        return Draft(Action.RUN_TESTS, 0.9, 0.7, reason="tests_written")
    return _write_tests("refused", context.reasons) if context.refused_tests < TEST_WRITINGS else None


def _after_analysis(context: CycleContext, retries: int) -> Draft | None:
    del retries
    if context.outcome is Outcome.FOUND:
        return _generate(context, "landmark")
    if context.task.climbs and context.parameters.get("mode"):
        return next_way(context)
    if context.blanks == 1:
        wider = {**context.parameters, "widen": True}
        return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason="widen", parameters=wider)
    return None


def _after_generation(context: CycleContext, retries: int) -> Draft | None:
    if context.outcome is Outcome.DISPUTED:
        return _write_tests("disputed", context.reasons)
    if context.candidates:
        return _apply(context, "proposed")
    if context.misses <= retries:
        return _generate(context, "none_valid")
    return next_way(context)


def next_way(context: CycleContext) -> Draft | None:
    """How the failure is approached otherwise: a way that is open, else the next rung; None when all were tried."""
    parameters: dict[str, Any] = {"reasons": list(context.reasons)}
    if context.alternatives:
        parameters["mode"] = NEXT_BRANCH
        return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason=NEXT_BRANCH, parameters=parameters)
    rung = context.ladder.next_rung((*_ANEW, Rung.WIDEN) if context.task.climbs else _ANEW)
    if rung is Rung.GIVE_UP:
        return None
    parameters["mode"] = rung.value
    return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason=rung.value, parameters=parameters)


def _after_transaction(context: CycleContext, retries: int) -> Draft | None:
    del retries
    if context.outcome is Outcome.COMMITTED:
        if context.landmarks:
            return _generate(context, "next_landmark")
        return Draft(Action.RUN_TESTS, 0.9, 0.7, reason="verify_patch")
    if context.candidates:
        return _apply(context, "next_finalist")
    if not context.task.climbs:
        return _generate(context, "rolled_back")
    if context.ladder.next_rung((Rung.PROPOSE_AGAIN,)) is Rung.GIVE_UP:
        return next_way(context)
    again = _generate(context, "rolled_back")
    return replace(again, parameters={**again.parameters, "rung": Rung.PROPOSE_AGAIN.value})


def _after_revert(context: CycleContext, retries: int) -> Draft | None:
    del retries
    evidence = {"evidence": "regression", "failing": list(context.failing)}
    return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason="regression", parameters=evidence)


def _after_validation(context: CycleContext, retries: int) -> Draft | None:
    del retries
    if context.outcome is Outcome.DIAGNOSTICS:
        parameters = {"evidence": "diagnostics", "reasons": list(context.reasons)}
        return Draft(Action.ANALYZE_FAILURE, 0.85, 0.6, reason="diagnostics", parameters=parameters)
    if not context.tests_passing:
        return Draft(Action.RUN_TESTS, 0.9, 0.7, reason="validated")
    return _after_success(context)


def _write_tests(reason: str, reasons: Sequence[str] = ()) -> Draft:
    parameters = {"reasons": list(reasons)} if reasons else {}
    return Draft(Action.WRITE_TESTS, 0.9, 0.55, reason=reason, parameters=parameters)


def _generate(context: CycleContext, reason: str) -> Draft:
    parameters = {"landmark": next(iter(context.landmarks), ""), "reasons": list(context.reasons)}
    return Draft(Action.GENERATE_PATCH, 0.8, 0.5, reason=reason, parameters=parameters)


def _apply(context: CycleContext, reason: str) -> Draft:
    candidate = context.candidates[0]
    parameters = {"candidate": candidate.id, "change": candidate.change}
    return Draft(Action.APPLY_PATCH, 0.85, 0.6, reason=reason, parameters=parameters)


_RULES: Mapping[Action, Callable[[CycleContext, int], Draft | None]] = {
    Action.RUN_TESTS: _after_tests,
    Action.WRITE_TESTS: _after_test_writing,
    Action.ANALYZE_FAILURE: _after_analysis,
    Action.GENERATE_PATCH: _after_generation,
    Action.APPLY_PATCH: _after_transaction,
    Action.REVERT_PATCH: _after_revert,
    Action.VALIDATE: _after_validation,
}
