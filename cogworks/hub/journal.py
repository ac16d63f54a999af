"""What the hub was asked, in order, for whoever counts requests."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cogworks.hub.asked import Asked
from cogworks.hub.clock import iso

KEPT = 20_000
"""The oldest entries beyond these are forgotten."""


@dataclass
class Entry:
    """One request; its outcome is filled in when it is over."""

    number: int
    at: datetime
    asked: Asked
    status: int = 0
    """Of the answer that left the hub; 0: none did."""
    points: int = 0
    """What it took from the caller's hourly budget of REST requests or GraphQL points."""
    was_handled: bool = False
    """The hub carried it out, whatever the answer said."""
    fault: str = ""

    def shown(self) -> dict[str, Any]:
        told = self.asked.model_dump(mode="json")
        return {
            "number": self.number,
            "at": iso(self.at),
            **told,
            "status": self.status,
            "points": self.points,
            "handled": self.was_handled,
            "fault": self.fault,
        }


@dataclass
class Journal:
    """The requests since the last `clear`, oldest first; numbers start at 1 again then."""

    entries: deque[Entry] = field(default_factory=lambda: deque(maxlen=KEPT))
    _last: int = 0

    def open(self, asked: Asked, at: datetime) -> Entry:
        self._last += 1
        entry = Entry(number=self._last, at=at, asked=asked)
        self.entries.append(entry)
        return entry

    def clear(self) -> None:
        self.entries.clear()
        self._last = 0
