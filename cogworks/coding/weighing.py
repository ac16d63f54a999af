"""What outcome memory does to the proposals of one cycle: some weigh more, some less, a bad repetition is left out. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cogworks.coding.actions import Action
from cogworks.coding.context import CycleContext
from cogworks.coding.events import Weighed, Weighing
from cogworks.coding.experience import MEMORABLE, pattern_of, situation_of
from cogworks.coding.flow import next_way
from cogworks.coding.generators import PLANNER
from cogworks.coding.observations import Observation
from cogworks.coding.priors import REPETITIONS, prior
from cogworks.coding.proposing import slotted
from cogworks.coding.results import Payload
from cogworks.pipeline.arbiter import Proposal

LAYER = "memory"
Offered = tuple[Proposal, Payload]


@dataclass(frozen=True)
class Memory:
    """What a run remembers of others."""

    observations: tuple[Observation, ...]
    environment: str
    """Its own."""


@dataclass(frozen=True)
class Balance:
    """The proposals after they were weighed."""

    proposals: tuple[Proposal, ...]
    """Those that take part."""
    added: tuple[Offered, ...] = ()
    """Proposed in place of what was blocked."""
    event: Weighed | None = None
    """None: nothing is known of any of them."""


def weighed(memory: Memory, context: CycleContext, offered: Sequence[Offered]) -> Balance:
    """Weigh the proposals of one cycle by what became of such decisions earlier."""
    kept: list[Proposal] = []
    added: list[Offered] = []
    told: list[Weighing] = []
    waiting = list(offered)
    while waiting:
        proposal, payload = waiting.pop(0)
        found, weighing = _weighed(memory, context, proposal, payload)
        told += [weighing] if weighing else []
        if found is not None:
            kept.append(found)
        elif proposal.source == PLANNER:
            instead = _instead(context, payload)
            added += instead
            waiting = [*instead, *waiting]
    event = Weighed(layer=LAYER, decisions=tuple(told)) if told else None
    return Balance(proposals=tuple(kept), added=tuple(added), event=event)


def _weighed(
    memory: Memory, context: CycleContext, proposal: Proposal, payload: Payload
) -> tuple[Proposal | None, Weighing | None]:
    if payload.action not in MEMORABLE:
        return proposal, None
    known = prior(pattern_of(payload), situation_of(context, memory.environment), memory.observations)
    if known is None:
        return proposal, None
    is_blocked = known.is_bad and payload.reason in REPETITIONS
    after = known.boosted(proposal.saliency)
    told = Weighing(
        slot_id=proposal.slot_id,
        before=proposal.saliency,
        after=after,
        is_blocked=is_blocked,
        rate=known.rate,
        observations=known.observations,
    )
    return (None if is_blocked else replace(proposal, saliency=after)), told


def _instead(context: CycleContext, blocked: Payload) -> list[Offered]:
    """The next rung of the plan's ladder, where the plan would ask once more in the same way."""
    draft = next_way(context) if blocked.action is Action.GENERATE_PATCH else None
    return slotted([draft], cycle=context.cycle + 1, source=PLANNER, goal=context.task.goal) if draft else []
