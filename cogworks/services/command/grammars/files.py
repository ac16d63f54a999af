"""Which source files a repository has, and what they hold; nothing is read through a symbolic link."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.grammars.facts import Unreadable
from cogworks.grammars.languages.registry import language_of
from cogworks.grammars.parsing import MAX_BYTES

_NEVER = frozenset(
    {"node_modules", "bower_components", "site-packages", "__pycache__", "vendor", "third_party"}
)
_MADE = frozenset({"build", "dist", "target", "out", "bin", "obj", "coverage"})
"""Made by tools where one of `_MAKERS` stands beside them."""
_MAKERS = frozenset(
    {
        "package.json",
        "Cargo.toml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "CMakeLists.txt",
        "configure",
        "Makefile",
    }
)
_SETTINGS = frozenset(
    {"go.mod", "Cargo.toml", "package.json", "tsconfig.json", "jsconfig.json", "composer.json", "pom.xml"}
)
_MAX_SETTINGS_BYTES = 1_000_000


class Listing(NamedTuple):
    """The source files of a repository."""

    paths: tuple[str, ...]
    """Sorted."""
    settings: tuple[str, ...] = ()
    """Manifests that say where imports lead, sorted."""
    unread: tuple[tuple[str, Unreadable], ...] = ()
    """What looks like a source file and is none: links, directories, names that cannot be written down."""


def listing(folder: Path, root: str = "") -> Listing:
    """The source files below a directory, without what is hidden, built, installed or copied from elsewhere there.

    Args:
        root: only what is below this folder of the repository; paths stay those of the repository.
    """
    paths, settings, unread = list[str](), list[str](), list[tuple[str, Unreadable]]()
    for path, entry in _entries(folder, root.strip("/")):
        reason = _oddity(path, entry)
        is_settings = entry.name in _SETTINGS
        if reason is None:
            (settings if is_settings else paths).append(path)
        elif not is_settings:
            unread.append((path.encode(errors="backslashreplace").decode(), Unreadable(reason)))
    return Listing(tuple(sorted(paths)), tuple(sorted(settings)), tuple(sorted(unread)))


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


def text(folder: Path, path: str) -> str | None:
    """A settings file; None where there is none that can be read."""
    if path_problem(path) is not None:
        return None
    data = contents(folder, path)
    if isinstance(data, Unreadable) or len(data) > _MAX_SETTINGS_BYTES:
        return None
    return data.decode(errors="replace").removeprefix("\ufeff")


def own(paths: Sequence[str]) -> tuple[str, ...]:
    """Those of some paths that are of a known language by name, each once, sorted."""
    return tuple(sorted({path for path in paths if language_of(path) is not None}))


def _entries(folder: Path, root: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    waiting = [root]
    while waiting:
        inside = waiting.pop()
        try:
            entries = sorted(os.scandir(folder / inside), key=lambda entry: entry.name)
        except OSError:
            # Closed to us, or gone in this moment; what is not seen is not answered for.
            continue
        names = {entry.name for entry in entries}
        for entry in entries:
            path = f"{inside}/{entry.name}" if inside else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _SETTINGS or (language_of(entry.name) is not None and entry.name[0] != "."):
                yield path, entry
            if is_folder and _is_source(entry.name, names):
                waiting.append(path)


def _is_source(name: str, beside: set[str]) -> bool:
    if name.startswith(".") or name in _NEVER:
        return False
    return name not in _MADE or beside.isdisjoint(_MAKERS)


def _oddity(path: str, entry: os.DirEntry[str]) -> str | None:
    if entry.is_symlink():
        return "is a symbolic link; nothing is read through it"
    if entry.is_dir(follow_symlinks=False):
        return "is a directory"
    if not entry.is_file(follow_symlinks=False):
        return "is no regular file"
    return path_problem(path)
