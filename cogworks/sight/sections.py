"""The sections of documents and of configuration, as an outline has them: by their headings."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cogworks.sight.cards import Outlined
from cogworks.sight.kinds import suffix_of

_MARKDOWN = re.compile(r"(?P<mark>#{1,6})\s+(?P<title>\S.*?)\s*#*\s*$")
_ASCIIDOC = re.compile(r"(?P<mark>={1,6})\s+(?P<title>\S.*?)\s*$")
_TABLE = re.compile(r"\[\[?(?P<title>[^\[\]]+)\]\]?\s*(?:[#;].*)?$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_FENCE = ("```", "~~~")
_MAX_TITLE = 150


class _Heading(NamedTuple):
    row: int
    """From 0."""
    depth: int
    title: str


def sections_of(path: str, lines: Sequence[str]) -> tuple[Outlined, ...]:
    """The sections of a file, each with those that are inside of it; none where its ending tells of no headings."""
    suffix = suffix_of(path).lower()
    headings = [*_headings(suffix, lines)]
    found: list[Outlined] = []
    around: list[tuple[int, int]] = []
    """(depth, place) of what is open, the innermost last."""
    for at, each in enumerate(headings):
        while around and around[-1][0] >= each.depth:
            around.pop()
        after = (other.row for other in headings[at + 1 :] if other.depth <= each.depth)
        parent = around[-1][1] if around else -1
        around.append((each.depth, len(found)))
        title = each.title[:_MAX_TITLE]
        last = next(after, len(lines))
        found.append(Outlined(title, "section", each.row + 1, last, each.row + 1, parent, title, ""))
    return tuple(found)


def _headings(suffix: str, lines: Sequence[str]) -> Iterator[_Heading]:
    if suffix in (".md", ".mdx", ".markdown"):
        yield from _marked(lines, _MARKDOWN)
    elif suffix in (".adoc", ".asciidoc"):
        yield from _marked(lines, _ASCIIDOC)
    elif suffix in (".rst", ".txt"):
        yield from _underlined(lines)
    elif suffix in (".toml", ".ini", ".cfg", ".conf"):
        for row, line in enumerate(lines):
            if found := _TABLE.match(line):
                yield _Heading(row, 1, found["title"].strip())


def _marked(lines: Sequence[str], heading: re.Pattern[str]) -> Iterator[_Heading]:
    is_code = False
    for row, line in enumerate(lines):
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        elif not is_code and (found := heading.match(line)):
            yield _Heading(row, len(found["mark"]), found["title"])


def _underlined(lines: Sequence[str]) -> Iterator[_Heading]:
    """The first sign that underlines a title is that of the highest sections, and so on."""
    signs: list[str] = []
    for row in range(1, len(lines)):
        title, under = lines[row - 1].rstrip(), lines[row]
        if not title or title[0].isspace() or _UNDERLINE.match(title) or not _UNDERLINE.match(under):
            continue
        if len(under.rstrip()) < len(title):
            continue
        if under[0] not in signs:
            signs.append(under[0])
        yield _Heading(row - 1, signs.index(under[0]) + 1, title)
