"""Would a recorded run be decided in the same way again? Recomputed from its log alone, without model, tools or clock."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from cogworks.canonical import digest
from cogworks.cycle.context import CycleContext
from cogworks.cycle.eventlog import comparable
from cogworks.cycle.events import (
    Committed,
    Event,
    ExecutionComplete,
    ForcedDropped,
    ForcedInjection,
    Header,
    ProposalError,
    Proposed,
    Selected,
    Weighed,
)
from cogworks.cycle.executor import Handler
from cogworks.cycle.flow import Draft
from cogworks.cycle.loop import TERMINAL_REFUSED, WATCHDOG, CodingCycle, CyclePorts
from cogworks.cycle.proposing import Generator
from cogworks.cycle.results import Action, ActionResult, Payload, priority
from cogworks.cycle.signals import Forced, obeyable
from cogworks.errors import CogworksError, UsageError
from cogworks.pipeline.arbiter import Proposal, Signal, choose
from cogworks.vocabulary import Value


class Divergence(Value):
    """The first place where a log and its recomputation differ."""

    seq: int
    cycle: int
    event: str
    field: str
    """e.g. `payload.score`"""
    recorded: Any
    recomputed: Any

    def __str__(self) -> str:
        return f"event {self.seq} (cycle {self.cycle}, {self.event}): {self.field} is {self.recorded!r} in the log, {self.recomputed!r} when recomputed"


class Step(Value):
    """One decision of a replay."""

    cycle: int
    action: Action
    slot_id: str
    recorded_action: Action | None = None
    """What the log says was decided there; None where it has ended before."""

    @property
    def is_other(self) -> bool:
        """Something else than the log says."""
        return self.action is not self.recorded_action


class Replayed(Value):
    """What a replay came to."""

    events: int
    """How many were recomputed and found equal, or recomputed at all after a change."""
    steps: tuple[Step, ...]
    divergence: Divergence | None = None
    is_complete: bool = True
    """False for a log that breaks off before the end, and for a replay that was asked to stop earlier."""
    context: CycleContext | None = None
    """What was known after the last cycle."""


class _Diverged(CogworksError):
    def __init__(self, divergence: Divergence) -> None:
        self.divergence = divergence
        super().__init__(str(divergence))


class _EndOfRecording(CogworksError):
    """The log has nothing for what comes next."""


@dataclass(frozen=True)
class _Recording:
    """A log, looked up by cycle."""

    header: Header
    events: Sequence[Event]
    results: Mapping[int, ActionResult]
    commits: Mapping[int, Committed]


def verify(events: Sequence[Event], *, until: int | None = None) -> Replayed:
    """Run the cycle again with the recorded results and signals; every event has to come out as it is in the log.

    Args:
        until: only so many cycles.

    Raises:
        UsageError: the log has no header.
    """
    kept = [event for event in events if until is None or event.cycle <= until]
    recording = _recording(kept)

    def compare(event: Event) -> None:
        if event.seq >= len(kept):
            raise _EndOfRecording(f"the log ends with event {len(kept) - 1}")
        if divergence := _difference(kept[event.seq], event):
            raise _Diverged(divergence)

    replayed = _run(recording, results=recording.results, compare=compare)
    if replayed.divergence is None and replayed.events < len(kept):
        more = kept[replayed.events]
        divergence = _divergence(more, "event", more.kind, None)
        return replayed.model_copy(update={"divergence": divergence})
    return replayed if len(kept) == len(events) else replayed.model_copy(update={"is_complete": False})


def what_if(events: Sequence[Event], *, cycle: int, replace: Mapping[str, Any]) -> Replayed:
    """What would have been decided had the action of a cycle ended otherwise.

    Goes on for as long as the log holds results for exactly what is decided.

    Args:
        replace: fields of the recorded result, e.g. `{"outcome": "rolled_back"}`.

    Raises:
        UsageError: the log has no result for that cycle, or the changed one makes no sense.
    """
    recording = _recording(events)
    recorded = recording.results.get(cycle)
    if recorded is None:
        known = f"1 to {max(recording.results)}" if recording.results else "none"
        raise UsageError(f"cycle {cycle} has no result in this log; those with one: {known}.")
    try:
        changed = ActionResult.model_validate({**recorded.model_dump(mode="json"), **replace})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise UsageError(f"the result of cycle {cycle} cannot be changed like that: {problems}") from None
    return _run(recording, results={**recording.results, cycle: changed}, compare=lambda _: None)


def decide_only(events: Sequence[Event], *, until: int | None = None) -> Replayed:
    """Let the arbiter choose again among the recorded proposals and signals; needs their scores and nothing else.

    Args:
        until: only so many cycles.
    """
    waiting: list[Signal] = []
    proposals: list[Proposal] = []
    steps: list[Step] = []
    count = 0
    header = events[0].body if events and isinstance(events[0].body, Header) else None
    for event in events:
        if until is not None and event.cycle > until:
            return Replayed(events=count, steps=tuple(steps), is_complete=False)
        body = event.body
        if isinstance(body, ForcedInjection):
            waiting.append(Signal(body.slot_id, body.source, body.action, body.reason))
        elif isinstance(body, Proposed):
            proposal = _proposal(body)
            if proposal.score != body.score:
                divergence = _divergence(event, "payload.score", body.score, proposal.score)
                return Replayed(events=count, steps=tuple(steps), divergence=divergence)
            proposals.append(proposal)
        elif isinstance(body, Weighed):
            proposals = _as_weighed(proposals, body)
        elif isinstance(body, Selected):
            is_last = header is not None and event.cycle >= header.limits.max_cycles
            allowed = obeyable(waiting, only_an_end=is_last)
            selected, action = _selected(allowed, proposals)
            if selected is None or selected != body:
                divergence = _selection_divergence(event, body, selected)
                return Replayed(events=count, steps=tuple(steps), divergence=divergence)
            steps.append(Step(cycle=event.cycle, action=action, slot_id=body.slot_id, recorded_action=action))
            waiting = [signal for signal in waiting if signal.slot_id != body.slot_id]
            proposals = []
        count += 1
    return Replayed(events=count, steps=tuple(steps))


def _proposal(body: Proposed) -> Proposal:
    return Proposal(
        slot_id=body.slot_id,
        source=body.source,
        action=body.action,
        saliency=body.saliency,
        urgency=body.urgency,
        surprise=body.surprise,
        payload_hash=body.payload_hash,
        priority=priority(body.action),
    )


def _as_weighed(proposals: Sequence[Proposal], body: Weighed) -> list[Proposal]:
    weighings = {each.slot_id: each for each in body.decisions}
    blocked = {slot_id for slot_id, each in weighings.items() if each.is_blocked}
    return [
        dataclasses.replace(proposal, saliency=weighings[proposal.slot_id].after)
        if proposal.slot_id in weighings
        else proposal
        for proposal in proposals
        if proposal.slot_id not in blocked
    ]


def _selected(waiting: Sequence[Signal], proposals: Sequence[Proposal]) -> tuple[Selected | None, Action]:
    choice = choose(waiting, proposals)
    if choice is None:
        return None, Action.IDLE
    return Selected.of(choice), Action(choice.winner.action)


def _selection_divergence(event: Event, recorded: Selected, recomputed: Selected | None) -> Divergence:
    if recomputed is None:
        return _divergence(event, "event", event.kind, None)
    field, old, new = _first_difference(
        recorded.model_dump(mode="json"), recomputed.model_dump(mode="json"), "payload"
    )
    return _divergence(event, field, old, new)


def _recording(events: Sequence[Event]) -> _Recording:
    if not events or not isinstance(events[0].body, Header):
        raise UsageError(
            "the log is empty or has no header; give all its segments, beginning with events-1.ndjson."
        )
    results, commits = {}, {}
    for event in events:
        if isinstance(event.body, ExecutionComplete):
            results[event.cycle] = event.body.result
        elif isinstance(event.body, Committed):
            commits[event.cycle] = event.body
    return _Recording(header=events[0].body, events=events, results=results, commits=commits)


def _run(recording: _Recording, *, results: Mapping[int, ActionResult], compare: Any) -> Replayed:
    steps: list[Step] = []
    seen: list[Event] = []
    late = _late_signals(recording)
    running: list[CodingCycle] = []

    def listen(event: Event) -> None:
        compare(event)
        seen.append(event)
        if isinstance(event.body, Committed):
            recorded = recording.commits.get(event.cycle)
            steps.append(
                Step(
                    cycle=event.cycle,
                    action=event.body.action,
                    slot_id=event.body.slot_id,
                    recorded_action=recorded.action if recorded else None,
                )
            )
            for forced in late.get(event.cycle, ()):
                running[0].force(forced.action, forced.reason, source=forced.source)

    divergence, is_complete = None, True
    try:
        running.append(CodingCycle(recording.header, _ports(recording, results, listen)))
        running[0].run_until_done()
    except _Diverged as diverged:
        divergence = diverged.divergence
    except _EndOfRecording:
        is_complete = False
    return Replayed(
        events=len(seen),
        steps=tuple(steps),
        divergence=divergence,
        is_complete=is_complete,
        context=running[0].context if running else None,
    )


def _ports(recording: _Recording, results: Mapping[int, ActionResult], listen: Any) -> CyclePorts:
    def handler(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del deadline_ms
        cycle = context.cycle + 1
        recorded = recording.commits.get(cycle)
        if cycle not in results or recorded is None or recorded.payload_hash != digest(payload):
            raise _EndOfRecording(f"the log holds no result for {payload.action} in cycle {cycle}")
        return results[cycle]

    handlers: Mapping[Action, Handler] = dict.fromkeys(Action, handler)
    return CyclePorts(
        handlers=handlers,
        generators=_generators(recording),
        signals=lambda cycle: _signals(recording, cycle),
        listeners=(listen,),
    )


def _signals(recording: _Recording, cycle: int) -> list[Forced]:
    return [
        Forced(event.body.source, event.body.action, event.body.reason)
        for event in recording.events
        if event.cycle == cycle and isinstance(event.body, ForcedInjection) and event.body.source != WATCHDOG
    ]


def _late_signals(recording: _Recording) -> dict[int, list[Forced]]:
    """Signals that came in while the last decision was made: dropped without ever having been queued."""
    queued = {event.body.slot_id for event in recording.events if isinstance(event.body, ForcedInjection)}
    late: dict[int, list[Forced]] = {}
    for event in recording.events:
        body = event.body
        if isinstance(body, ForcedDropped) and body.slot_id not in queued:
            late.setdefault(event.cycle, []).append(Forced(body.source, body.action, body.reason))
    return late


def _generators(recording: _Recording) -> tuple[Generator, ...]:
    """Each source that is not built in, proposing what it proposed."""

    def replaying(name: str) -> Generator:
        def propose(context: CycleContext) -> list[Draft]:
            return _recorded_drafts(recording, context.cycle + 1, name)

        # Ends it may not propose are in the log as refused; these are refused here again.
        return Generator(name, propose, may_end=_ever_ends(recording, name))

    return tuple(replaying(name) for name in recording.header.generators)


def _recorded_drafts(recording: _Recording, cycle: int, name: str) -> list[Draft]:
    drafts: list[Draft] = []
    for event in recording.events:
        body = event.body
        if event.cycle != cycle:
            continue
        if isinstance(body, ProposalError) and body.source == name:
            if body.error_type != TERMINAL_REFUSED:
                # Only the name of the exception is recorded, and so only its name matters.
                raise type(body.error_type, (Exception,), {})
            drafts.append(Draft(Action.ABORT, 0.0))
        elif isinstance(body, Proposed) and body.source == name and body.payload is not None:
            payload = body.payload
            scores = (body.saliency, body.urgency, body.surprise)
            drafts.append(Draft(body.action, *scores, reason=payload.reason, parameters=payload.parameters))
    return drafts


def _ever_ends(recording: _Recording, name: str) -> bool:
    refused = any(
        isinstance(event.body, ProposalError)
        and event.body.source == name
        and event.body.error_type == TERMINAL_REFUSED
        for event in recording.events
    )
    return not refused


def _difference(recorded: Event, recomputed: Event) -> Divergence | None:
    left, right = comparable(recorded), comparable(recomputed)
    if left == right:
        return None
    # What was said first, the hashes that follow from it last.
    for name in ("event", "cycle", "payload", "seq", "prev_hash", "hash"):
        if left[name] != right[name]:
            return _divergence(recorded, *_first_difference(left[name], right[name], name))
    return None


def _first_difference(left: Any, right: Any, path: str) -> tuple[str, Any, Any]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted({*left, *right}):
            if left.get(name) != right.get(name):
                return _first_difference(left.get(name), right.get(name), f"{path}.{name}")
    return path, left, right


def _divergence(event: Event, field: str, recorded: Any, recomputed: Any) -> Divergence:
    return Divergence(
        seq=event.seq,
        cycle=event.cycle,
        event=event.kind,
        field=field,
        recorded=recorded,
        recomputed=recomputed,
    )
