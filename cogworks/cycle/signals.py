"""Signals that win against every proposal: they come in from any thread and are obeyed in their order, one a cycle."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from cogworks.cycle.events import ForcedDropped, ForcedInjection
from cogworks.cycle.results import TERMINAL, Action
from cogworks.pipeline.arbiter import Signal


@dataclass(frozen=True)
class Forced:
    """A signal on its way in."""

    source: str
    action: Action
    reason: str


def obeyable(waiting: Sequence[Signal], *, only_an_end: bool) -> tuple[Signal, ...]:
    """Those of the waiting signals that may be obeyed in this cycle."""
    return tuple(signal for signal in waiting if not only_an_end or signal.action in TERMINAL)


class SignalQueue:
    """First in, first out; nothing gets lost without being reported."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inbox: list[Forced] = []
        self._waiting: list[Signal] = []
        self._is_closed = False

    def waiting(self, *, only_an_end: bool = False) -> Sequence[Signal]:
        """Those that may be obeyed now, oldest first.

        Args:
            only_an_end: in the last cycle of a run nothing else may be decided.
        """
        return obeyable(self._waiting, only_an_end=only_an_end)

    def force(self, forced: Forced) -> bool:
        """Hand in a signal for the next cycle, from any thread; False when none will follow."""
        with self._lock:
            if not self._is_closed:
                self._inbox.append(forced)
            return not self._is_closed

    def arrived(self) -> list[Forced]:
        """What was handed in since the last time."""
        with self._lock:
            arrivals, self._inbox = self._inbox, []
        return arrivals

    def admit(self, cycle: int, arrived: Iterable[Forced], *, first: int = 1) -> Iterator[ForcedInjection]:
        """Queue signals, and report each."""
        for number, forced in enumerate(arrived, first):
            signal = Signal(f"{cycle:04d}/forced/{number}", forced.source, forced.action, forced.reason)
            self._waiting.append(signal)
            yield ForcedInjection(
                slot_id=signal.slot_id,
                source=forced.source,
                action=forced.action,
                reason=forced.reason,
                queue_depth=len(self._waiting),
            )

    def is_waiting(self, action: Action) -> bool:
        """Whether a signal for that action is queued."""
        return any(signal.action == action for signal in self._waiting)

    def remove(self, signal: Signal) -> None:
        """It is obeyed."""
        self._waiting.remove(signal)

    def close(self) -> None:
        """Accept nothing any more."""
        with self._lock:
            self._is_closed = True

    def drop(self, cycle: int) -> Iterator[ForcedDropped]:
        """Close, and report everything that will not be obeyed, also what was handed in during this cycle."""
        self.close()
        late = [
            Signal(f"{cycle:04d}/late/{number}", forced.source, forced.action, forced.reason)
            for number, forced in enumerate(self.arrived(), 1)
        ]
        dropped, self._waiting = [*self._waiting, *late], []
        for signal in dropped:
            yield ForcedDropped(
                slot_id=signal.slot_id,
                source=signal.source,
                action=Action(signal.action),
                reason=signal.reason,
            )
