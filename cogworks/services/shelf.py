"""Keeps what files say for the length of a process, by their content: no file is read twice."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

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
