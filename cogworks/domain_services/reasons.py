"""Why a test failed or could not be loaded, in one line of what pytest or Python printed; pure rules from texts."""

import re
from collections.abc import Sequence
from itertools import groupby, takewhile, zip_longest

_MARK = re.compile(r"E(?=\s|$)")
"""How pytest marks the lines that say what went wrong."""


def marked_reason(text: str) -> str:
    """What the last error in a text says first, without pytest's margin; empty where pytest marks none.

    What stands further in explains it (`+  where …`, a difference), or leads to it (the line of a syntax error). Lines
    below it lead on, as to a page about the warning.
    """
    blocks = [
        [line[1:] for line in lines if line[1:].strip()]
        for is_marked, lines in groupby(text.splitlines(), key=lambda line: _MARK.match(line) is not None)
        if is_marked
    ]
    last = next((block for block in reversed(blocks) if block), [])
    margin = min((_indent(line) for line in last), default=0)
    place = next((place for place, line in enumerate(last) if _indent(line) == margin), 0)
    # `ValueError:` alone says less than the line that follows.
    wanted = last[place : place + (2 if last and last[place].rstrip().endswith(":") else 1)]
    return " ".join(line.strip() for line in wanted)


_TRACEBACK = "Traceback (most recent call last):"
_INSIDE = frozenset(" \t…")
"""How lines of a traceback begin, and the one that stands for those that were left out."""


def raised_reason(text: str) -> str:
    """The first line of the exception below the last traceback of Python in a text; empty where there is none.

    Lines below it lead on, as under a mark.
    """
    _, begins, below = text.rpartition(f"{_TRACEBACK}\n")
    lines = below.splitlines() if begins else []
    return next((line.rstrip() for line in lines if line.strip() and line[0] not in _INSIDE), "")


_UNEXPECTED = "UNEXPECTED EXCEPTION: "
_WANTED = ("Expected:", "Expected nothing")
_GOT = ("Got:", "Got nothing")


def doctest_reason(text: str) -> str:
    """What the example of a failed doctest came to instead of what it shows; empty where a text reports no doctest.

    The lines above it are the document, which says nothing of what is wrong.
    """
    _, is_unexpected, below = text.rpartition(f"\n{_UNEXPECTED}")
    if is_unexpected:
        # A message that was cut may end there.
        return raised_reason(below) or below.partition("\n")[0].strip()
    lines = text.splitlines()
    wanted = next((place for place, line in enumerate(lines) if line in _WANTED), len(lines))
    got = next((place for place in range(wanted, len(lines)) if lines[place] in _GOT), None)
    if got is None:
        return ""
    pairs = zip_longest(_indented(lines[wanted + 1 : got]), _indented(lines[got + 1 :]), fillvalue="nothing")
    shown, came = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    return f"the example wants {shown}, got {came}" if shown else "the output of the example differs"


def _indented(lines: Sequence[str]) -> list[str]:
    """The first of the lines that doctest indents as output, without the margin."""
    return [line.strip() for line in takewhile(lambda line: line.startswith("    "), lines)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
