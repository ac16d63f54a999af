"""The difference between two releases of a package, cut into hunks that can be applied one by one."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, lines_of, render
from cogworks.codebase.diffplacing import between
from cogworks.repair.violations import TestRules
from cogworks.vocabulary import Value

_TESTS = TestRules()
_ASIDE = (
    "doc",
    "docs",
    "example",
    "examples",
    "script",
    "scripts",
    "tool",
    "tools",
    "benchmark",
    "benchmarks",
)
"""Top folders whose Python files are no part of the package."""
_BUILDS = ("setup.py", "noxfile.py", "tasks.py", "conftest.py", "versioneer.py")


class Hunk(Value):
    """A stretch of lines of one file that gives way to others."""

    path: str
    start: int
    """How many lines of the file stand before it."""
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def changed_lines(self) -> int:
        return len(self.removed) + len(self.added)

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of what is changed, from 1; of a pure insertion the line before it."""
        first = self.start + 1 if self.removed else max(1, self.start)
        return first, max(first, self.start + len(self.removed))


class Sides(NamedTuple):
    """The Python sources of two releases, tests left out: path -> text."""

    older: Mapping[str, str]
    newer: Mapping[str, str]


def is_source(path: str) -> bool:
    """Whether a file holds code of the package itself: Python, no test, no document, nothing that builds it."""
    parts = PurePosixPath(path).parts
    return (
        path.endswith(".py")
        and matching(path, _TESTS.files) is None
        and parts[0] not in _ASIDE
        and parts[-1] not in _BUILDS
    )


def is_test(path: str) -> bool:
    """Whether a file is a test, or belongs to tests."""
    return matching(path, _TESTS.files) is not None or PurePosixPath(path).name == "conftest.py"


def hunks_between(sides: Sides) -> tuple[Hunk, ...]:
    """What turns the older sources into the newer ones, file by file; files that only one side has are left out."""
    found: list[Hunk] = []
    for path in sorted(sides.older.keys() & sides.newer.keys()):
        old, new = lines_of(sides.older[path]), lines_of(sides.newer[path])
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        found += [
            Hunk(path=path, start=start, removed=old[start:end], added=new[first:last])
            for tag, start, end, first, last in matcher.get_opcodes()
            if tag != "equal"
        ]
    return tuple(found)


def applied(sources: Mapping[str, str], hunks: Collection[Hunk]) -> dict[str, str]:
    """The sources with some of the hunks that were cut from them."""
    result = dict(sources)
    for path in {hunk.path for hunk in hunks}:
        lines = list(lines_of(sources[path]))
        for hunk in sorted((each for each in hunks if each.path == path), key=lambda each: -each.start):
            lines[hunk.start : hunk.start + len(hunk.removed)] = hunk.added
        result[path] = "".join(lines)
    return result


def diff_between(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The diff of the files that differ, as git writes it."""
    paths = [path for path in sorted(after) if before.get(path) != after[path]]
    return render(Diff(files=tuple(between(path, before.get(path, ""), after[path]) for path in paths)))


def changed_lines(hunks: Sequence[Hunk]) -> int:
    """Added and removed lines of all of them."""
    return sum(hunk.changed_lines for hunk in hunks)
