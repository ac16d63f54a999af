"""How a sequence is cut into the pages of a Relay connection."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cogworks.hub.refusals import Refusal

T = TypeVar("T")

_VERSION = "cursor:v2"


class InvalidCursor(Refusal):
    """A client sent as a cursor what no page ever gave out."""

    graphql_type = "INVALID_CURSOR_ARGUMENTS"


@dataclass(frozen=True, slots=True)
class Edge(Generic[T]):
    """One item of a page with the cursor that names its place."""

    item: T
    node: object
    cursor: str


@dataclass(frozen=True, slots=True)
class Connection(Generic[T]):
    """One page `items[start:stop]` of the whole sequence."""

    items: Sequence[T]
    start: int
    stop: int
    key: Callable[[T], object]
    node: Callable[[T], object]

    @property
    def page(self) -> Sequence[T]:
        return self.items[self.start : self.stop]

    @property
    def nodes(self) -> list[object]:
        return [self.node(item) for item in self.page]

    @property
    def edges(self) -> list[Edge[T]]:
        return [
            Edge(item=item, node=self.node(item), cursor=self.cursor(position))
            for position, item in enumerate(self.page, start=self.start)
        ]

    def cursor(self, position: int) -> str:
        """The cursor of the item at `position` of the whole sequence."""
        return encode_cursor(position, self.key(self.items[position]))

    @property
    def page_info(self) -> dict[str, object]:
        is_empty = self.start >= self.stop
        return {
            "hasNextPage": self.stop < len(self.items),
            "hasPreviousPage": self.start > 0,
            "startCursor": None if is_empty else self.cursor(self.start),
            "endCursor": None if is_empty else self.cursor(self.stop - 1),
        }


def encode_cursor(position: int, key: object) -> str:
    """An opaque cursor that still finds its place when earlier items appear or vanish."""
    return base64.b64encode(f"{_VERSION}:{position}:{key}".encode()).decode("ascii")


def decode_cursor(cursor: str) -> tuple[int, str] | None:
    """Position and key of a cursor; None when the text is no cursor of ours."""
    try:
        decoded = base64.b64decode(cursor, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    head, _, key = decoded.removeprefix(_VERSION + ":").partition(":")
    return (int(head), key) if decoded.startswith(_VERSION + ":") and head.isdecimal() else None


def _identity(item: object) -> object:
    return item


def connect(
    items: Sequence[T],
    paging: dict[str, Any],
    *,
    key: Callable[[T], object],
    node: Callable[[T], object] = _identity,
) -> Connection[T]:
    """The page of `items` that the arguments `first`, `after`, `last` and `before` ask for.

    Args:
        items: the whole sequence in its final order.
        paging: the field's arguments; other names are ignored, absent bounds leave that side open.
        key: what identifies an item for ever; cursors are made of it.
        node: what a client sees of an item, when that is not the item itself.

    A cursor whose item is gone marks the place where the item was.

    Raises:
        InvalidCursor: `after` or `before` is not a cursor of this hub.
    """
    start, stop = 0, len(items)
    if (after := paging.get("after")) is not None:
        start = _after(items, after, key)
    if (before := paging.get("before")) is not None:
        stop = max(start, _before(items, before, key))
    if (first := paging.get("first")) is not None:
        stop = min(stop, start + first)
    if (last := paging.get("last")) is not None:
        start = max(start, stop - last)
    return Connection(items=items, start=start, stop=stop, key=key, node=node)


def _position(items: Sequence[T], cursor: str, key: Callable[[T], object]) -> tuple[int, bool]:
    """Where the cursor's item is, or was, and whether it is still there."""
    decoded = decode_cursor(cursor)
    if decoded is None:
        raise InvalidCursor(f"`{cursor}` does not appear to be a valid cursor.")
    position, wanted = decoded
    if position < len(items) and str(key(items[position])) == wanted:
        return position, True
    place = next((index for index, item in enumerate(items) if str(key(item)) == wanted), None)
    return (min(position, len(items)), False) if place is None else (place, True)


def _after(items: Sequence[T], cursor: str, key: Callable[[T], object]) -> int:
    position, is_there = _position(items, cursor, key)
    return position + 1 if is_there else position


def _before(items: Sequence[T], cursor: str, key: Callable[[T], object]) -> int:
    return _position(items, cursor, key)[0]
