"""Lines of files as looks show them, and which of them a result shows."""

import re
from collections.abc import Sequence

from cogworks.sight.stretches import shortened

MAX_LINES = 400
MAX_READ_CHARS = 18_000
"""Of one stretch of a file, in whole lines."""
_HEADING = re.compile(r"(?P<path>.+), lines [1-9]\d* to [1-9]\d* of [1-9]\d*:")
_ROW = re.compile(r" *(?P<line>[1-9]\d*)\| ")


def numbered(path: str, lines: Sequence[str], first: int, last: int, *, is_part: bool = False) -> str:
    """Lines of a file with their numbers, as many as one look may show, and where the rest is.

    Args:
        is_part: the reader wants no more than these.
    """
    count = len(lines)
    if not count:
        return f"{path} is empty."
    if first > count:
        return f"{path} has {count} lines; there is no line {first}."
    shown_lines: list[str] = []
    room = MAX_READ_CHARS
    for number in range(first, min(max(first, last), count, first + MAX_LINES - 1) + 1):
        line = f"{number:>5}| {shortened(lines[number - 1])}"
        room -= len(line) + 1
        if room < 0 and shown_lines:
            break
        shown_lines.append(line)
    end = first + len(shown_lines) - 1
    rest = [f"lines 1 to {first - 1} before"] if first > 1 else []
    rest += [f"lines {end + 1} to {count} after"] if end < count else []
    tail = (
        f"\n({', '.join(rest)}: read them with `first_line` and `last_line`)" if rest and not is_part else ""
    )
    return f"{path}, lines {first} to {end} of {count}:\n" + "\n".join(shown_lines) + tail


def lines_in(result: str) -> tuple[tuple[str, int], ...]:
    """The lines of files that a result of `read`, `definition` or `tests_of` shows: path and number of each.

    No file can pretend to more: each of its lines has a number of its own before it.
    """
    numbers, path = list[tuple[str, int]](), ""
    for row in result.split("\n"):
        if (heading := _HEADING.fullmatch(row)) is not None:
            path = heading["path"]
        elif path and (line := _ROW.match(row)) is not None:
            numbers.append((path, int(line["line"])))
    return tuple(numbers)
