"""Durations as people write them, e.g. `1h 30m` or `2 days and 4 hours`."""

from __future__ import annotations

import re
from datetime import timedelta

from hourglass.errors import ParseError
from hourglass.units import find_unit

_PART = re.compile(r"(\d+)\s*([A-Za-z]+)", re.ASCII)


def parse(text: str) -> timedelta:
    """The duration a text describes.

    Raises ParseError when the text holds no duration or names an unknown unit.
    """
    body = text.strip()
    negative = body.startswith("-")
    if negative:
        body = body[1:]

    value = timedelta(0)
    found = False
    for match in _PART.finditer(body):
        unit = find_unit(match.group(2))
        if unit is None:
            raise ParseError(f"unknown unit {match.group(2)!r}", text, match.start(2))
        value += int(match.group(1)) * unit.length
        found = True
    if not found:
        raise ParseError("no duration", text)
    return -value if negative else value
