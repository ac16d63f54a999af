"""What outcome memory does to the proposals of one cycle: some weigh more, some less, a bad repetition is left out. Pure.

What earlier outcomes say about a proposal: how alike two situations are, and what that makes of a saliency. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cogworks.cycle.actions import Action
from cogworks.cycle.context import CycleContext
from cogworks.cycle.events import Weighed, Weighing
from cogworks.cycle.experience import MEMORABLE, pattern_of, situation_of
from cogworks.cycle.flow import next_way
from cogworks.cycle.observations import Observation, Situation
from cogworks.cycle.proposing import PLANNER, slotted
from cogworks.cycle.results import Payload
from cogworks.pipeline.arbiter import Proposal

MIN_SIMILARITY = 25
TOP = 6
HALF_LIFE_DAYS = 14.0
BLOCKED_FROM = 3
"""So many alike are needed before anything is blocked."""
BLOCKED_BELOW = 0.2
BOOST = (0.8, 1.25)
"""The least and the most that a saliency is multiplied by."""
_UNKNOWN = 0.5
"""What is not known counts as half an observation that went half well: so what is old stops blocking."""
REPETITIONS = frozenset({"refused", "none_valid", "rolled_back", "widen", "replan", "recombine"})
"""Reasons of decisions to try once more. A first try is never blocked: memory must not end what never began."""


@dataclass(frozen=True)
class Prior:
    """What is to be expected of a decision."""

    rate: float
    """How often it helped, from 0 to 1; the alike and the young count for more."""
    observations: int

    @property
    def is_bad(self) -> bool:
        """Too seldom any good, and often enough seen to say so."""
        return self.observations >= BLOCKED_FROM and self.rate < BLOCKED_BELOW

    def boosted(self, saliency: float) -> float:
        """The saliency with what is known taken into account; never above 1."""
        low, high = BOOST
        factor = min(high, max(low, 1.0 + 0.5 * (self.rate - 0.5)))
        return min(1.0, round(saliency * factor, 5))


def similarity(one: Situation, other: Situation) -> int:
    """How alike two situations are, in hundredths."""
    return (
        45 * (one.environment == other.environment)
        + 20 * (one.attempts == other.attempts)
        + 15 * (one.test_file == other.test_file)
        + 10 * (one.signature == other.signature)
        + 10 * (one.is_stalled == other.is_stalled)
    )


def prior(pattern: str, situation: Situation, observations: Sequence[Observation]) -> Prior | None:
    """What earlier decisions of this kind in situations like this one say; None where there is none."""
    alike = [
        (similarity(each.situation, situation), each) for each in observations if each.pattern == pattern
    ]
    alike = [(degree, each) for degree, each in alike if degree >= MIN_SIMILARITY]
    if not alike:
        return None
    # Ties are broken by what is in the log, so that the order of reading never matters.
    alike.sort(key=lambda found: (-found[0], found[1].age_days, found[1].source, found[1].cycle))
    best = alike[:TOP]
    weights = [degree / 100 * 0.5 ** (each.age_days / HALF_LIFE_DAYS) for degree, each in best]
    good = sum(weight * each.worth for weight, (_, each) in zip(weights, best, strict=True))
    rate = (_UNKNOWN * 0.5 + good) / (_UNKNOWN + sum(weights))
    return Prior(rate=round(rate, 6), observations=len(best))


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
