"""The units a duration may be written in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Unit:
    """One unit: its name in the singular, its short form and its length."""

    name: str
    short: str
    length: timedelta
    spellings: tuple[str, ...]


UNITS: tuple[Unit, ...] = (
    Unit("week", "w", timedelta(weeks=1), ("w", "wk", "week")),
    Unit("day", "d", timedelta(days=1), ("d", "day")),
    Unit("hour", "h", timedelta(hours=1), ("h", "hr", "hour")),
    Unit("minute", "m", timedelta(minutes=1), ("m", "min", "minute")),
    Unit("second", "s", timedelta(seconds=1), ("s", "sec", "second")),
    Unit("millisecond", "ms", timedelta(milliseconds=1), ("ms", "msec", "millisecond")),
)
"""Longest first."""

_BY_SPELLING = {spelling: unit for unit in UNITS for spelling in unit.spellings}


def find_unit(word: str) -> Unit | None:
    """The unit a word names, in any case, singular or plural; None when there is none."""
    word = word.lower()
    if word in _BY_SPELLING:
        return _BY_SPELLING[word]
    # "ms" is milliseconds, never the plural of "m", so the exact spelling goes first.
    if len(word) > 2 and word.endswith("s"):
        return _BY_SPELLING.get(word[:-1])
    return None
