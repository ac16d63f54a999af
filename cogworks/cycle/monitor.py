"""Was there one decision in every cycle, one action for it, and nothing outside? Read from the events alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cogworks.cycle.events import (
    Body,
    Committed,
    ContextUpdate,
    CycleEnd,
    CycleStart,
    Event,
    ExecutionComplete,
    ExecutionStart,
    ForcedDropped,
    ForcedInjection,
    Header,
    ProposalError,
    Proposed,
    Selected,
    Weighed,
)
from cogworks.cycle.results import TERMINAL, Action
from cogworks.vocabulary import Value


class Violation(Value):
    """Where a log says that something happened that may not happen."""

    seq: int
    cycle: int
    problem: str


@dataclass
class _Bracket:
    """What was seen since a cycle began; counted here and taken from nobody."""

    cycle: int
    selections: list[Selected] = field(default_factory=list)
    commits: list[Committed] = field(default_factory=list)
    started: list[ExecutionStart] = field(default_factory=list)
    weighed: int = 0
    completed: int = 0
    updated: int = 0

    @property
    def is_executing(self) -> bool:
        return len(self.started) > self.completed

    @property
    def action(self) -> Action | None:
        return self.commits[-1].action if self.commits else None


class SerialityMonitor:
    """Watches events one by one, while they happen or from a log that was kept."""

    def __init__(self) -> None:
        self._open: _Bracket | None = None
        self._last = 0
        self._has_ended = False
        self._violations: list[Violation] = []

    @property
    def violations(self) -> tuple[Violation, ...]:
        """In the order of the log; none when all is well."""
        return tuple(self._violations)

    @property
    def has_ended(self) -> bool:
        """The last cycle of the run is over."""
        return self._has_ended

    def observe(self, event: Event) -> None:
        """Take note of the next event."""
        body = event.body
        if self._has_ended:
            self._report(event, f"{event.kind} after the end of the run")
        elif isinstance(body, CycleStart):
            self._begin(event)
        elif self._open is None:
            if not isinstance(body, Header):
                self._report(event, f"{event.kind} outside a cycle")
        else:
            if event.cycle != self._open.cycle:
                self._report(event, f"{event.kind} of cycle {event.cycle} inside cycle {self._open.cycle}")
            for problem in _RULES[type(body)](self._open, body):
                self._report(event, problem)
            if isinstance(body, CycleEnd):
                self._close(body)

    def _begin(self, event: Event) -> None:
        if self._open is not None:
            self._report(event, f"a cycle begins before cycle {self._open.cycle} has ended")
        if event.cycle != self._last + 1:
            self._report(event, f"cycle {event.cycle} follows cycle {self._last}")
        self._open, self._last = _Bracket(event.cycle), event.cycle

    def _close(self, body: CycleEnd) -> None:
        self._open = None
        self._has_ended = body.terminal

    def _report(self, event: Event, problem: str) -> None:
        self._violations.append(Violation(seq=event.seq, cycle=event.cycle, problem=problem))


def verify_seriality(events: Iterable[Event]) -> tuple[Violation, ...]:
    """What is wrong with a log; none when every cycle had one decision and one action.

    A log that breaks off inside a cycle is one whose runner died: that is no violation.
    """
    monitor = SerialityMonitor()
    for event in events:
        monitor.observe(event)
    return monitor.violations


def _header(bracket: _Bracket, body: Header) -> Iterable[str]:
    del bracket, body
    yield "a header inside a cycle"


def _before_selection(bracket: _Bracket, body: Body) -> Iterable[str]:
    if bracket.selections:
        yield f"{body.kind} after the selection"


def _weighing(bracket: _Bracket, body: Weighed) -> Iterable[str]:
    yield from _before_selection(bracket, body)
    if bracket.weighed:
        yield "the proposals are weighed twice"
    bracket.weighed += 1


def _selection(bracket: _Bracket, body: Selected) -> Iterable[str]:
    if bracket.selections:
        yield f"selection {len(bracket.selections) + 1} in one cycle"
    if bracket.commits:
        yield "a selection after the commit"
    bracket.selections.append(body)


def _commit(bracket: _Bracket, body: Committed) -> Iterable[str]:
    if bracket.commits:
        yield f"commit {len(bracket.commits) + 1} in one cycle"
    if not bracket.selections:
        yield "a commit without a selection"
    elif bracket.selections[-1].slot_id != body.slot_id:
        yield f"{body.slot_id!r} is committed, and {bracket.selections[-1].slot_id!r} was selected"
    if bracket.started:
        yield "a commit after the action began"
    bracket.commits.append(body)


def _dropping(bracket: _Bracket, body: ForcedDropped) -> Iterable[str]:
    del body
    if bracket.action not in TERMINAL or bracket.started:
        yield "a signal is dropped, and the run is not about to end"


def _start(bracket: _Bracket, body: ExecutionStart) -> Iterable[str]:
    if bracket.is_executing:
        yield "an action begins while another runs"
    elif bracket.started:
        yield "a second action in one cycle"
    if not bracket.commits:
        yield "an action begins without a commit"
    elif bracket.action is not body.action:
        yield f"{body.action} begins, and {bracket.action} was committed"
    bracket.started.append(body)


def _complete(bracket: _Bracket, body: ExecutionComplete) -> Iterable[str]:
    del body
    if not bracket.is_executing:
        yield "an action is complete that did not begin"
    bracket.completed += 1


def _update(bracket: _Bracket, body: ContextUpdate) -> Iterable[str]:
    del body
    if bracket.completed == 0 or bracket.is_executing:
        yield "the context is updated before the action is complete"
    if bracket.updated:
        yield "the context is updated twice"
    if bracket.action in TERMINAL:
        yield "the context is updated after the end"
    bracket.updated += 1


def _end(bracket: _Bracket, body: CycleEnd) -> Iterable[str]:
    counts = {
        "selections": len(bracket.selections),
        "commits": len(bracket.commits),
        "actions begun": len(bracket.started),
        "actions complete": bracket.completed,
    }
    for name, count in counts.items():
        if count != 1:
            yield f"the cycle ends with {count} {name}; it has to be 1"
    is_terminal = bracket.action in TERMINAL
    if body.action is not bracket.action or body.terminal != is_terminal:
        yield f"the cycle of {bracket.action} ends as one of {body.action}"
    if not is_terminal and not bracket.updated:
        yield "the context was not updated"


_RULES: Mapping[type[Body], Callable[[_Bracket, Any], Iterable[str]]] = {
    Header: _header,
    ForcedInjection: _before_selection,
    Proposed: _before_selection,
    ProposalError: _before_selection,
    Weighed: _weighing,
    Selected: _selection,
    Committed: _commit,
    ForcedDropped: _dropping,
    ExecutionStart: _start,
    ExecutionComplete: _complete,
    ContextUpdate: _update,
    CycleEnd: _end,
}
