"""Keeps what files say for the length of the process, by their content: no file is parsed twice."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

from cogworks.services.python.code.facts import FileFacts, Unreadable

MAX_KEPT_BYTES = 64_000_000
"""Of source text; what it says takes about twice the room."""

Reading = Callable[[bytes], FileFacts | Unreadable]


class Shelf:
    """Answers as the reading it was given does, from memory where it can; what was asked longest ago goes first."""

    def __init__(self, read: Reading, *, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._read = read
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, tuple[int, FileFacts | Unreadable]] = OrderedDict()
        self._bytes = 0

    def facts(self, data: bytes) -> FileFacts | Unreadable:
        """What a file with this content says."""
        key = hashlib.blake2b(data, digest_size=20).digest()
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept[1]
        facts = self._read(data)
        self._kept[key] = (len(data), facts)
        self._bytes += len(data)
        while self._bytes > self._max_bytes:
            _, (size, _) = self._kept.popitem(last=False)
            self._bytes -= size
        return facts
