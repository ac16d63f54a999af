"""What a look is: one flat form, so that every provider can bind a reply to it; and what a pattern of a path means."""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field

from cogworks.llm.schemas import Part

ShowingName = Literal["read", "search", "outline", "definition", "references", "tests_of", "list", "history"]
LookName = Literal[ShowingName, "run", "try"]
RUNNING = frozenset({"run", "try"})
"""Looks that run code."""


class LookEdit(Part):
    """One replacement."""

    path: str
    search: str
    """Text that stands in the file exactly once; empty: the file is new."""
    replace: str


class Look(Part):
    """One look; what does not apply is empty or 0."""

    look: ShowingName
    # A path, a folder or the name of a definition, as `GUIDE` says for each look.
    target: str = ""
    # What `search` looks for.
    text: str = ""
    is_regex: bool = False
    """The text is an extended regular expression."""
    glob: str = ""
    """E.g. `src/**/*.py`."""
    first_line: int = Field(default=0, ge=0)
    """0: from the beginning."""
    last_line: int = Field(default=0, ge=0)
    """0: as far as there is room."""


class RunningLook(Look):
    """One look; what does not apply is empty or 0."""

    look: LookName  # type: ignore[assignment]  # Every look that shows, and two more.
    tests: tuple[str, ...] = ()
    """Exact ids of tests, or files of tests."""
    # What `try` changes for the length of its run.
    edits: tuple[LookEdit, ...] = ()
    after: int = Field(default=0, ge=0)
    """Number of an earlier `try` whose edits come first; 0: none."""


GUIDE = """\
## How to look before you answer

Reply with `looks` (1 to 8; `answer` null) to see more of the repository as it is now, at most 40 000 characters a reply, or with `answer` (`looks`
empty). Never guess what you can read.

- `read`: `target` a path, or `path::name` of a definition; numbered lines from `first_line` to `last_line`, at most 400 or
  18 000 characters.
- `search`: `text` in all files, or those that match `glob`; best hits first.
- `outline`: the definitions of the file `target`. `list`: what is in the folder `target`.
- `definition`: where `target` is defined, with its code. `references`: where that name is used. `tests_of`: tests of a path or name.
- `history`: the commits that changed the path `target`; of a commit id, what it changed."""
RUNNING_GUIDE = """
- `run`: runs the tests named in `tests`. `try`: the same with `edits` of any files, which are taken back: tests with a fix
  that you have in mind, or a new file with a test that finds something out. Each `try` has a number: a later one names it in `after` and adds
  only new `edits`."""
MASKED = """

`***` in a result stands for a token that is not shown. Never write it into a file."""


_MOST_ALTERNATIVES, _MOST_CHARS = 50, 1_000
_BRACES = re.compile(r"\{([^{}]*)\}")


def fitting(paths: Iterable[str], glob: str) -> frozenset[str]:
    """The paths that fit a pattern; an empty one fits every path.

    `*` stays in its folder, `**/` is any number of folders, a folder means all below it, and `{a,b}` is either. Where nothing fits so,
    `*` crosses folders, for not everybody who writes a pattern knows the difference.
    """
    every = frozenset(paths)
    if not glob:
        return every
    if len(glob) > _MOST_CHARS:
        return frozenset()
    patterns = [each.removeprefix("./") for each in _alternatives(glob)]
    folders = tuple(f"{pattern.rstrip('/*')}/" for pattern in patterns if pattern.rstrip("/*"))
    strictly = frozenset(
        path for path in every if path.startswith(folders) or any(_stays(path, each) for each in patterns)
    )
    return strictly or frozenset(path for path in every if any(_crosses(path, each) for each in patterns))


def _alternatives(glob: str) -> list[str]:
    """The patterns that one with braces stands for, as shells read them; a great many are not all taken."""
    patterns = [glob]
    while len(patterns) < _MOST_ALTERNATIVES and (braces := _BRACES.search(patterns[0])) is not None:
        first = patterns.pop(0)
        patterns += [first[: braces.start()] + each + first[braces.end() :] for each in braces[1].split(",")]
    return patterns[:_MOST_ALTERNATIVES]


def _stays(path: str, pattern: str) -> bool:
    parts = path.split("/")
    ends = {0}
    for piece in pattern.split("/") if "/" in pattern else ("**", pattern):
        if piece == "**":
            ends = {*range(min(ends), len(parts) + 1)}
        else:
            ends = {at + 1 for at in ends if at < len(parts) and fnmatchcase(parts[at], piece)}
        if not ends:
            return False
    return len(parts) in ends


def _crosses(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path, pattern.replace("**/", ""))
