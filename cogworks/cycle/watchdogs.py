"""When a run has to stop, whatever anybody proposes, and how it ended: rules over what the cycle knows, in a fixed order. Pure."""

from collections.abc import Iterator, Mapping

from cogworks.cycle.context import MAX_SIGNATURES, CycleContext
from cogworks.cycle.events import Limits
from cogworks.cycle.feedback import Stop, history, reason_to_stop
from cogworks.cycle.flow import next_step
from cogworks.cycle.results import TERMINAL, Action, Outcome
from cogworks.vocabulary import Value

MAX_IDLE = 3
_ENDS: Mapping[tuple[Action | None, Outcome | None], str] = {
    (Action.ANALYZE_FAILURE, Outcome.NOTHING_FOUND): "no_suspects",
    (Action.WRITE_TESTS, Outcome.NONE_VALID): "no_valid_tests",
    (Action.GENERATE_PATCH, Outcome.NONE_VALID): "no_valid_patch",
    (Action.APPLY_PATCH, Outcome.ROLLED_BACK): "given_up",
}
"""What the end is called when nothing follows from this any more."""


class Alarm(Value):
    """A reason to stop."""

    code: str
    reason: str

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}" if self.reason else self.code


def alarms(context: CycleContext, limits: Limits) -> tuple[Alarm, ...]:
    """Every reason to stop before the next cycle, the most telling first; none while there is a way on."""
    return (*_troubles(context, limits), *_budgets(context, limits))


def is_last_cycle(context: CycleContext, limits: Limits) -> bool:
    """Only an end may be decided in the next cycle."""
    return context.cycle + 1 >= limits.max_cycles


def _troubles(context: CycleContext, limits: Limits) -> Iterator[Alarm]:
    if context.halt:
        yield Alarm(code="halt", reason=context.halt)
    if context.errors_in_row >= 2:
        yield Alarm(code="tool_error", reason=f"{context.last_action} broke twice: {context.error}")
    if stop := _no_further_attempt(context, limits):
        listed = "; ".join(history(context.attempts))
        yield Alarm(code=stop.code, reason=f"{stop.reason} ({listed})")
    if len(context.signatures) == MAX_SIGNATURES and len(set(context.signatures)) == 1:
        failing = ", ".join(context.failing) or "nothing could be collected"
        yield Alarm(code="stalled", reason=f"{MAX_SIGNATURES} runs of the tests failed alike ({failing})")
    if (code := _end_of_ways(context, limits)) is not None:
        nowhere = "the failure points at no place in the code"
        yield Alarm(code=code, reason=nowhere if code == "no_suspects" else "; ".join(context.reasons))
    if context.idle_in_row >= MAX_IDLE:
        yield Alarm(code="no_progress", reason=f"nothing was proposed {MAX_IDLE} times running")


def _end_of_ways(context: CycleContext, limits: Limits) -> str | None:
    """What it is called that there is no other way to a change, or to tests; None where there is one."""
    code = _ENDS.get((context.action, context.outcome))
    if code is None or next_step(context, generation_retries=limits.generation_retries) is not None:
        return None
    # Places were found, and none of the changes there was good: that is no failure that points nowhere.
    if code == "no_suspects" and context.ladder.climbed:
        return "given_up"
    # The last answer had nothing valid; earlier ones had.
    return "given_up" if code == "no_valid_patch" and context.patches else code


def _no_further_attempt(context: CycleContext, limits: Limits) -> Stop | None:
    # A climb has an end of its own, and no change is tried twice on one tree.
    if context.outcome is not Outcome.ROLLED_BACK or context.task.climbs:
        return None
    return reason_to_stop(context.attempts, max_retries=limits.max_patches - 1)


def _budgets(context: CycleContext, limits: Limits) -> Iterator[Alarm]:
    """What the next step of the plan may not spend any more. An end costs nothing, so success is never refused."""
    step = next_step(context, generation_retries=limits.generation_retries)
    action = step.action if step else None
    # Asking for a change that may not be applied would be money for nothing.
    if action in (Action.GENERATE_PATCH, Action.APPLY_PATCH) and context.patches >= limits.max_patches:
        yield Alarm(code="max_patches", reason=_used_up(limits.max_patches, "patch"))
    if action is Action.RUN_TESTS and context.test_runs >= limits.max_test_runs:
        yield Alarm(code="max_test_runs", reason=_used_up(limits.max_test_runs, "test run"))
    if is_last_cycle(context, limits) and action not in TERMINAL:
        yield Alarm(code="max_cycles", reason=_used_up(limits.max_cycles, "cycle"))


def _used_up(limit: int, what: str) -> str:
    return (
        f"the one {what} is used up"
        if limit == 1
        else f"{limit} {what}{'es' if what == 'patch' else 's'} are used up"
    )


class CycleSummary(Value):
    """One finished cycle."""

    cycle: int
    action: Action
    outcome: Outcome
    was_forced: bool
    slot_id: str
    losers: tuple[str, ...]
    decision_ms: float
    execution_ms: float


class RunResult(Value):
    """The result of a run."""

    success: bool
    """FINALIZE was carried out; nothing else is a success."""
    final_action: Action | None
    """None when the run was broken off."""
    cycles_executed: int
    total_ms: float
    tests_passing: bool
    patches_applied: int
    """Transactions kept and not reverted."""
    seriality_maintained: bool
    error: str = ""
    """Why it was aborted."""
    history: tuple[CycleSummary, ...] = ()

    def summary(self) -> str:
        """One line."""
        status = "SUCCESS" if self.success else "FAILURE"
        cycles = f"{self.cycles_executed} cycle{'' if self.cycles_executed == 1 else 's'}"
        return (
            f"[{status}] {self.final_action or 'broken off'} after {cycles} ({self.total_ms:.1f}ms). "
            f"Tests passing: {self.tests_passing}. Patches applied: {self.patches_applied}."
        )
