"""Which tree the files on the disk make, by name, without reading again what git knows to be unchanged."""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from cogworks.codebase.confined import read_file
from cogworks.codebase.git import Git, spare_index, zsplit
from cogworks.codebase.making import content_digest
from cogworks.codebase.reading import read_text
from cogworks.codebase.unwritable import SUBMODULE

Found = TypeVar("Found")
Runs = Callable[..., str]
"""Runs git in the worktree."""
_ATTRIBUTES = ":(glob)**/.gitattributes"
_CONVERTING = frozenset({"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"})
_SECOND = 1_000_000_000
_LEAVES_AS_IT_IS = "text=auto"
"""What has other ends of lines in the repository keeps them."""


def next_tree(run: Runs, top: Path) -> str:
    """The tree the next commit would have: what is tracked, and what is new and not ignored."""
    with _index(run, top) as (known, extra):
        if not known:
            run("read-tree", run("write-tree").strip(), extra=extra)
        run("add", "--all", extra=extra)
        return run("write-tree", extra=extra).strip()


def whole_tree(run: Runs, top: Path) -> str:
    """The tree of every file on the disk, ignored ones included."""
    with _index(run, top) as (known, extra):
        # Starting from the commit keeps submodules, whose files are not checked out.
        run("read-tree", *(["--reset"] if known else []), "HEAD", extra=extra)
        run("add", "--all", "--force", extra=extra)
        return run("write-tree", extra=extra).strip()


@contextmanager
def _index(run: Runs, top: Path) -> Iterator[tuple[bool, Mapping[str, str]]]:
    """Whether an index knows the files, and the environment of git commands that use it; else it is empty."""
    with spare_index() as extra:
        own = Path(run("rev-parse", "--path-format=absolute", "--git-path", "index").removesuffix("\n"))
        doubtful = _doubtful(run, top) if own.is_file() and not _is_converted(run, top) else None
        if doubtful is not None:
            shutil.copy2(own, extra["GIT_INDEX_FILE"])
        if doubtful:
            # Entries without marks.
            run("update-index", "-z", "--index-info", extra=extra, stdin="".join(doubtful))
        yield doubtful is not None, extra


_ENTRY = re.compile(r"([0-7]{6} [0-9a-f]+ [0-3]\t([^\0]+)\0)  ctime: (\d+):(\d+)\n")


def _doubtful(run: Runs, top: Path) -> list[str] | None:
    """The entries of the worktree's index that were changed since at a moment that git does not look at, as `update-index
    --index-info` takes them.

    None where git describes its index, which it may at any time, in a form that is not known here.
    """
    listed = run("ls-files", "--stage", "--debug", "-z")
    entries = _ENTRY.findall(listed)
    if len(entries) != listed.count("\0"):
        return None
    return [
        entry
        for entry, path, seconds, nanoseconds in entries
        if _changed_ns(f"{top}/{path}") != int(seconds) * _SECOND + int(nanoseconds)
        and not entry.startswith(SUBMODULE)
    ]


def _changed_ns(place: str) -> int:
    """When a file, its mode or its name was changed last; 0: there is none."""
    try:
        return os.lstat(place).st_ctime_ns
    except OSError:
        return 0


def _is_converted(run: Runs, top: Path) -> bool:
    """Whether attributes may make something else of a file than what lies there: then what is stored must be computed again."""
    listed = run("ls-files", "-z", "--cached", "--others", "--", _ATTRIBUTES)
    return any(_converts(read_text(top, path)) for path in dict.fromkeys(zsplit(listed)))


def _converts(attributes: str | None) -> bool:
    """Of the text of a file of attributes; None: it cannot be read, and git may have it from elsewhere."""
    if attributes is None:
        return True
    lines = (line.split() for line in attributes.splitlines() if not line.lstrip().startswith("#"))
    return any(
        word.partition("=")[0] in _CONVERTING and word != _LEAVES_AS_IT_IS
        for words in lines
        for word in words
    )


def tree_name(git: Git, folder: Path) -> str:
    """64 hex digits; another for any changed, new or deleted file that git does not ignore.

    Raises:
        GitFailed: the folder is in no git repository, or that one has no commit yet.
    """
    root = Path(git.run("rev-parse", "--show-toplevel", cwd=folder).rstrip("\n"))
    named = sha256(git.run("rev-parse", "HEAD^{tree}", cwd=root).encode())
    changed = git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", cwd=root)
    for entry in sorted(filter(None, changed.split("\0"))):
        # The length keeps one entry from being read as another.
        line = f"{len(entry)} {entry} {_content(root, entry[3:])}\n"
        named.update(line.encode(errors="surrogateescape"))
    return named.hexdigest()


def _content(root: Path, path: str) -> str:
    if file := read_file(root, path):
        return f"{file.mode:o} {sha256(file.data).hexdigest()}"
    place = root / path
    return f"-> {place.readlink()}" if place.is_symlink() else "none"


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
        tree = ask()
        if self._name(lying) == name:
            self._known[name] = tree
        return tree

    def _name(self, lying: Lying) -> str:
        digest = hashlib.sha256()
        places = [self._top / path for path in lying.tracked]
        places += [self._top / path for path in lying.untracked if path.rpartition("/")[2] == _RULES]
        for place in (*places, *(folder / each for folder in self._folders for each in _OF_GIT)):
            digest.update(f"{place}\0{_digest(place)}\0".encode(errors="surrogateescape"))
        digest.update("\0".join(lying.submodules).encode(errors="surrogateescape"))
        return digest.hexdigest()


class KnownStaged(Generic[Found]):
    """What is staged, compared with commits: it is another when the index is, which git writes anew whenever something is staged."""

    def __init__(self, folder: Path) -> None:
        """Args:
        folder: of git, for this worktree.
        """
        self._index = folder / "index"
        self._known: dict[tuple[str, str], Found] = {}

    def since(self, base: str, ask: Callable[[], Found]) -> Found:
        """What is other than in a commit, which git is asked for where it was not with this index."""
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
