"""Stretches of a file, from 1 and with both ends: put together, written with the numbers of their lines, and how much room a text takes."""

import re
from collections.abc import Sequence
from itertools import pairwise

_SLICE_CONTEXT = 2
"""Lines between two stretches that are rather shown than said to be missing."""
_MAX_CLOSED = 4
"""Lines between two stretches that are shown where there is room: a gap is as hard to read as they are."""
_LEAST_CUT_CHARS = 60
_MAX_LINE_CHARS = 400


def numbered_slices(lines: Sequence[str], stretches: Sequence[tuple[int, int]]) -> str:
    """Stretches of a file, each line with its number, and what is left out between them."""
    parts: list[str] = []
    at = 1
    for first, last in stretches:
        if first > at:
            parts.append(f"… lines {at} to {first - 1} are not shown")
        parts += [
            f"{number:>5}| {shortened(lines[number - 1])}"
            for number in range(first, min(last, len(lines)) + 1)
        ]
        at = last + 1
    if at <= len(lines):
        parts.append(f"… lines {at} to {len(lines)} are not shown")
    return "\n".join(parts)


def shortened(line: str) -> str:
    """A line of bounded length that says how much of it is left out; what would take less room than that stays."""
    if len(line) <= _MAX_LINE_CHARS + _LEAST_CUT_CHARS:
        return line
    return f"{line[:_MAX_LINE_CHARS]} … {len(line) - _MAX_LINE_CHARS} more characters"


def merged(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, with what is only a few lines apart put together."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(stretches):
        if merged and first <= merged[-1][1] + 1 + _SLICE_CONTEXT:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def closed(lines: Sequence[str], stretches: Sequence[tuple[int, int]], room: int) -> list[tuple[int, int]]:
    """Without the short gaps between them, the shortest first, as far as all of it stays within the room."""
    closed_stretches = [*stretches]
    gaps = sorted(
        (after[0] - before[1], before[1], after[0])
        for before, after in pairwise(stretches)
        if after[0] - before[1] <= _MAX_CLOSED + 1
    )
    for _, first, last in gaps:
        attempt = merged([*closed_stretches, (first, last)])
        if tokens_of(numbered_slices(lines, attempt)) <= room:
            closed_stretches = attempt
    return closed_stretches


BYTES_PER_TOKEN = 3
"""As estimates of cost count: rather too many than too few."""


def tokens_of(text: str) -> int:
    """Tokens that a text takes, as estimates count them."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


_RELEASE = re.compile(
    r"[#=\s*]*\[?(?:(?:version|release|v)[ .:-]*)?(?:\d{1,4}\.\d[\w.+-]{0,30}|unreleased|next|upcoming|main|master|\d{4}-\d\d-\d\d)(?![\w%])",
    re.IGNORECASE,
)
"""How the section of a release begins in a change log."""
_LEAST_OF_CHANGES, _MOST_OF_CHANGES = 15, 50


def newest_changes(lines: Sequence[str]) -> int:
    """So many lines of a change log are shown whatever matches: its newest section, where a new entry goes; from 15 to 50."""
    heads = [number for number, line in enumerate(lines[: _MOST_OF_CHANGES + 1]) if _RELEASE.match(line)]
    last = heads[1] if len(heads) > 1 else _MOST_OF_CHANGES
    return min(max(last, _LEAST_OF_CHANGES), _MOST_OF_CHANGES, len(lines))


_IMPORT = re.compile(
    r"(?:from|import|use|using|include|package|require|require_relative|#include|extern crate|pub use)\b"
    r"|(?:const|let|var) [^=\n]{1,200}= ?require\("
)
_MOST_IMPORTS, _IMPORTS_WITHIN, _LONGEST_IMPORT = 40, 150, 12


def imports_in(lines: Sequence[str]) -> tuple[int, int] | None:
    """The lines near the beginning of a file that bring in what it uses, up to forty; None where there are none."""
    begun = [number for number, line in enumerate(lines[:_IMPORTS_WITHIN], 1) if _IMPORT.match(line)]
    if not begun:
        return None
    last = begun[-1]
    if lines[last - 1].rstrip().endswith(("(", "{", ",", "\\")):
        # One that goes on ends with the first line that is not further in.
        after = range(last + 1, min(last + _LONGEST_IMPORT, len(lines)) + 1)
        last = next((number for number in after if not lines[number - 1].startswith((" ", "\t"))), last)
    return begun[0], min(last, begun[0] + _MOST_IMPORTS - 1)
