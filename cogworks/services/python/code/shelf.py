"""Keeps what files say for the length of the process, by their content: no file is parsed twice."""

from collections.abc import Callable

from cogworks.services.python.code.facts import FileFacts, Unreadable
from cogworks.services.shelf import MAX_KEPT_BYTES, ContentShelf

Reading = Callable[[bytes], FileFacts | Unreadable]


class Shelf:
    """Answers as the reading it was given does, from memory where it can; what was asked longest ago goes first."""

    def __init__(self, read: Reading, *, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._read = read
        self._kept = ContentShelf[FileFacts | Unreadable](max_bytes=max_bytes)

    def facts(self, data: bytes) -> FileFacts | Unreadable:
        """What a file with this content says."""
        return self._kept.facts("python", data, lambda: self._read(data))
