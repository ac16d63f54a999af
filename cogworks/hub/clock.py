"""What time it is on the hub: every timestamp and every `Date` header comes from here."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment in UTC, whole seconds, as GitHub writes its timestamps."""
        ...


class SystemClock:
    """The machine's clock, moved by `offset` so that a test can make a server that runs ahead or behind."""

    def __init__(self, offset: timedelta = timedelta()) -> None:
        self.offset = offset

    def now(self) -> datetime:
        return (datetime.now(UTC) + self.offset).replace(microsecond=0)

    def advance(self, seconds: float) -> None:
        """Let time pass at once; a negative number turns the clock back."""
        self.offset += timedelta(seconds=seconds)


def iso(moment: datetime) -> str:
    """`2026-01-31T23:59:59Z`, the only form GitHub uses."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def http_date(moment: datetime) -> str:
    """The form of a `Date` header."""
    return format_datetime(moment.astimezone(UTC), usegmt=True)
