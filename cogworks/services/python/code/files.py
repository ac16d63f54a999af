"""Which Python files a repository has, and what they hold; nothing is read through a symbolic link."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.services.python.code.facts import FileFacts, Unreadable
from cogworks.services.python.code.gathering import MAX_BYTES
from cogworks.services.python.syntax import is_python
from cogworks.services.shelf import MAX_KEPT_BYTES, ContentShelf

_NEVER = frozenset({"node_modules", "site-packages", "__pycache__", "__pypackages__"})
_UNLESS_PACKAGE = frozenset({"build", "dist", "venv", "env"})
"""Made by tools, unless it is a package of that name."""


class Listing(NamedTuple):
    """The Python files of a repository."""

    paths: tuple[str, ...]
    """Sorted."""
    unread: tuple[tuple[str, Unreadable], ...] = ()
    """What looks like one and is none: links, directories, names that cannot be written down."""


def listing(folder: Path) -> Listing:
    """The Python files below a directory, without what is hidden, built or installed there."""
    paths: list[str] = []
    unread: list[tuple[str, Unreadable]] = []
    for path, entry in _entries(folder):
        reason = _oddity(path, entry)
        if reason is None:
            paths.append(path)
        else:
            unread.append((_writable(path), Unreadable(reason)))
    return Listing(tuple(sorted(paths)), tuple(sorted(unread)))


def contents(folder: Path, path: str) -> bytes | Unreadable:
    """What a file holds."""
    try:
        status = os.lstat(folder / path)
    except (OSError, ValueError):
        return Unreadable("there is no such file in the working copy")
    if stat.S_ISDIR(status.st_mode):
        return Unreadable("is a directory")
    if status.st_size > MAX_BYTES:
        return Unreadable(f"is longer than {MAX_BYTES} bytes")
    file = read_file(folder, path)
    return Unreadable("is no regular file, or a symbolic link leads to it") if file is None else file.data


def _entries(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything below a directory that may be a Python file."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            entries = sorted(os.scandir(folder / inside), key=lambda entry: entry.name)
        except OSError:
            # Closed to us, or gone in this moment; what is not seen is not answered for.
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and inside:
            continue
        for entry in entries:
            path = f"{inside}/{entry.name}" if inside else entry.name
            if is_python(entry.name) and not entry.name.startswith("."):
                yield path, entry
            if entry.is_dir(follow_symlinks=False) and _is_source(folder / path, entry.name):
                waiting.append(path)


def _is_source(place: Path, name: str) -> bool:
    if name.startswith(".") or name in _NEVER or name.endswith(".egg-info"):
        return False
    return name not in _UNLESS_PACKAGE or (place / "__init__.py").is_file()


def _oddity(path: str, entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "is a symbolic link; nothing is read through it"
    if entry.is_dir(follow_symlinks=False):
        return "is a directory"
    if not entry.is_file(follow_symlinks=False):
        return "is no regular file"
    return path_problem(path)


def _writable(path: str) -> str:
    """A path as text, whatever bytes its name is made of."""
    return path.encode(errors="backslashreplace").decode()


def own(paths: Sequence[str]) -> tuple[str, ...]:
    """Those of some paths that are Python files by name, each once, sorted."""
    return tuple(sorted({path for path in paths if is_python(path)}))


Reading = Callable[[bytes], FileFacts | Unreadable]


class Shelf:
    """Answers as the reading it was given does, from memory where it can; what was asked longest ago goes first."""

    def __init__(self, read: Reading, *, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._read = read
        self._kept = ContentShelf[FileFacts | Unreadable](max_bytes=max_bytes)

    def facts(self, data: bytes) -> FileFacts | Unreadable:
        """What a file with this content says."""
        return self._kept.facts("python", data, lambda: self._read(data))
