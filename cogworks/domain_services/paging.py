"""Questions about many files, asked about some of them at a time: no answer is longer than a message may be."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from cogworks.domain_services.messages import Message

Params = TypeVar("Params", bound=Message)
PAGE_BYTES = 1_500_000
"""Of source text. What is said of it takes two to five times the room, and a message has 16 MiB."""
PAGE_FILES = 2_000


def in_pages(params: Params, top: Path) -> Iterator[Params]:
    """The same question, about some of its `artifacts` each; a question about everything stays one.

    Args:
        top: the folder that the artifacts lie in.
    """
    for paths in pages(getattr(params, "artifacts", ()), top):
        yield params.model_copy(update={"artifacts": paths}) if paths else params


def pages(paths: Sequence[str], top: Path) -> Iterator[tuple[str, ...]]:
    """The paths in their order, cut where there would be too much to read; one empty page where there are none."""
    page: list[str] = []
    held = 0
    for path in paths:
        size = _size(top / path)
        if page and (held + size > PAGE_BYTES or len(page) == PAGE_FILES):
            yield tuple(page)
            page, held = [], 0
        page.append(path)
        held += size
    if page or not paths:
        yield tuple(page)


def _size(place: Path) -> int:
    try:
        return place.lstat().st_size
    except (OSError, ValueError):
        # The service says what is wrong with it.
        return 0
