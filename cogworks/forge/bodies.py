"""Keeps the text of comments, issues and pull requests within GitHub's limits without breaking its Markdown."""

import re
from collections.abc import Sequence

MAX_BODY_CHARS = 60_000
"""GitHub refuses 65 536; the rest is for the marker and for what a view adds."""
MAX_TITLE_CHARS = 256

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_DETAILS_OPEN = re.compile(r"<details\b[^>]*>", re.IGNORECASE)
_DETAILS_CLOSE = re.compile(r"</details\s*>", re.IGNORECASE)
_NOTE = "\n\n*(cut here: {left_out} of {total} characters are left out)*"
_RESERVE = 200
"""Room for closing what is open and for the note."""


def capped(text: str, *, max_chars: int = MAX_BODY_CHARS) -> str:
    """The text, or its beginning up to a structural border: open fences and `<details>` closed, a note below.

    The result is never longer than `max_chars`, which must be at least 1 000.
    """
    if len(text) <= max_chars:
        return text
    lines = text.splitlines(keepends=True)
    budget = max_chars - _RESERVE
    for reserve in (0, _RESERVE, budget // 2):
        kept = _kept_lines(lines, budget - reserve)
        body = "".join(lines[:kept]).rstrip() if kept else text[: budget - reserve]
        closed = body + _closing(body)
        result = closed + _NOTE.format(left_out=len(text) - len(body), total=len(text))
        if len(result) <= max_chars:
            return result
    # Only hundreds of nested <details> come here; plain text is what can be promised for them.
    return text[:budget].replace("<", "&lt;")[:budget] + _NOTE.format(
        left_out=len(text) - budget, total=len(text)
    )


def capped_title(text: str) -> str:
    """One line that GitHub accepts as a title."""
    line = " ".join(text.split()) or "(untitled)"
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1]}…"


def _kept_lines(lines: Sequence[str], budget: int) -> int:
    """How many lines fit; rather up to an empty line or a heading, if one is in the last fifth."""
    used = 0
    fitting = 0
    border = 0
    border_used = 0
    for index, line in enumerate(lines):
        if used + len(line) > budget:
            break
        if not line.strip() or line.startswith("#"):
            border, border_used = index, used
        used += len(line)
        fitting = index + 1
    return border if border and border_used >= used * 0.8 else fitting


def _closing(body: str) -> str:
    """What has to follow so that nothing stays open."""
    fence: str | None = None
    open_details = 0
    for line in body.splitlines():
        found = _FENCE.fullmatch(line)
        if fence is not None:
            if found and found["fence"].startswith(fence) and not found["info"].strip():
                fence = None
            continue
        if found and not (found["fence"][0] == "`" and "`" in found["info"]):
            fence = found["fence"]
            continue
        open_details += len(_DETAILS_OPEN.findall(line)) - len(_DETAILS_CLOSE.findall(line))
        open_details = max(open_details, 0)
    return (f"\n{fence}" if fence else "") + "\n\n</details>" * open_details
