"""Which remarks of a review can stand at their lines of the pull request, and how each is worded there.

GitHub takes a remark only at a line that its diff shows, and a suggestion only for lines of one stretch of it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cogworks.codebase.diffmodel import Diff
from cogworks.codegen.mending import MENDED
from cogworks.forge.effects import LineRemark
from cogworks.leaving import in_markdown, masked, on_terminal
from cogworks.nodes.replies import Suggestion

MOST_AT_LINES = 30
"""More would bury the change; the others stay in the body."""
_BACKTICKS = re.compile(r"`+")


class Remarks(NamedTuple):
    """The findings that a review leaves for people, by where they are said."""

    at_lines: tuple[LineRemark, ...]
    elsewhere: tuple[Mapping[str, Any], ...]
    """About a whole file, or about a line that the diff does not show."""


class _Stretch(NamedTuple):
    """One hunk of a diff, as it is afterwards."""

    first_line: int
    lines: tuple[str, ...]

    def holds(self, first: int, last: int) -> bool:
        return self.first_line <= first <= last < self.first_line + len(self.lines)

    def text(self, first: int, last: int) -> str:
        return "".join(self.lines[first - self.first_line : last + 1 - self.first_line])


def placed(review: Mapping[str, Any], diff: Diff) -> Remarks:
    """The findings of a review, each at its line where the diff shows it.

    Args:
        diff: what the pull request changes; the lines of the findings are those afterwards.
    """
    stretches = _stretches(diff)
    # What was tried and not kept is nothing to be applied with one click.
    mended = review.get(MENDED)
    may_suggest = not mended or bool(mended["applied"])
    at_lines: dict[str, LineRemark] = {}
    seen: set[tuple[str, int, int, str]] = set()
    elsewhere: list[Mapping[str, Any]] = []
    for finding in review["findings"]:
        there = stretches.get(finding["file"], ())
        remark = _remark(finding, there, may_suggest=may_suggest)
        if remark is None or len(at_lines) == MOST_AT_LINES:
            elsewhere.append(finding)
            continue
        same = (remark.path, remark.first_line, remark.last_line, finding["explanation"])
        if same not in seen:
            seen.add(same)
            key = next(key for key in _keys(remark.key) if key not in at_lines)
            at_lines[key] = remark.model_copy(update={"key": key})
    return Remarks(tuple(at_lines.values()), tuple(elsewhere))


def _stretches(diff: Diff) -> dict[str, tuple[_Stretch, ...]]:
    # GitHub takes a file that is gone and a new one for one that was renamed, and then shows of the new one only what differs.
    may_be_renamed = any(file.kind == "delete" for file in diff.files)
    return {
        file.path: tuple(_Stretch(hunk.new_start, hunk.new) for hunk in file.hunks)
        for file in diff.files
        if file.kind == "modify" or (file.kind == "create" and not may_be_renamed)
    }


def _remark(finding: Mapping[str, Any], there: Sequence[_Stretch], *, may_suggest: bool) -> LineRemark | None:
    """The remark with the key of what it is about; None where the diff does not show the line."""
    line = finding["line"]
    own = next((each for each in there if each.holds(line, line)), None) if line else None
    suggestion = Suggestion.model_validate(finding.get("suggestion") or {})
    first, last = suggestion.first_line, suggestion.last_line
    within = (
        next((each for each in there if each.holds(first, last)), None) if first and may_suggest else None
    )
    fence = _fenced(suggestion.replacement, within.text(first, last)) if within else ""
    stretch = within if within and fence else own
    if stretch is None:
        return None
    first, last = (first, last) if fence else (line, line)
    head = f"**{finding['severity'].capitalize()}** ({in_markdown(finding['criterion'])}):"
    return LineRemark(
        key=_about(finding, stretch.text(first, last)),
        path=finding["file"],
        first_line=first,
        last_line=last,
        body="\n\n".join(part for part in (f"{head} {in_markdown(finding['explanation'])}", fence) if part),
    )


def _fenced(replacement: str, replaced: str) -> str:
    """The lines as GitHub applies them; empty where they would not arrive as they are."""
    if (
        "\r" in replaced
        or "\r" in replacement
        or masked(on_terminal(replacement), is_code=True) != replacement
    ):
        return ""
    longest = max((len(each) for each in _BACKTICKS.findall(replacement)), default=0)
    ticks = "`" * max(3, longest + 1)
    lines = f"{replacement.removesuffix(chr(10))}\n" if replacement else ""
    return f"{ticks}suggestion\n{lines}{ticks}"


def _about(finding: Mapping[str, Any], text: str) -> str:
    """The same for what is said again of lines that nobody has changed, wherever they stand by then."""
    words = (finding["file"], finding["criterion"].casefold(), " ".join(text.split()))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def _keys(about: str) -> Iterator[str]:
    """Names for one remark and for further ones of the same criterion on the same lines."""
    yield about
    number = 2
    while True:
        yield f"{about}-{number}"
        number += 1
