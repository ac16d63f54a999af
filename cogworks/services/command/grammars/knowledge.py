"""What a machine lends to the operations of this package, and how it remembers."""

from collections.abc import Callable
from typing import Protocol

from cogworks.grammars.facts import FileFacts, Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.spec import LanguageSpec
from cogworks.services.shelf import MAX_KEPT_BYTES, ContentShelf

Reading = Callable[[LanguageSpec, bytes], FileFacts | Unreadable]


class Reads(Protocol):
    """What an operation needs of the service's machine."""

    @property
    def source_facts(self) -> Reading:
        """What a file says: `gather`, or `Shelf().facts` for a process that answers more than once."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Of the names of the files that are answered for; none: every file of a known language."""


class Shelf:
    """Reads each file once, by its content."""

    def __init__(self, read: Reading = gather, *, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._read = read
        self._kept = ContentShelf[FileFacts | Unreadable](max_bytes=max_bytes)

    def facts(self, spec: LanguageSpec, data: bytes) -> FileFacts | Unreadable:
        """What a file with this content says."""
        return self._kept.facts(spec.name, data, lambda: self._read(spec, data))
