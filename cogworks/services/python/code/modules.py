"""Which module a file is, and which file an import means, judged by paths alone."""

import sys
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache

from cogworks.services.python.code.facts import Imported

_SOURCES = "src"
_PACKAGE = "__init__"
_REMEMBERED_FOLDERS = 4096


class Modules:
    """The Python files of a repository by module.

    A file's name counts from the nearest directory `src` that is no package; else from above the outermost package it
    belongs to; else from the root of the repository. Of several files for one name the second is `name#2`: packages go
    first, then source before stubs, then by path.

    A *stem* is where an import leads: a path without suffix, for a package its directory. A directory without a file of
    its own is one as well, as long as there are Python files below it.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """Args:
        paths: of all Python files, relative to the repository.
        """
        ordered = sorted(set(paths), key=_precedence)
        self._packages = frozenset(_parent(path) for path in ordered if _is_package(path))
        self._directories = frozenset(
            above for path in ordered for above in _with_ancestors(_parent(path)) if above
        )
        self._files: dict[str, str] = {}
        names: dict[str, str] = {}
        taken: set[str] = set()
        for path in ordered:
            self._files.setdefault(_stem(path), path)
            names[path] = unused(self._plain_name(path), taken)
            taken.add(names[path])
        self.names: Mapping[str, str] = {path: names[path] for path in sorted(names)}
        """Path -> module, unique, in the order of the paths."""
        self._roots_of = lru_cache(_REMEMBERED_FOLDERS)(self._import_roots)
        self._sources = tuple(sorted({self._root(path) for path in ordered}))

    def file(self, stem: str) -> str | None:
        """The file behind a stem; None for a directory without one."""
        return self._files.get(stem)

    def inside(self, stem: str, name: str) -> str | None:
        """The stem of a submodule."""
        below = f"{stem}/{name}" if stem else name
        return below if below in self._files or below in self._directories else None

    def find(self, name: str, *, asking: str) -> str | None:
        """The stem that an absolute import in the file `asking` means; None: nothing of this repository.

        The file's own directory and those above it count as places to import from unless they are packages, nearest first; then
        the directories that modules are named from.
        """
        tail = name.replace(".", "/")
        stems = [f"{root}/{tail}" if root else tail for root in self._roots_of(_parent(asking))]
        file_stem = next((stem for stem in stems if stem in self._files), None)
        if file_stem is not None or name.split(".", 1)[0] in sys.stdlib_module_names:
            return file_stem
        return next((stem for stem in stems if stem in self._directories), None)

    def origin(self, imported: Imported, *, asking: str) -> str | None:
        """The stem of the module that an import statement names, relative ones included."""
        if not imported.level:
            return self.find(imported.module, asking=asking)
        folder = _parent(asking)
        for _ in range(imported.level - 1):
            if not folder:
                return None
            folder = _parent(folder)
        stem = "/".join(part for part in (folder, *imported.module.split(".")) if part)
        return stem if stem in self._files or stem in self._directories or not stem else None

    def spelled(self, imported: Imported, *, asking: str) -> str:
        """The module of an import statement by its full name; as it is written where it is not of this repository."""
        stem = self.origin(imported, asking=asking)
        file = None if stem is None else self._files.get(stem)
        if file is not None:
            return self.names[file]
        if stem and imported.level:
            return stem.removeprefix(f"{self._root(asking)}/").replace("/", ".")
        return "." * imported.level + imported.module

    def _plain_name(self, path: str) -> str:
        root = self._root(path)
        stem = _stem(path)
        inner = stem[len(root) + 1 :] if root else stem
        return inner.replace("/", ".") or _PACKAGE

    def _root(self, path: str) -> str:
        """The directory from which a file's module is named."""
        folder = _parent(path)
        for above in _with_ancestors(folder):
            if above.rpartition("/")[2] == _SOURCES and above not in self._packages:
                return above
        while folder in self._packages and folder:
            folder = _parent(folder)
            if folder not in self._packages:
                return folder
        return ""

    def _import_roots(self, folder: str) -> tuple[str, ...]:
        near = [above for above in _with_ancestors(folder) if above not in self._packages or not above]
        return tuple(dict.fromkeys((*near, *self._sources)))


def unused(name: str, taken: Container[str]) -> str:
    """The name itself, or with the first number that makes it one of its own."""
    if name not in taken:
        return name
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"


def _precedence(path: str) -> tuple[bool, bool, str]:
    return not _is_package(path), path.endswith(".pyi"), path


def _stem(path: str) -> str:
    return _parent(path) if _is_package(path) else path.rpartition(".")[0]


def _is_package(path: str) -> bool:
    return path.rpartition("/")[2].rpartition(".")[0] == _PACKAGE


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _with_ancestors(folder: str) -> list[str]:
    """A directory and those above it, nearest first, the root of the repository (empty) last."""
    folders = [folder]
    while folder:
        folder = _parent(folder)
        folders.append(folder)
    return folders
