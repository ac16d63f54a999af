"""Which files a model means by a pattern of a path."""

import re
from fnmatch import fnmatchcase

_MOST_ALTERNATIVES = 50
_BRACES = re.compile(r"\{([^{}]*)\}")


def fits(path: str, glob: str) -> bool:
    """Whether a path fits; an empty pattern fits every one.

    `*` crosses folders, `**/` may be none, a folder means all below it, and `{a,b}` is either.
    """
    return not glob or any(_matches(path, each.removeprefix("./")) for each in _alternatives(glob))


def _alternatives(glob: str) -> list[str]:
    """The patterns that one with braces stands for, as shells read them; a great many are not all taken."""
    found = [glob]
    while len(found) < _MOST_ALTERNATIVES and (braces := _BRACES.search(found[0])) is not None:
        first = found.pop(0)
        found += [first[: braces.start()] + each + first[braces.end() :] for each in braces[1].split(",")]
    return found[:_MOST_ALTERNATIVES]


def _matches(path: str, pattern: str) -> bool:
    return (
        fnmatchcase(path, pattern)
        or fnmatchcase(path, pattern.replace("**/", ""))
        or path.startswith(f"{pattern.rstrip('/*')}/")
    )
