"""What git knows of a working copy's files without reading them: names of contents, attributes, and the commits before."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from cogworks.codebase.plumbing import zsplit

_REGULAR = ("100644", "100755")
_ATTRIBUTES = {"linguist-generated": "generated", "linguist-vendored": "vendored"}
_NO = frozenset({"unspecified", "unset", "false"})
_BEGIN, _MIDDLE = "\x1e", "\x1f"
"""Around each message: no path of git's holds them unquoted."""
Runs = Callable[..., str]


class PastCommit(NamedTuple):
    """One commit before the present state."""

    text: str
    """Its message."""
    paths: tuple[str, ...]
    """The files it changed."""


def contents(run: Runs) -> Mapping[str, str]:
    """Path -> object id of the content of every tracked regular file, as last written down in the index."""
    found: dict[str, str] = {}
    for entry in zsplit(run("ls-files", "--stage", "-z")):
        facts, path = entry.split("\t", 1)
        mode, oid, _ = facts.split(" ")
        if mode in _REGULAR:
            found[path] = oid
    return found


def attributes(run: Runs, paths: Sequence[str]) -> Mapping[str, Collection[str]]:
    """Path -> `generated`, `vendored`, as `.gitattributes` says of it; others are left out."""
    if not any(path.rpartition("/")[2] == ".gitattributes" for path in paths):
        return {}
    text = run("check-attr", "-z", "--stdin", *_ATTRIBUTES, stdin="".join(f"{path}\0" for path in paths))
    values = zsplit(text)
    found: dict[str, set[str]] = defaultdict(set)
    for path, name, value in zip(values[::3], values[1::3], values[2::3], strict=True):
        if value not in _NO:
            found[path].add(_ATTRIBUTES[name])
    return found


def past(run: Runs, limit: int) -> tuple[PastCommit, ...]:
    """The commits that the head stands on, the newest first, without merges.

    Renames are not looked for: that would need contents, which a copy without them would have to fetch.
    """
    options = ("--no-merges", "--no-renames", "--name-only", f"--max-count={limit}", "-z")
    text = run("-c", "core.quotePath=false", "log", *options, f"--format={_BEGIN}%B{_MIDDLE}", "HEAD")
    found = []
    for part in text.split(_BEGIN)[1:]:
        message, _, names = part.partition(_MIDDLE)
        paths = tuple(name.strip("\n") for name in names.split("\0") if name.strip("\n"))
        found.append(PastCommit(message.strip(), paths))
    return tuple(found)
