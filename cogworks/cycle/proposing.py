"""How what a generator drafts becomes proposals with slots of their own; no clock and no chance in their names.

Who proposes what to do next; generators only propose, and see nothing but the context.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cogworks.canonical import canonical, digest
from cogworks.cycle.actions import TERMINAL, Action, priority
from cogworks.cycle.context import CycleContext
from cogworks.cycle.events import MAX_PAYLOAD_CHARS, Proposed
from cogworks.cycle.flow import Draft, next_step
from cogworks.cycle.limits import Limits
from cogworks.cycle.results import Payload
from cogworks.cycle.watchdogs import alarms
from cogworks.pipeline.arbiter import Proposal

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


class PayloadTooLarge(ValueError):
    """A proposal that would make the log too long."""


def slotted(drafts: Sequence[Draft], *, cycle: int, source: str, goal: str) -> list[tuple[Proposal, Payload]]:
    """The drafts of one source as proposals, each with its payload.

    Raises:
        ValueError: a score is not a number from 0 to 1, or a parameter is no JSON.
    """
    ordinals: dict[Action, int] = {}
    found = []
    for draft in drafts:
        ordinals[draft.action] = ordinals.get(draft.action, 0) + 1
        payload = Payload(
            action=draft.action, goal=goal, reason=draft.reason, parameters=dict(draft.parameters)
        )
        proposal = Proposal(
            slot_id=f"{cycle:04d}/{source}/{draft.action}/{ordinals[draft.action]}",
            source=source,
            action=draft.action,
            saliency=draft.saliency,
            urgency=draft.urgency,
            surprise=draft.surprise,
            payload_hash=digest(payload),
            priority=priority(draft.action),
        )
        found.append((proposal, payload))
    return found


def told(proposal: Proposal, payload: Payload) -> Proposed:
    """The event of a proposal.

    Raises:
        PayloadTooLarge: the payload has to stand in the log, and is too long for it.
    """
    is_long = len(canonical(payload.model_dump(mode="json"))) > MAX_PAYLOAD_CHARS
    if is_long and proposal.source != PLANNER:
        raise PayloadTooLarge(f"{proposal.slot_id}: more than {MAX_PAYLOAD_CHARS} characters")
    return Proposed(
        slot_id=proposal.slot_id,
        source=proposal.source,
        action=payload.action,
        payload_hash=proposal.payload_hash,
        payload=None if is_long else payload,
        saliency=proposal.saliency,
        urgency=proposal.urgency,
        surprise=proposal.surprise,
        score=proposal.score,
    )
