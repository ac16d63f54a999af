"""How what a generator drafts becomes proposals with slots of their own, and what outcome memory does to their weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cogworks.canonical import canonical, digest
from cogworks.cycle.context import CycleContext
from cogworks.cycle.events import (
    MAX_PAYLOAD_CHARS,
    Limits,
    Observation,
    Proposed,
    Situation,
    Weighed,
    Weighing,
)
from cogworks.cycle.experience import MEMORABLE, pattern_of, situation_of
from cogworks.cycle.flow import Draft, next_step, next_way
from cogworks.cycle.results import TERMINAL, Action, Payload, priority
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
    proposals = []
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
        proposals.append((proposal, payload))
    return proposals


def event_of(proposal: Proposal, payload: Payload) -> Proposed:
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
    alike.sort(key=lambda pair: (-pair[0], pair[1].age_days, pair[1].source, pair[1].cycle))
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
    weighings: list[Weighing] = []
    waiting = list(offered)
    while waiting:
        proposal, payload = waiting.pop(0)
        reweighed, weighing = _weighed(memory, context, proposal, payload)
        weighings += [weighing] if weighing else []
        if reweighed is not None:
            kept.append(reweighed)
        elif proposal.source == PLANNER:
            instead = _instead(context, payload)
            added += instead
            waiting = [*instead, *waiting]
    event = Weighed(layer=LAYER, decisions=tuple(weighings)) if weighings else None
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
    weighing = Weighing(
        slot_id=proposal.slot_id,
        before=proposal.saliency,
        after=after,
        is_blocked=is_blocked,
        rate=known.rate,
        observations=known.observations,
    )
    return (None if is_blocked else replace(proposal, saliency=after)), weighing


def _instead(context: CycleContext, blocked: Payload) -> list[Offered]:
    """The next rung of the plan's ladder, where the plan would ask once more in the same way."""
    draft = next_way(context) if blocked.action is Action.GENERATE_PATCH else None
    return slotted([draft], cycle=context.cycle + 1, source=PLANNER, goal=context.task.goal) if draft else []
