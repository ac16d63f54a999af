"""What git said of a worktree, so that it is asked once for each state of its files or of its index."""

import hashlib
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.lying_copy import content_digest

_RULES = ".gitattributes"
_OF_GIT = ("config", "config.worktree", "info/attributes")
"""Beside the files themselves, what decides about the tree that they make."""


class Lying(NamedTuple):
    """What lies in a worktree."""

    tracked: Sequence[str]
    submodules: Sequence[str]
    """As the index has them; their files are not checked out."""
    untracked: Sequence[str]


class KnownTrees:
    """Every file is read at each question: time stamps prove nothing."""

    def __init__(self, top: Path, folder: Path) -> None:
        """Args:
        folder: of git, for this worktree.
        """
        self._top = top
        self._folders = (folder, _shared(folder))
        self._known: dict[str, str] = {}

    def tree_of(self, lying: Lying, ask: Callable[[], str]) -> str:
        """The tree that git makes of these files, which it is asked for where they never lay there so."""
        name = self._name(lying)
        if name in self._known:
            return self._known[name]
        found = ask()
        if self._name(lying) == name:
            self._known[name] = found
        return found

    def _name(self, lying: Lying) -> str:
        digest = hashlib.sha256()
        places = [self._top / path for path in lying.tracked]
        places += [self._top / path for path in lying.untracked if path.rpartition("/")[2] == _RULES]
        for place in (*places, *(folder / each for folder in self._folders for each in _OF_GIT)):
            digest.update(f"{place}\0{_digest(place)}\0".encode(errors="surrogateescape"))
        digest.update("\0".join(lying.submodules).encode(errors="surrogateescape"))
        return digest.hexdigest()


class KnownDiffs:
    """What is staged, compared with commits: it is another when the index is, which git writes anew whenever something is staged."""

    def __init__(self, folder: Path) -> None:
        """Args:
        folder: of git, for this worktree.
        """
        self._index = folder / "index"
        self._known: dict[tuple[str, str], str] = {}

    def diff_from(self, base: str, ask: Callable[[], str]) -> str:
        """The diff from a commit, which git is asked for where it was not with this index."""
        name = (base, _digest(self._index))
        if name not in self._known:
            self._known[name] = ask()
        return self._known[name]


def _shared(folder: Path) -> Path:
    """What the worktrees of one repository have in common."""
    try:
        return folder / (folder / "commondir").read_text(encoding="utf-8").strip()
    except OSError:
        return folder


def _digest(place: Path) -> str:
    try:
        mode = place.lstat().st_mode
        return f"{stat.S_IFMT(mode)} {mode & stat.S_IXUSR} {content_digest(place, mode)}"
    except OSError:
        return ""
