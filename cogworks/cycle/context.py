"""What the coding cycle knows, and how the result of an action changes it: pure, the same for the same results."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from cogworks.canonical import canonical, sha256
from cogworks.cycle.feedback import Attempt
from cogworks.cycle.results import SIDE, Action, ActionResult, Candidate, Outcome, Payload
from cogworks.repair.ladder import ORDER, Ladder, Rung
from cogworks.vocabulary import Value

MAX_SIGNATURES = 3
MAX_REASONS = 12
RUNGS = frozenset(rung.value for rung in ORDER)


class Task(Value):
    """What stays the same over a run."""

    goal: str
    wants_change: bool = False
    """Passing tests are not enough: something has to be committed."""
    has_validators: bool = False
    writes_tests: bool = False
    """Tests are written by an action of their own, before any change."""
    climbs: bool = False
    """Changes that keep failing have the failure analysed anew, rung by rung; otherwise further ones are asked for as
    long as patches are left."""


class CycleContext(Value):
    """Everything that generators and watchdogs see."""

    task: Task
    cycle: int = 0
    """The last finished cycle."""
    action: Action | None = None
    """Where the flow stands: the last action that is not an aside."""
    outcome: Outcome | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    """What that action was given."""
    last_action: Action | None = None
    """Asides included."""
    resume_action: Action | None = None
    """After an aside: the action from which the flow goes on."""
    patches: int = 0
    """Transactions started."""
    commits: int = 0
    """Transactions kept and not reverted."""
    test_runs: int = 0
    tree: str = ""
    passed_tree: str | None = None
    """The tree on which the last full run of the tests passed."""
    validated_tree: str | None = None
    are_tests_written: bool = False
    refused_tests: int = 0
    """How often the gate sent tests back to their writer."""
    failing: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    """Digests of what failed in the latest runs of the tests; emptied by a run that passes."""
    landmarks: tuple[str, ...] = ()
    """Places left to work on; the first is the current one."""
    candidates: tuple[Candidate, ...] = ()
    """Changes left to try."""
    reasons: tuple[str, ...] = ()
    """What the next request for a change has to say."""
    attempts: tuple[Attempt, ...] = ()
    """Changes that were rolled back since the last one that was kept."""
    misses: int = 0
    """Requests in a row that gave nothing valid."""
    ladder: Ladder = Ladder()
    """What was tried because changes kept failing."""
    alternatives: int = 0
    """Ways besides the current landmark that are open without another analysis."""
    blanks: int = 0
    """Analyses in a row that found nothing."""
    errors_in_row: int = 0
    idle_in_row: int = 0
    error: str = ""
    """What the last action that broke said."""
    halt: str = ""
    """Why a person has to decide."""

    @property
    def tests_passing(self) -> bool:
        """The last full run passed, and on the tree as it is now."""
        return self.passed_tree is not None and self.passed_tree == self.tree


def fold(context: CycleContext, payload: Payload, result: ActionResult, *, finalists: int) -> CycleContext:
    """The context after an action.

    Args:
        finalists: how many of the changes of one request are tried.
    """
    action, is_error = payload.action, result.outcome is Outcome.ERROR
    update: dict[str, Any] = {
        "cycle": context.cycle + 1,
        "last_action": action,
        "resume_action": context.action if action in SIDE else None,
        "errors_in_row": context.errors_in_row + 1 if is_error else 0,
        "idle_in_row": context.idle_in_row + 1 if action is Action.IDLE else 0,
        "error": result.summary if is_error else "",
        "halt": context.halt or result.halt,
        "tree": context.tree if result.tree is None else result.tree,
        "commits": max(0, context.commits - result.taken_back),
    }
    if action not in SIDE:
        update.update(action=action, outcome=result.outcome, parameters=payload.parameters)
        update.update(_own(context, payload, result, update["tree"], finalists))
    return context.model_copy(update=update)


def _own(
    context: CycleContext, payload: Payload, result: ActionResult, tree: str, finalists: int
) -> Mapping[str, Any]:
    match payload.action:
        case Action.RUN_TESTS:
            return _after_tests(context, result, tree)
        case Action.WRITE_TESTS:
            return _after_test_writing(context, result)
        case Action.ANALYZE_FAILURE:
            return _after_analysis(context, payload, result)
        case Action.GENERATE_PATCH:
            return _after_generation(context, payload, result, finalists)
        case Action.APPLY_PATCH:
            return _after_transaction(context, result)
        case Action.REVERT_PATCH if result.is_success:
            return {"commits": max(0, context.commits - max(1, result.taken_back))}
        case Action.VALIDATE:
            return {
                "validated_tree": tree if result.outcome is Outcome.GREEN else None,
                "reasons": result.reasons,
            }
        case _:
            return {}


def _after_tests(context: CycleContext, result: ActionResult, tree: str) -> Mapping[str, Any]:
    update: dict[str, Any] = {"test_runs": context.test_runs + 1, "passed_tree": None}
    if result.outcome is Outcome.ERROR:
        return update
    facts = result.tests
    update["failing"] = facts.failing if facts else ()
    if result.outcome is Outcome.PASSED:
        return {**update, "passed_tree": tree, "signatures": ()}
    failed = [list(facts.failing), list(facts.collection_errors)] if facts else []
    signature = sha256(canonical(failed))
    return {
        **update,
        "signatures": (*context.signatures, signature)[-MAX_SIGNATURES:],
        "reasons": result.reasons,
    }


def _after_test_writing(context: CycleContext, result: ActionResult) -> Mapping[str, Any]:
    if result.outcome is Outcome.NONE_VALID:
        return {"refused_tests": context.refused_tests + 1, "reasons": result.reasons}
    return {"are_tests_written": True, "reasons": ()} if result.is_success else {}


def _after_analysis(context: CycleContext, payload: Payload, result: ActionResult) -> Mapping[str, Any]:
    if result.outcome is Outcome.ERROR:
        return {}
    mode = payload.parameters.get("mode", "")
    climbed: dict[str, Any] = {"ladder": _climbed(context, mode)} if mode in RUNGS else {}
    if result.outcome is Outcome.NOTHING_FOUND:
        return {**climbed, "blanks": context.blanks + 1}
    update = {**climbed, "landmarks": result.landmarks, "alternatives": result.alternatives, "blanks": 0}
    if mode:
        # Another approach: what failed before says nothing about it.
        update.update(misses=0, attempts=())
    return {**update, "reasons": result.reasons} if result.reasons else update


def _after_generation(
    context: CycleContext, payload: Payload, result: ActionResult, finalists: int
) -> Mapping[str, Any]:
    rung = payload.parameters.get("rung", "")
    climbed: dict[str, Any] = {"ladder": _climbed(context, rung)} if rung in RUNGS else {}
    if result.outcome is Outcome.PROPOSED:
        return {**climbed, "candidates": result.candidates[:finalists], "misses": 0}
    if result.outcome is Outcome.NONE_VALID:
        failed = {"candidates": (), "misses": context.misses + 1, "reasons": _reasons_of(context, result)}
        return {**climbed, **failed}
    if result.outcome is Outcome.DISPUTED:
        return {**climbed, "candidates": (), "reasons": result.reasons}
    return {}


def _climbed(context: CycleContext, rung: str) -> Ladder:
    return context.ladder.after(Rung(rung))


def _reasons_of(context: CycleContext, result: ActionResult) -> tuple[str, ...]:
    """Why changes failed: all of a climb, the latest of what is asked for again and again."""
    before = context.reasons if context.task.climbs else ()
    return tuple(dict.fromkeys((*before, *result.reasons)))[-MAX_REASONS:]


def _after_transaction(context: CycleContext, result: ActionResult) -> Mapping[str, Any]:
    started = {"patches": context.patches + 1}
    if result.outcome is Outcome.COMMITTED:
        return {
            **started,
            "commits": context.commits + 1,
            "landmarks": context.landmarks[1:],
            "alternatives": result.alternatives,
            "candidates": (),
            "reasons": (),
            "attempts": (),
        }
    if result.outcome is Outcome.ROLLED_BACK:
        tried = (result.attempt,) if result.attempt else ()
        return {
            **started,
            "candidates": context.candidates[1:],
            "attempts": (*context.attempts, *tried),
            "reasons": _reasons_of(context, result),
        }
    return started
