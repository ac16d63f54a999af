"""What resolving an import may look at."""

import posixpath
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cogworks.grammars.facts import Imported


class Tree(NamedTuple):
    """The files of a repository as far as imports may mean them."""

    paths: frozenset[str]
    """Every source file, repository-relative."""
    text: Callable[[str], str | None]
    """A file's text; None: there is no such regular file, or it is too long. For settings such as `go.mod`."""
    packages: Callable[[str], str]
    """What a source file says it is part of."""
    listed: tuple[str, ...] = ()
    """Settings files that were found, e.g. `web/tsconfig.json`."""


Resolve = Callable[[str, Imported], tuple[str, ...]]
"""(asking file, import) -> files of the repository, most likely first; none: it comes from elsewhere, or nobody can say."""
Resolving = Callable[[Tree], Resolve]


def unresolved(_: Tree) -> Resolve:
    """For languages whose imports name no files."""
    return lambda _asking, _imported: ()


def beside(asking: str, path: str) -> str:
    """A path as seen from the folder of a file; `..` beyond the repository stays in front."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(asking), path))


def by_folder(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Folder -> the files right in it, sorted; the repository itself is the empty text."""
    files_by_folder: dict[str, list[str]] = {}
    for path in sorted(paths):
        files_by_folder.setdefault(posixpath.dirname(path), []).append(path)
    return {folder: tuple(files) for folder, files in files_by_folder.items()}


def nearest(asking: str, settings: Iterable[str]) -> str | None:
    """The settings file in the deepest folder around a file."""
    around = [
        each
        for each in settings
        if not (folder := posixpath.dirname(each)) or asking.startswith(f"{folder}/")
    ]
    return max(around, key=len, default=None)
