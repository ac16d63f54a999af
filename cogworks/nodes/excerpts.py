"""Which files of the repository a prompt shows, chosen the same way every time.

Does the repository have the module that somebody names?
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any

from cogworks.nodes.contract import Workspace
from cogworks.vocabulary import Value

_WORDS = re.compile(r"\w+")


def files_of(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """The files a module name stands for, in the order given.

    A name is a repository-relative file or directory, with or without the file's suffix, or a dotted (`a.b`) or
    `::`-separated module name; leading directories such as `src` may be missing.
    """
    wanted = _forms(name)
    return tuple(path for path in files if _names(path) & wanted)


def close_to(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """At most three files whose names resemble the name, best first."""
    by_stem = {PurePosixPath(path).stem: path for path in sorted(files, reverse=True)}
    for word in reversed(_WORDS.findall(name)):
        if near := get_close_matches(word, list(by_stem), n=3):
            return tuple(by_stem[match] for match in near)
    return ()


def _forms(name: str) -> frozenset[str]:
    plain = name.strip().strip("/").removeprefix("./")
    dotted = plain.replace("::", "/") if "/" in plain else plain.replace("::", "/").replace(".", "/")
    return frozenset(form for form in (plain, dotted) if form)


def _names(path: str) -> frozenset[str]:
    """Every name a path answers to: the path, each of its directories, each without leading directories."""
    parts = PurePosixPath(path).parts
    names: set[str] = set()
    for end in range(1, len(parts) + 1):
        for start in range(end):
            names.add("/".join(parts[start:end]))
    stem = PurePosixPath(path).with_suffix("").parts
    # A package is named by its directory and a module by its file; both without the suffix.
    names.update("/".join(stem[start:]) for start in range(len(stem)))
    return frozenset(names)


MAX_LISTED_FILES = 400
MAX_EXCERPT_CHARS = 120_000
"""All excerpts of one prompt together; about 40 000 tokens."""
MAX_FILE_CHARS = 40_000
"""A longer file is named and not shown."""
_HIDDEN = (".cogworks/", ".git/")
"""Configuration of the pipeline and held-out scenarios are no model's business."""
_OVERVIEWS = frozenset(
    {
        "readme.md",
        "readme.rst",
        "readme",
        "pyproject.toml",
        "cargo.toml",
        "package.json",
        "go.mod",
        "contributing.md",
    }
)
_REST = 4
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


class Excerpt(Value):
    """One file, whole."""

    path: str
    text: str


class RepositoryView(Value):
    """What a prompt shows of a repository."""

    files: tuple[str, ...]
    """Paths, sorted, at most `MAX_LISTED_FILES`."""
    unlisted: int
    """How many more there are."""
    excerpts: tuple[Excerpt, ...]
    left_out: tuple[str, ...]
    """Files that were wanted by name but did not fit."""

    def variables(self) -> dict[str, Any]:
        """What the template part `_repository` needs."""
        return {"repository_view": self.model_dump(mode="json")}


def survey(
    workspace: Workspace,
    *,
    wanted: Sequence[str] = (),
    text: str = "",
    without: Iterable[str] = (),
    hidden: Iterable[str] = (),
) -> RepositoryView:
    """The repository as a prompt shows it.

    Args:
        wanted: paths and module names that matter most, most important first.
        text: what the work is about; files it names come next.
        without: paths that the prompt shows elsewhere.
        hidden: paths that the prompt does not even name.
    """
    apart, unnamed = frozenset(without), frozenset(hidden)
    files = [path for path in _visible(workspace) if path not in unnamed]
    candidates = rank([path for path in files if path not in apart], wanted=wanted, text=text)
    excerpts, left_out = _fill(workspace, candidates)
    return RepositoryView(
        files=tuple(files[:MAX_LISTED_FILES]),
        unlisted=max(0, len(files) - MAX_LISTED_FILES),
        excerpts=excerpts,
        left_out=left_out,
    )


def unshown(
    workspace: Workspace, view: RepositoryView, *, wanted: Sequence[str] = (), text: str = ""
) -> tuple[str, ...]:
    """The files that a view does not show whole, those that matter most first."""
    shown = frozenset(excerpt.path for excerpt in view.excerpts)
    return tuple(path for path in rank(_visible(workspace), wanted=wanted, text=text) if path not in shown)


def rank(files: Sequence[str], *, wanted: Sequence[str], text: str) -> Mapping[str, int]:
    """Path -> tier, in the order in which files are shown.

    0 wanted by name; 1 named in the text; 2 tests of those; 3 what introduces a repository; 4 all others. Within a
    tier, by path.
    """
    named = {path for name in wanted for path in files_of(name, files)}
    words = {word.lower() for word in _WORD.findall(text)}
    tiers: dict[str, int] = {}
    for path in files:
        if path in named:
            tiers[path] = 0
        elif path in text or _stem(path) in words:
            tiers[path] = 1
    subjects = {_stem(path) for path in tiers}
    for path in files:
        if path not in tiers:
            tiers[path] = _remaining_tier(path, subjects)
    return dict(sorted(tiers.items(), key=lambda item: (item[1], item[0])))


def _visible(workspace: Workspace) -> list[str]:
    return [path for path in workspace.files() if not path.startswith(_HIDDEN)]


def _remaining_tier(path: str, subjects: Iterable[str]) -> int:
    stem = _stem(path)
    if any(stem in (f"test_{subject}", f"{subject}_test", f"{subject}.test") for subject in subjects):
        return 2
    return 3 if path.lower() in _OVERVIEWS else _REST


def _stem(path: str) -> str:
    return PurePosixPath(path).stem.lower()


def _fill(workspace: Workspace, candidates: Mapping[str, int]) -> tuple[tuple[Excerpt, ...], tuple[str, ...]]:
    excerpts: list[Excerpt] = []
    left_out: list[str] = []
    room = MAX_EXCERPT_CHARS
    for path, tier in candidates.items():
        is_incidental = tier == _REST and path.startswith(".")
        text = None if is_incidental else workspace.read(path)
        if text is None or not text.strip():
            continue
        if len(text) > min(room, MAX_FILE_CHARS):
            left_out += [path] if tier < 2 else []
            continue
        room -= len(text)
        excerpts.append(Excerpt(path=path, text=text))
    return tuple(excerpts), tuple(left_out)
