"""Which settings file of a repository a tool would obey for a file, read as data: nothing outside is ever opened."""

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

PYPROJECT = "pyproject.toml"
RUFF_NAMES = (".ruff.toml", "ruff.toml", PYPROJECT)
"""In this order, per directory."""
MAX_CHAIN = 10
"""So many files may extend one another."""


class Settings(Value):
    """One settings file, and every file that it takes over."""

    path: str
    problem: str = ""
    """Why it cannot be used; empty when it can."""
    chain: tuple[str, ...] = ()
    """All files that are read for it, itself first."""


def read_toml(root: Path, path: str) -> Mapping[str, Any] | str:
    """The tables of a TOML file of the repository, or why there are none."""
    file = read_file(root, path)
    if file is None:
        return "it is no regular file of the repository"
    try:
        return tables_in(file.data.decode())
    except (ValueError, RecursionError) as error:
        return f"it cannot be read: {error}"


def tool_table(tables: Mapping[str, Any], *names: str) -> Mapping[str, Any] | None:
    """A table below `[tool]` of a `pyproject.toml`; None when there is none."""
    table: Any = tables.get("tool")
    for name in names:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else None


def ruff_settings(root: Path, path: str) -> Settings | None:
    """The settings that ruff obeys for a file: those nearest above it; None when the repository has none."""
    for directory in _upwards(path):
        for name in RUFF_NAMES:
            place = posixpath.join(directory, name)
            if not (root / place).is_symlink() and not (root / place).is_file():
                continue
            tables = read_toml(root, place)
            if isinstance(tables, str):
                return Settings(path=place, problem=tables)
            if name != PYPROJECT or tool_table(tables, "ruff") is not None:
                return _chained(root, place)
    return None


def _upwards(path: str) -> list[str]:
    """The directories above a file, nearest first; the last is the repository's own, which is empty."""
    directories = []
    while path:
        path = posixpath.dirname(path)
        directories.append(path)
    return directories


def _chained(root: Path, first: str) -> Settings:
    chain: list[str] = []
    place: str | None = first
    while place is not None:
        if place in chain or len(chain) == MAX_CHAIN:
            return Settings(path=first, problem=f"{chain[-1]} extends {place}, and that does not end")
        chain.append(place)
        tables = read_toml(root, place)
        if isinstance(tables, str):
            return Settings(path=first, problem=f"{place}: {tables}")
        target = _extended(tables, place)
        if target is None:
            break
        place = _inside(place, target)
        if place is None:
            text = f"{chain[-1]} extends {target!r}, which is not a plain path inside the repository"
            return Settings(path=first, problem=text)
    return Settings(path=first, chain=tuple(chain))


def _extended(tables: Mapping[str, Any], place: str) -> Any:
    is_pyproject = posixpath.basename(place) == PYPROJECT
    own = (tool_table(tables, "ruff") or {}) if is_pyproject else tables
    return own.get("extend")


def _inside(place: str, target: Any) -> str | None:
    """The path that `extend` means; None when it leads outside or depends on the machine."""
    if not isinstance(target, str) or target.startswith(("/", "~")) or "$" in target:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
    return None if path_problem(path) is not None else path


def by_settings(root: Path, paths: Sequence[str]) -> Mapping[Settings | None, Sequence[str]]:
    """Files by the settings that ruff obeys for them; None: the repository has none."""
    groups: dict[Settings | None, list[str]] = {}
    for path in paths:
        groups.setdefault(ruff_settings(root, path), []).append(path)
    return groups
