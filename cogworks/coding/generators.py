"""Who proposes what to do next; generators only propose, and see nothing but the context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cogworks.coding.actions import TERMINAL, Action
from cogworks.coding.context import CycleContext
from cogworks.coding.flow import Draft, next_step
from cogworks.coding.limits import Limits
from cogworks.coding.watchdogs import alarms

PLANNER = "planner"
BUILT_IN = frozenset({"safety", PLANNER, "idle"})


@dataclass(frozen=True)
class Generator:
    """A source of proposals."""

    name: str
    propose: Callable[[CycleContext], Sequence[Draft]]
    """A pure function of the context; when it raises, the cycle goes on without it."""
    may_end: bool = False
    """Whether it may propose FINALIZE and ABORT; nothing that a model had a part in may."""

    def admitted(self, draft: Draft) -> bool:
        """Whether this source may propose that."""
        return self.may_end or draft.action not in TERMINAL


def built_in(limits: Limits) -> tuple[Generator, ...]:
    """The generators every run has: safety, the plan, and doing nothing."""

    def safety(context: CycleContext) -> Sequence[Draft]:
        return [Draft(Action.ABORT, 1.0, 1.0, reason=str(alarm)) for alarm in alarms(context, limits)[:1]]

    def plan(context: CycleContext) -> Sequence[Draft]:
        step = next_step(context, generation_retries=limits.generation_retries)
        return [step] if step else []

    def idle(context: CycleContext) -> Sequence[Draft]:
        del context
        return [Draft(Action.IDLE, 0.01, reason="nothing_better")]

    return (
        Generator("safety", safety, may_end=True),
        Generator(PLANNER, plan, may_end=True),
        Generator("idle", idle),
    )
