"""What earlier coding visits came to: each decision that may be made again, where it was made, and whether it helped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cogworks.canonical import canonical, digest, sha256
from cogworks.cycle.context import CycleContext, fold
from cogworks.cycle.events import (
    Committed,
    Event,
    ExecutionComplete,
    Header,
    Observation,
    Proposed,
    Situation,
)
from cogworks.cycle.flow import next_step
from cogworks.cycle.results import Action, ActionResult, Outcome, Payload
from cogworks.repair.transact.measure import file_of

MAX_OBSERVATIONS = 64
"""The youngest; they stand in the header of the log of the visit that makes use of them."""
HELPED, UNDONE, IN_VAIN = 1.0, 0.5, 0.0
"""A change was kept after it, was kept and taken back, or none was kept."""
_OF_ITSELF: Mapping[Outcome, float] = {
    Outcome.DONE: HELPED,
    Outcome.NONE_VALID: IN_VAIN,
    Outcome.NOTHING_FOUND: IN_VAIN,
}
"""What some outcomes say at once. Whether a place to work on or a proposed change was any good, only its transaction tells."""
_ON_TRIAL = (Action.ANALYZE_FAILURE, Action.GENERATE_PATCH, Action.APPLY_PATCH)
MEMORABLE = frozenset({*_ON_TRIAL, Action.WRITE_TESTS})
"""What is worth remembering; all else has to be done whatever became of it elsewhere."""
_ATTEMPTS = (0, 1, 2, 4)


def pattern_of(payload: Payload) -> str:
    """What counts as the same decision made again."""
    if payload.action is Action.APPLY_PATCH:
        return payload.action.value
    return f"{payload.action.value}:{payload.reason}"


def environment_of(header: Header) -> str:
    """Equal for runs under the same conventions whose questions have the same words."""
    return sha256(canonical([header.config_digest, header.prompt_digests]))[:16]


def situation_of(context: CycleContext, environment: str) -> Situation:
    """Where a run stands, as far as it is compared with others."""
    signatures = context.signatures
    return Situation(
        environment=environment,
        attempts=max(step for step in _ATTEMPTS if step <= len(context.attempts)),
        test_file=file_of(context.failing[0]) if context.failing else "",
        signature=signatures[-1][:8] if signatures else "",
        is_stalled=len(signatures) > 1 and signatures[-1] == signatures[-2],
    )


def youngest(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """As many as a visit makes use of; the same ones in whatever order the logs were read."""
    ordered = sorted(observations, key=lambda each: (each.age_days, each.source, each.cycle))
    return tuple(ordered[:MAX_OBSERVATIONS])


@dataclass
class _Decision:
    """One decision of a log while it is read."""

    pattern: str
    cycle: int
    situation: Situation
    worth: float | None
    """None: the log does not say."""


@dataclass
class _Cycle:
    """What a log holds of one cycle."""

    committed: Committed | None = None
    result: ActionResult | None = None


def observations_in(events: Sequence[Event], *, source: str, age_days: int) -> tuple[Observation, ...]:
    """What one log says of its decisions; as far as this version understands it, and nothing of what nobody judged.

    Args:
        source: names the log among all of them.
        age_days: how long ago it was written.
    """
    if not events or not isinstance(events[0].body, Header):
        return ()
    decisions = _decisions(events[0].body, events)
    return tuple(
        Observation(
            pattern=decision.pattern,
            situation=decision.situation,
            worth=decision.worth,
            age_days=age_days,
            source=source,
            cycle=decision.cycle,
        )
        for decision in decisions
        if decision.worth is not None
    )


def _decisions(header: Header, events: Sequence[Event]) -> list[_Decision]:
    environment = environment_of(header)
    proposed = {event.body.slot_id: event.body for event in events if isinstance(event.body, Proposed)}
    context = CycleContext(task=header.task)
    decisions: list[_Decision] = []
    current: dict[Action, _Decision] = {}
    kept: tuple[_Decision, ...] = ()
    for number, cycle in _cycles(events).items():
        payload = _payload(cycle, context, header, proposed)
        result = cycle.result
        if payload is None or result is None:
            break
        if payload.action in MEMORABLE and result.is_success and not result.halt:
            decision = _Decision(
                pattern_of(payload),
                number,
                situation_of(context, environment),
                _OF_ITSELF.get(result.outcome),
            )
            decisions.append(decision)
            current[payload.action] = decision
        on_trial = tuple(current[action] for action in _ON_TRIAL if action in current)
        match payload.action, result.outcome:
            case Action.APPLY_PATCH, Outcome.COMMITTED:
                _judge(on_trial, HELPED)
                kept = on_trial
            case Action.APPLY_PATCH, Outcome.ROLLED_BACK:
                _judge([each for each in on_trial if each.worth is None], IN_VAIN)
            case Action.REVERT_PATCH, Outcome.DONE:
                _judge(kept, UNDONE)
                kept = ()
            case _:
                pass
        context = fold(context, payload, result, finalists=header.limits.finalists)
    return decisions


def _judge(decisions: Sequence[_Decision], worth: float) -> None:
    for decision in decisions:
        decision.worth = worth


def _cycles(events: Sequence[Event]) -> dict[int, _Cycle]:
    cycles: dict[int, _Cycle] = {}
    for event in events:
        cycle = cycles.setdefault(event.cycle, _Cycle())
        if isinstance(event.body, Committed):
            cycle.committed = event.body
        elif isinstance(event.body, ExecutionComplete):
            cycle.result = event.body.result
    return {number: cycle for number, cycle in cycles.items() if number}


def _payload(
    cycle: _Cycle, context: CycleContext, header: Header, proposed: Mapping[str, Proposed]
) -> Payload | None:
    """What was decided; None where the log leaves it to a plan that would decide otherwise today."""
    committed = cycle.committed
    if committed is None:
        return None
    if committed.forced:
        return Payload(action=committed.action, goal=header.task.goal)
    proposal = proposed.get(committed.slot_id)
    if proposal is not None and proposal.payload is not None:
        return proposal.payload
    step = next_step(context, generation_retries=header.limits.generation_retries)
    if step is None:
        return None
    goal, parameters = header.task.goal, dict(step.parameters)
    planned = Payload(action=step.action, goal=goal, reason=step.reason, parameters=parameters)
    return planned if digest(planned) == committed.payload_hash else None
