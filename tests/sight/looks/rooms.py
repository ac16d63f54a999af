"""Rooms for the tests of looks."""

import re
from collections.abc import Mapping, Sequence

from cogworks.codebase.treefacts import Hit, PastCommit
from cogworks.sight.looks.room import Room
from tests.sight.trees import SHOP, index_of

COMMIT = "ab" * 20


class MemoryPast:
    """Finds text in a mapping; obeys `cogworks.sight.looks.showing.Past`."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def grep(self, text: str, *, is_regex: bool) -> Sequence[Hit] | str:
        try:
            pattern = re.compile(text if is_regex else re.escape(text))
        except re.error as error:
            return f"{text!r} cannot be looked for: {error}"
        return [
            Hit(path, number, line)
            for path in sorted(self._texts)
            for number, line in enumerate(self._texts[path].splitlines(), 1)
            if pattern.search(line)
        ]

    def commits(self, path: str, limit: int) -> Sequence[tuple[str, PastCommit]]:
        return [(COMMIT, PastCommit(f"Change {path}", (path,)))][:limit] if path in self._texts else []

    def patch(self, oid: str) -> str | None:
        return "--- a/src/shop/mail.py\n+++ b/src/shop/mail.py\n" if COMMIT.startswith(oid) else None


def room(texts: Mapping[str, str] = SHOP, hidden: frozenset[str] = frozenset()) -> Room:
    """Where looks look: these files."""
    return Room(index_of(texts), MemoryPast(texts), hidden)
