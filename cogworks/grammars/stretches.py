"""Stretches of a file by their bytes: which is inside which, and what was there last."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from cogworks.grammars.declared import text_of
from cogworks.grammars.facts import FILE

_MOST_NESTED = 3
"""Stretches that are exported inside of each other."""


class Exported(NamedTuple):
    """What of a file other files may use."""

    stretches: list[tuple[int, int]]
    names: frozenset[str]

    def holds(self, start: int, end: int, *names: str) -> bool:
        """Whether a stretch is in one that is exported, or one of its names is."""
        if not self.names.isdisjoint(names):
            return True
        low = bisect_right(self.stretches, start, key=lambda each: each[0])
        return any(
            first <= start and end <= last for first, last in self.stretches[max(0, low - _MOST_NESTED) : low]
        )


class Inside:
    """Captured nodes in the order of the file."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = sorted(nodes, key=lambda each: each.start_byte)
        self._starts = [each.start_byte for each in self.nodes]

    def last(self, start: int, end: int) -> str:
        """The text of the last one between two bytes; empty: there is none."""
        place = bisect_left(self._starts, end) - 1
        return text_of(self.nodes[place]) if place >= 0 and self._starts[place] >= start else ""


class Finder:
    """Which of nested stretches is the innermost at a byte."""

    def __init__(self, stretches: Sequence[tuple[int, int, int]]) -> None:
        """Args: (start, end, place), nested, sorted by start."""
        self._changes: list[tuple[int, int]] = []
        waiting: list[tuple[int, int]] = []
        for start, end, place in stretches:
            self._close(waiting, start)
            self._changes.append((start, place))
            waiting.append((end, place))
        self._close(waiting, None)

    def _close(self, waiting: list[tuple[int, int]], until: int | None) -> None:
        while waiting and (until is None or waiting[-1][0] <= until):
            end, _ = waiting.pop()
            self._changes.append((end, waiting[-1][1] if waiting else FILE))

    def place(self, at: int) -> int:
        """The place of the innermost stretch; `FILE`: none is there."""
        index = bisect_right(self._changes, at, key=lambda each: each[0]) - 1
        return self._changes[index][1] if index >= 0 else FILE
