"""Where the modules of a built project lie in its repository, and which of its files only the build made."""

import posixpath
from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

_SRC = "src"


class Placed(NamedTuple):
    """What a build adds to the files of a repository."""

    sources: tuple[str, ...]
    """Folders of the repository that modules are imported from, those with most files first; empty text: its root."""
    made: Mapping[str, bytes]
    """Repository-relative path -> content of what the build made there."""
    unplaced: tuple[str, ...]
    """Modules of the wheel whose sources are nowhere to be found below a folder of that name."""


def placed(modules: Mapping[str, bytes], files: Collection[str]) -> Placed:
    """Find the folders below which the repository has the files of the wheel, top-level name by top-level name.

    Args:
        modules: of the wheel: path below site packages -> content.
        files: of the repository, as paths from its root.
    """
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(posixpath.basename(path), []).append(path)
    votes: dict[str, Counter[str]] = {}
    for path in modules:
        top = path.partition("/")[0]
        ending = f"/{path}"
        for source in by_name.get(posixpath.basename(path), ()):
            if source == path or source.endswith(ending):
                votes.setdefault(top, Counter())[source[: -len(path)].rstrip("/")] += 1
    folders = {top: _best(counted) for top, counted in votes.items()}
    made: dict[str, bytes] = {}
    unplaced: set[str] = set()
    for path, content in modules.items():
        top = path.partition("/")[0]
        if top in folders:
            place = posixpath.join(folders[top], path)
            if place not in files:
                made[place] = content
        elif _is_whole_without_sources(top, modules):
            # A module that only the build makes, an extension above all, lies beside the others.
            made[posixpath.join(_home(folders, files), path)] = content
        else:
            unplaced.add(top)
    weights = Counter(
        folders[path.partition("/")[0]] for path in modules if path.partition("/")[0] in folders
    )
    if not weights and made:
        weights[_home(folders, files)] += 1
    sources = tuple(folder for folder, _ in sorted(weights.items(), key=lambda each: (-each[1], each[0])))
    return Placed(sources, made, tuple(sorted(unplaced)))


def _best(counted: Counter[str]) -> str:
    """Most files, then the shortest path: a copy of a package among examples is no home of it."""
    return min(counted, key=lambda folder: (-counted[folder], folder.count("/"), len(folder), folder))


def _is_whole_without_sources(top: str, modules: Mapping[str, bytes]) -> bool:
    """Whether nothing of a top-level name is Python that somebody could have written elsewhere in the repository."""
    own = [path for path in modules if path.partition("/")[0] == top]
    return not any(path.endswith(".py") for path in own) or len(own) == 1


def _home(folders: Mapping[str, str], files: Collection[str]) -> str:
    if folders:
        return Counter(folders.values()).most_common(1)[0][0]
    return _SRC if any(path.startswith(f"{_SRC}/") for path in files) else ""
