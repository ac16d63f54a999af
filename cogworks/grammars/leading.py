"""What stands right above a definition and belongs to it: comments, attributes, decorators."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

from cogworks.grammars.declared import shortened, slice_of

_MAX_CHARS = 4_000
_MAX_BLANK = 40
_MOST_BESIDE = 10
_LEAST_ROWS_ABOVE = 3
_DOCUMENTS_NEXT = "/**"
"""What such a comment says is said of the next declaration, however far below that is."""
_COMMENTS = ("//", "/*", "#", "--")


class Lead(NamedTuple):
    """The pieces above one definition, from the top down."""

    pieces: tuple[str, ...] = ()
    first_row: int | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.pieces)[:_MAX_CHARS]

    def documentation(self, signs: Sequence[str]) -> str:
        """The comments among them that document, without their signs."""
        if not self.pieces:
            return ""
        comments = [each for each in self.pieces if _is_comment(each) and each.startswith(tuple(signs))]
        return "\n".join(_plain(each) for each in comments).strip()[:_MAX_CHARS]

    def attributes(self) -> tuple[str, ...]:
        """The others, each on one line."""
        return tuple(shortened(each) for each in self.pieces if not _is_comment(each))


_NOTHING = Lead()


class Leads:
    """All such pieces of a file, found by the row in which they end."""

    def __init__(self, nodes: Sequence[Node], data: bytes) -> None:
        self._data = data
        self._by_last_row: dict[int, tuple[int, str]] = {}
        self._by_end: dict[int, Node] = {}
        for node in nodes:
            first, last = node.start_point, node.end_point
            row = last.row - (last.column == 0 and last.row > first.row)
            if data[node.start_byte - first.column : node.start_byte].strip():
                self._by_end[node.end_byte] = node
                continue  # It stands behind other code.
            start, text = self._by_last_row.get(row, (first.row, ""))
            self._by_last_row[row] = (min(start, first.row), f"{text} {slice_of(node, data)}".strip())

    @cached_property
    def _empty_rows(self) -> frozenset[int]:
        return frozenset(row for row, line in enumerate(self._data.split(b"\n")) if not line.strip())

    def above(self, node: Node, row: int) -> Lead:
        """What stands above a node without an empty line between, and on its own line before it.

        Args:
            row: in which the node begins.
        """
        if not self._by_last_row and not self._by_end:
            return _NOTHING
        pieces: list[str] = []
        top: int | None = None
        beside = self._beside(node)
        same = self._by_last_row.get(row)
        if same is not None and same[0] < row:
            pieces.append(same[1])
            top = row = same[0]
        while (piece := self._by_last_row.get(row - 1) or self._apart(row)) is not None:
            row = top = piece[0]
            pieces.append(piece[1])
        return Lead((*reversed(pieces), *beside), top)

    def _apart(self, row: int) -> tuple[int, str] | None:
        """A comment that documents what comes next, one empty line above it; what begins a file speaks of the file."""
        comment = self._by_last_row.get(row - 2)
        if row < _LEAST_ROWS_ABOVE or comment is None or not comment[1].startswith(_DOCUMENTS_NEXT):
            return None
        return comment if comment[0] > 0 and row - 1 in self._empty_rows else None

    def _beside(self, node: Node) -> tuple[str, ...]:
        """What stands on the same line before it: `{ #[test] fn f() {} }`."""
        if not self._by_end:
            return ()
        pieces: list[str] = []
        at = node.start_byte
        while len(pieces) < _MOST_BESIDE:
            blank = self._data[max(0, at - _MAX_BLANK) : at]
            at -= len(blank) - len(blank.rstrip(b" \t"))
            if (before := self._by_end.get(at)) is None:
                break
            pieces.append(slice_of(before, self._data))
            at = before.start_byte
        return tuple(reversed(pieces))


def _is_comment(text: str) -> bool:
    return text.startswith(_COMMENTS) and not text.startswith("#[")


def _plain(comment: str) -> str:
    text = comment.removeprefix("/**").removeprefix("/*").removesuffix("*/")
    return "\n".join(line.strip().lstrip("/#*!").strip() for line in text.strip().splitlines())
