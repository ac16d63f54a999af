"""How a log of events is written as lines, chained by hashes, and read back; a changed byte is found by its line."""

import json
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from pydantic import ValidationError

from cogworks.canonical import canonical, sha256
from cogworks.cycle.events import KINDS, Body, Event
from cogworks.errors import CogworksError

GENESIS = "0" * 64
MAX_SEGMENT_CHARS = 200_000
"""A segment ends before the event that would make it longer."""
_FIELDS = {"cycle", "event", "hash", "payload", "prev_hash", "seq", "wall"}


class LogDamaged(CogworksError):
    """A log is not what was written; the text names the line and what is wrong with it."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        self.problem = problem
        super().__init__(f"line {line} of the event log {problem}")


def chained(body: Body, *, seq: int, cycle: int, prev_hash: str, wall: Mapping[str, Any]) -> Event:
    """The next event of a log.

    Args:
        prev_hash: the hash of the event before it; `GENESIS` for the header.
    """
    payload = body.model_dump(mode="json")
    named = _hash(body.kind, payload, seq=seq, cycle=cycle, prev_hash=prev_hash)
    return Event.model_construct(
        seq=seq, cycle=cycle, body=body, prev_hash=prev_hash, hash=named, wall=_sealed(named, wall)
    )


def line_of(event: Event) -> str:
    """One line without its line feed."""
    return canonical(_as_object(event))


def event_fields(event: Event) -> dict[str, Any]:
    """The event for people and programs: its place, its name and its payload."""
    data = _as_object(event)
    return {name: data[name] for name in ("seq", "cycle", "event", "payload", "wall")}


def comparable(event: Event) -> dict[str, Any]:
    """What has to be equal in two runs with the same recordings."""
    return {name: value for name, value in _as_object(event).items() if name != "wall"}


def segments(events: Iterable[Event]) -> tuple[str, ...]:
    """The log as the texts of `events-1.ndjson`, `events-2.ndjson`, …"""
    texts: list[str] = []
    lines: list[str] = []
    size = 0
    for event in events:
        line = line_of(event) + "\n"
        if lines and size + len(line) > MAX_SEGMENT_CHARS:
            texts.append("".join(lines))
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    return (*texts, "".join(lines)) if lines else tuple(texts)


def read_events(text: str) -> tuple[Event, ...]:
    """The events of a log whose segments were put together in their order.

    Raises:
        LogDamaged: a line is not what was written, or follows another than the one before it.
    """
    # Not splitlines: a text may hold characters that count as line ends elsewhere.
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        raise LogDamaged(len(lines), "does not end with a line feed; the log was cut off inside it")
    events: list[Event] = []
    prev_hash = GENESIS
    for number, line in enumerate(lines, 1):
        event = _event(number, line)
        _require_place(event, number, prev_hash)
        events.append(event)
        prev_hash = event.hash
    return tuple(events)


def segment_names(paths: Iterable[str]) -> list[str]:
    """Those of the names that are segments of a log, in the log's order."""
    numbered = []
    for path in paths:
        name = path.rpartition("/")[2]
        number = name.removeprefix("events-").removesuffix(".ndjson")
        if name == f"events-{number}.ndjson" and number.isascii() and number.isdigit():
            numbered.append((int(number), path))
    return [path for _, path in sorted(numbered)]


def _require_place(event: Event, number: int, prev_hash: str) -> None:
    if event.seq != number - 1:
        raise LogDamaged(number, f"has the sequence number {event.seq}; {number - 1} is its place")
    if event.prev_hash != prev_hash:
        raise LogDamaged(number, "does not follow the line before it: one was changed, added or taken away")
    if (event.kind == "LOG_HEADER") != (number == 1):
        raise LogDamaged(number, "is a header in the middle" if number > 1 else "is not the log's header")


def _event(number: int, line: str) -> Event:
    try:
        data = json.loads(line)
        is_written_by_us = canonical(data) == line
    except (ValueError, RecursionError):
        raise LogDamaged(number, "is not JSON") from None
    if not isinstance(data, dict) or set(data) != _FIELDS or not is_written_by_us:
        raise LogDamaged(number, "is not written as an event is")
    kind = KINDS.get(data["event"]) if isinstance(data["event"], str) else None
    if kind is None:
        raise LogDamaged(number, f"is of the unknown kind {data['event']!r}")
    place = {name: data[name] for name in ("seq", "cycle", "prev_hash")}
    if _hash(data["event"], data["payload"], **place) != data["hash"]:
        raise LogDamaged(number, "was changed: its hash is another")
    try:
        event = Event(
            body=kind.model_validate(data["payload"]), hash=data["hash"], wall=data["wall"], **place
        )
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise LogDamaged(number, f"has a field of the wrong shape: {where}") from None
    unsealed = {name: value for name, value in event.wall.items() if name != "check"}
    if _sealed(event.hash, unsealed) != event.wall:
        raise LogDamaged(number, "was changed in `wall`")
    return event


def _as_object(event: Event) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "cycle": event.cycle,
        "event": event.kind,
        "payload": event.body.model_dump(mode="json"),
        "prev_hash": event.prev_hash,
        "hash": event.hash,
        "wall": dict(event.wall),
    }


def _hash(kind: str, payload: Any, *, seq: int, cycle: int, prev_hash: str) -> str:
    data = {"seq": seq, "cycle": cycle, "event": kind, "payload": payload, "prev_hash": prev_hash}
    return sha256(canonical(data))


def _sealed(named: str, wall: Mapping[str, Any]) -> dict[str, Any]:
    """`wall` is outside the chain, so that equal runs have equal chains; it has a check of its own."""
    return {**wall, "check": sha256(named + canonical(dict(wall)))[:16]}


def text_of(segment_texts: Iterable[str]) -> str:
    """The whole log from its segments in their order; an empty one ends it."""
    # What an earlier attempt of the visit wrote behind it, before its runner died, is no part of the log.
    return "".join(takewhile(bool, segment_texts))
