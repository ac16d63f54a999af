"""Of the places that a fix changes, those that a first view shows: to see that a file matters is not to see what is wrong in it."""

import re
from collections.abc import Callable, Iterator, Sequence

from cogworks.sight.view import FirstView

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+", re.MULTILINE)


def share_shown(view: FirstView, files: Sequence[str], diff_of: Callable[[str], str]) -> float:
    """The share of the changed places of which at least one line is shown; 0 where nothing was changed.

    Args:
        files: that the fix changed.
        diff_of: the diff of one of them, without context; a place that only adds lines is the line before it.
    """
    lines = {each.path: each.lines for each in view.files}
    shown = [
        any(first <= end and start <= last for first, last in lines.get(path, ()))
        for path in files
        for start, end in _places(diff_of(path))
    ]
    return sum(shown) / len(shown) if shown else 0.0


def _places(diff: str) -> Iterator[tuple[int, int]]:
    for start, count in _HUNK.findall(diff):
        yield int(start), int(start) + max(1, int(count or 1)) - 1
