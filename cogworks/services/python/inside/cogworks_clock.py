"""Tells when there is no time for another file, by the longest until then; imports nothing of cogworks, and nothing of pytest."""

from __future__ import annotations

import time
from collections.abc import Sequence


class Clock:
    """Asked before each test in their order; what has begun comes to its end, and the first always begins."""

    def __init__(self, names: Sequence[str], until_s: float | None) -> None:
        """Args:
        names: of each test in turn, what it is a part of and cannot be divided from.
        until_s: on the monotonic clock; None: there is time for everything.
        """
        self._units = units(names)
        self._until_s = until_s
        self._unit = -1
        self._began_s = self._longest_s = 0.0
        self.is_over = False

    def may_begin(self, number: int) -> bool:
        """Whether the test of this number may run; of one that may not, none after it may."""
        unit = self._units[number]
        if self.is_over or unit == self._unit or self._until_s is None:
            return not self.is_over
        now_s = time.monotonic()
        if self._unit >= 0:
            self._longest_s = max(self._longest_s, now_s - self._began_s)
            self.is_over = now_s + self._longest_s > self._until_s
        self._unit, self._began_s = unit, now_s
        return not self.is_over


def units(names: Sequence[str]) -> list[int]:
    """For each place in the order the number of what is run as a whole: names that are mixed with others belong together."""
    last = {name: place for place, name in enumerate(names)}
    numbers: list[int] = []
    end = unit = -1
    for place, name in enumerate(names):
        if place > end:
            unit += 1
        end = max(end, last[name])
        numbers.append(unit)
    return numbers
