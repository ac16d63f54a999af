"""Picks the lines of a program's output that say why it failed: those that name an error, then the last ones."""

import re
from collections.abc import Iterator, Sequence

LAST_CHARS = 2_000
_LINE_CHARS = 2_000
"""Of a line, as far as it is looked at."""
_LEADING_CHARS = 240
"""Of a line that is shown out of its place."""
_GAP = "…"
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_FRAME = re.compile(
    r"^(?:npm (?:error|ERR!))?\s+at \S.*[\])>\d]$"  # Node, Java, .NET
    r"|^\s+from \S+:\d+:in "  # Ruby
    r"|^\S+:\d+:in [`'][^`']*'$"
    r"|^#\d+ \S+\(\d+\): "  # PHP
    r"|^\s+[~^][\s~^]*$"
)
_PYTHON_FRAME = re.compile(r'^\s*File "[^"]*", line \d+')
_PROGRESS = re.compile(
    r"^[\W_]*$"
    r"|[━█▓▒░▏▎▍▌▋▊▉⸨]"
    r"|\[[#=.> -]{5,}\]"
    r"|^Progress: resolved |^npm (?:error|ERR!)\s*$|^npm (?:error|ERR!) A complete log of this run"
    r"|^npm (?:warn|WARN) deprecated |^npm (?:error|ERR!) 403 In most cases"
    r"|^\W{0,4}\d{1,3}(?:\.\d+)?\s?%"
)
_WARNING = re.compile(r"^\W{0,4}(?:npm |pip )?warn(?:ing)?\b", re.IGNORECASE)
_NO_ERROR = re.compile(r"\b(?:0|no|without) (?:errors?|failures?|failed)\b", re.IGNORECASE)
_NAMES_ERROR = re.compile(
    r"\w(?:Error|Exception|NotFound)\b|\bE(?:AI_\w+|NOTFOUND|CONN\w+|HOST\w+|NET\w+|TIMEDOUT|ACCES|PERM|NOENT|RESOLVE|TARGET|INTEGRITY|BADENGINE|40[134])\b|\bERR_\w|(?i:\b(?:errors?|ERR!|fatal|failed|failure|cannot|can't|could not|couldn't|"
    r"unable to|not found|no such|not resolve|unreachable|refused|denied|forbidden|timed out)(?!\w))"
)
_OF_HOST = re.compile(r"\bgetaddrinfo\b|https?://|\bhost\b", re.IGNORECASE)
_EVERY_LINE = re.compile(r"^npm (?:error|ERR!)")
"""With which npm begins each line of a complaint."""


def failure_lines(output: str, most: int) -> list[str]:
    """At most `most` lines of an output, those that say why a program failed.

    A short output stays whole. A longer one loses frames of stacks, progress and repeated lines. Of the rest the first lines
    that name an error lead, preferably those about a host. The last lines follow.
    """
    printed = [line.rstrip()[:_LINE_CHARS] for line in _plain(output).splitlines() if line.strip()]
    if len(printed) <= most:
        return printed
    lines = list(dict.fromkeys(_without_stacks(printed))) or printed
    if len(lines) <= most:
        return lines
    rest = lines[-(most - 1) :]
    named = [line for line in lines[: -len(rest)] if names_error(line)]
    if not named:
        return lines[-most:]
    of_hosts = [line for line in named if _OF_HOST.search(line)]
    chosen = [*of_hosts, *(line for line in named if line not in of_hosts)][: most // 2]
    leading = [line for line in named if line in chosen]
    last = lines[-(most - len(leading) - 1) :]
    return [*(line[:_LEADING_CHARS] for line in leading), _GAP, *last]


def failure_text(output: str, most: int) -> str:
    """The same lines as one text of at most `LAST_CHARS` characters; empty where the output is."""
    lines = failure_lines(output, most)
    split = lines.index(_GAP) + 1 if _GAP in lines else 0
    leading = "".join(f"{line}\n" for line in lines[:split])
    last = "\n".join(lines[split:])
    return f"{leading}{last[-(LAST_CHARS - len(leading)) :]}"


def names_error(line: str) -> bool:
    """Whether a line says of itself that something went wrong."""
    return not _WARNING.match(line) and bool(
        _NAMES_ERROR.search(_NO_ERROR.sub("", _EVERY_LINE.sub("", line)))
    )


def _plain(output: str) -> str:
    return _COLOURS.sub("", output).replace("\r\n", "\n").replace("\r", "\n")


def _without_stacks(lines: Sequence[str]) -> Iterator[str]:
    frame_indent: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if _PYTHON_FRAME.match(line):
            frame_indent = indent
            continue
        # The line of the source below a frame stands further in.
        is_source, frame_indent = frame_indent is not None and indent > frame_indent, None
        if not is_source and not _FRAME.search(line) and not _PROGRESS.search(line):
            yield line
