"""Durations as text for people."""

from __future__ import annotations

from datetime import timedelta

from hourglass.errors import DurationError
from hourglass.units import UNITS, Unit

_ZERO = timedelta(0)


def format_short(value: timedelta, parts: int | None = None) -> str:
    """The duration in short units, longest first, e.g. `1d 2h 3m`.

    Weeks are written as days. With `parts`, only that many of the longest parts are kept and the rest is cut off.
    What is shorter than a millisecond is cut off; nothing left is `0s`.
    """
    if parts is not None and parts < 1:
        raise DurationError(f"parts must be 1 or more, not {parts}")
    sign, rest = ("-", -value) if value < _ZERO else ("", value)
    words = []
    for unit in UNITS[1:]:
        count, rest = divmod(rest, unit.length)
        if count:
            words.append(f"{count}{unit.short}")
    kept = words if parts is None else words[:parts]
    return sign + " ".join(kept) if kept else "0s"


def format_clock(value: timedelta) -> str:
    """The duration as `hours:minutes:seconds`; hours are not limited to 24 and fractions of a second are cut off."""
    sign, rest = ("-", -value) if value < _ZERO else ("", value)
    minutes, seconds = divmod(int(rest.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02}:{seconds:02}"


def humanize(value: timedelta) -> str:
    """A rounded phrase in the unit that suits the duration, e.g. `about 3 days`.

    A whole number of units is said without `about`; less than a second is `a moment`. The sign is ignored.
    """
    size = abs(value)
    if size < timedelta(seconds=1):
        return "a moment"
    unit = _suitable(size)
    count = (size + unit.length / 2) // unit.length
    phrase = f"{count} {unit.name}" + ("" if count == 1 else "s")
    return phrase if count * unit.length == size else f"about {phrase}"


def _suitable(size: timedelta) -> Unit:
    """The longest unit that fits at least once; `size` is at least a second."""
    return next(unit for unit in UNITS if unit.length <= size)
