"""What of a diff makes tests say less."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import Diff, FileDiff, Line
from cogworks.repair.violations import TestRules

_ASSERTION = re.compile(r"^\s*(?:assert\b|self\.assert\w+\(|expect\(|with pytest\.raises|assert\w*!?\()")
_TEST = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)")


class Weakened(NamedTuple):
    """A line of a test that the change took away or that makes a test say less."""

    path: str
    line: str


def weakened_lines(
    diff: Diff, rules: TestRules, inline: Mapping[str, Collection[int]] = MappingProxyType({})
) -> tuple[Weakened, ...]:
    """Assertions that the diff takes out of tests, and lines it adds that make a test from before say less.

    Args:
        inline: files that are none of tests -> the numbers of the lines, before the change, that belong to tests all the same.
    """
    weakened: list[Weakened] = []
    for file in diff.files:
        lines = [line for hunk in file.hunks for line in hunk.lines]
        added = {line.text.strip() for line in lines if line.sign == "+"}
        is_of_tests = matching(file.old_path, rules.files) is not None
        weakened += [
            Weakened(file.old_path, line.text.strip())
            for number, line in _removed(file)
            if (is_of_tests or number in inline.get(file.old_path, ()))
            and _ASSERTION.match(line.text)
            and line.text.strip() not in added
        ]
        gone = {named[1] for line in lines if line.sign == "-" and (named := _TEST.match(line.text))}
        weakened += [
            Weakened(file.path, line.text.strip())
            for hunk in file.hunks
            for at, line in enumerate(hunk.lines)
            if line.sign == "+"
            and any(re.search(pattern, line.text) for pattern in rules.weakening)
            and not _is_of_new_test(hunk.lines, at, gone)
        ]
    return tuple(weakened)


def _removed(file: FileDiff) -> Iterator[tuple[int, Line]]:
    """The lines that are taken away, by their old numbers."""
    for hunk in file.hunks:
        old = (line for line in hunk.lines if line.sign != "+")
        yield from ((number, line) for number, line in enumerate(old, hunk.old_start) if line.sign == "-")


def _is_of_new_test(lines: Sequence[Line], at: int, gone: Collection[str]) -> bool:
    """Whether a line is part of a function that the diff adds: below its name, or a decorator above it."""
    left = [line for line in lines[at:] if line.sign != "-"]
    if left[0].text.lstrip().startswith("@"):
        below = next((line for line in left if _TEST.match(line.text)), None)
    else:
        above = [line for line in lines[:at] if line.sign != "-"]
        below = next((line for line in reversed(above) if _TEST.match(line.text)), None)
    if below is None or below.sign != "+" or (named := _TEST.match(below.text)) is None:
        return False
    is_inside = _indented(lines[at].text) > _indented(below.text) or lines[at].text.lstrip().startswith("@")
    return is_inside and named[1] not in gone


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())
