"""What looks look at, and how they read what a model wrote."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cogworks.codebase.treefacts import Hit, PastCommit
from cogworks.sight.cards import Outlined
from cogworks.sight.index import HIDDEN, Index
from cogworks.sight.kinds import Kind

_KINDS = (Kind.SOURCE, Kind.TEST, Kind.CONFIGURATION, Kind.DOCUMENT)
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,200}$")


class Past(Protocol):
    """What looks ask a repository besides its files."""

    def grep(self, text: str, *, is_regex: bool) -> Sequence[Hit] | str:
        """The lines that hold a text, by path and line; why it could not be looked for."""

    def commits(self, path: str, limit: int) -> Sequence[tuple[str, PastCommit]]:
        """The commits that changed a path, the newest first: id and what it was."""

    def patch(self, oid: str) -> str | None:
        """What a commit before the present state changed; None: there is no such commit."""


@dataclass(frozen=True)
class Room:
    """Where looks look."""

    index: Index
    past: Past
    hidden: frozenset[str] = frozenset()
    """Paths that are not even named."""

    def sees(self, path: str) -> bool:
        return not path.startswith(HIDDEN) and path not in self.hidden

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.index.documents if self.sees(each.path)]


def definitions_in(path: str, room: Room) -> tuple[Outlined, ...]:
    """The definitions of a file; none where it cannot be read."""
    card = room.index.cards([path]).get(path)
    return card.definitions if card else ()


def last_of(name: str) -> str:
    """The last name of a qualified one; empty where there is none."""
    match = _NAME.search(name.strip().removesuffix("()"))
    return match.group() if match else ""


def plain(path: str) -> str:
    """A path as git has it; empty for the root."""
    text = path.strip().removeprefix("./").rstrip("/")
    return "" if text == "." else posixpath.normpath(text) if text else ""


def rank(path: str, room: Room) -> int:
    """What people write by hand comes first."""
    kind = room.index.kind(path)
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
