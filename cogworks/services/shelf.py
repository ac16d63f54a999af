"""Keeps what files say for the length of a process, by their content: no file is read twice."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

Facts = TypeVar("Facts")
MAX_KEPT_BYTES = 64_000_000
"""Of source text; what it says takes about twice the room."""


class ContentShelf(Generic[Facts]):
    """Answers from memory where it can; what was asked longest ago goes first."""

    def __init__(self, *, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[str, bytes], tuple[int, Facts]] = OrderedDict()
        self._bytes = 0

    def facts(self, language: str, data: bytes, read: Callable[[], Facts]) -> Facts:
        """What a file of this language with this content says; `read` is called where that is not known."""
        key = (language, hashlib.blake2b(data, digest_size=20).digest())
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept[1]
        facts = read()
        self._kept[key] = (len(data), facts)
        self._bytes += len(data)
        while self._bytes > self._max_bytes:
            _, (size, _) = self._kept.popitem(last=False)
            self._bytes -= size
        return facts


Relation = tuple[str, str, Any]
"""Source, target, kind."""
Symbols = Mapping[str, Mapping[str, Any]]
"""Id -> the fields of a `Symbol`."""
_MAX_DIGITS = 9


class Neighbourhood(NamedTuple):
    """The symbols near the seeds."""

    hops: Mapping[str, int]
    """Id -> distance from the nearest seed; by distance, then by id."""
    is_truncated: bool
    """Whether more lie within the distance."""


def neighbours_of(relations: Iterable[Relation]) -> Mapping[str, Collection[str]]:
    """Who is one step away from whom, whichever way the relation goes."""
    found: dict[str, set[str]] = {}
    for source, target, _ in relations:
        found.setdefault(source, set()).add(target)
        found.setdefault(target, set()).add(source)
    return found


def neighbourhood(
    neighbours: Mapping[str, Collection[str]], seeds: Iterable[str], *, hops: int, max_nodes: int
) -> Neighbourhood:
    """Breadth first from the seeds; of one distance the first by id are taken while there is room."""
    found: dict[str, int] = {}
    layer = sorted(set(seeds))
    for hop in range(hops + 1):
        room = max_nodes - len(found)
        found |= dict.fromkeys(layer[:room], hop)
        if len(layer) > room:
            return Neighbourhood(found, is_truncated=True)
        layer = sorted({each for near in layer for each in neighbours.get(near, ())} - found.keys())
    return Neighbourhood(found, is_truncated=False)


def symbol_at(symbols: Symbols, place: str) -> str | None:
    """The innermost symbol at `<artifact>:<line>`."""
    artifact, _, number = place.rpartition(":")
    if not number.isdecimal() or len(number) > _MAX_DIGITS:
        return None
    line = int(number)
    around = [
        (symbol["lines"][1] - symbol["lines"][0], symbol["parent"] is None, each)
        for each, symbol in symbols.items()
        if symbol["artifact"] == artifact and symbol["lines"][0] <= line <= symbol["lines"][1]
    ]
    return min(around)[2] if around else None
