"""A repair told from its beginning to its end, one record a line: what `events.ndjson` holds."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cogworks.canonical import canonical
from cogworks.coding.actions import TERMINAL, Action
from cogworks.coding.events import Committed, Event, ExecutionComplete, ForcedInjection, Header, Proposed
from cogworks.coding.results import TraceEntry
from cogworks.vocabulary import Value


class Record(Value):
    """One thing that happened."""

    ts: float
    """Seconds since 1970."""
    ts_iso: str
    """The same for people, in UTC."""
    kind: str
    data: dict[str, Any]


class RunLog:
    """Listens to the decisions of one run and tells what happened in it; decisions themselves are another log."""

    def __init__(self) -> None:
        self._began_s = 0.0
        self._action: Action | None = None
        self._reasons: dict[str, str] = {}
        """Slot -> why it was proposed or forced."""
        self._reason = ""

    def records(self, event: Event) -> tuple[Record, ...]:
        """What an event adds; the events of a run are to be given one by one, in their order."""
        body = event.body
        if isinstance(body, Header):
            self._began_s = float(event.wall.get("began_at", 0.0))
            return (self._record(event.wall.get("at_ms", 0.0), "controller.start", _start(body)),)
        if isinstance(body, ForcedInjection):
            self._reasons[body.slot_id] = body.reason
        elif isinstance(body, Proposed) and body.payload is not None:
            self._reasons[body.slot_id] = body.payload.reason
        elif isinstance(body, Committed):
            self._action, self._reason = body.action, self._reasons.get(body.slot_id, "")
        if not isinstance(body, ExecutionComplete):
            return ()
        times = event.wall.get("trace_ms", ())
        found = [
            self._record(at_ms, entry.kind, entry.data)
            for at_ms, entry in zip(times, body.result.trace, strict=True)
        ]
        if self._action in TERMINAL:
            end = {
                "action": self._action,
                "success": self._action is Action.FINALIZE and body.success,
                "reason": body.result.summary or self._reason,
                "cycles": event.cycle,
            }
            found.append(self._record(event.wall.get("at_ms", 0.0), "controller.finish", end))
        return tuple(found)

    def _record(self, at_ms: float, kind: str, data: dict[str, Any]) -> Record:
        return _record_at(self._began_s + at_ms / 1000, kind, data)


def run_log(events: Iterable[Event], untold: Iterable[TraceEntry] = ()) -> tuple[Record, ...]:
    """The records of a whole run, or of one that was broken off.

    Args:
        untold: what happened in the action that broke it off; no event tells of that.
    """
    log = RunLog()
    told = [record for event in events for record in log.records(event)]
    return (*told, *(_record_at(entry.at_s or 0.0, entry.kind, entry.data) for entry in untold))


def _record_at(at_s: float, kind: str, data: dict[str, Any]) -> Record:
    ts = round(at_s, 3)
    return Record(ts=ts, ts_iso=datetime.fromtimestamp(ts, UTC).isoformat(), kind=kind, data=data)


def record_line(record: Record) -> str:
    """One line without its line feed."""
    return canonical(record.model_dump(mode="json"))


def _start(header: Header) -> dict[str, Any]:
    return {"item": header.item, "goal": header.task.goal, "limits": header.limits.model_dump(mode="json")}
