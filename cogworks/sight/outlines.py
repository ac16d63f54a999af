"""The parts of a file in few words: signatures of definitions, headings of documents and of configuration."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cogworks.sight.cards import VALUES, Outlined
from cogworks.sight.kinds import suffix_of
from cogworks.sight.seen import Stretch
from cogworks.sight.stretches import tokens_of

_NAMES_SHARE = 0.8
"""Of the room, what bare names may take where not all signatures have room; signatures take what is left."""
_MAX_SIGNATURE, _MAX_SAID, _MAX_NAME = 160, 100, 80
_MAX_ROW = 120
_MAX_DEPTH = 1
_COUNT_TOKENS = 20


def outline_text(
    definitions: Sequence[Outlined],
    scores: Sequence[float],
    room: int,
    *,
    without: Sequence[Stretch] = (),
) -> str:
    """The definitions in the order of the file, those that score highest chosen first.

    Where there is no room for all signatures, the others are named in rows (`120 name · 140 other`), and what is left out is counted.

    Args:
        without: stretches that are shown; what begins there is in no outline.
    """
    places = [
        place
        for place, each in enumerate(definitions)
        if _depth(definitions, place) <= _MAX_DEPTH
        and not any(first <= each.line <= last for first, last in without)
    ]
    full = {place: _line(definitions, place) for place in places}
    if _cost(full.values()) <= room:
        return "\n".join(full.values())
    often = Counter(definitions[place].name for place in places)
    # The `name` of ten classes says nothing without them.
    named = [
        place
        for place in places
        if not (often[definitions[place].name] > 1 and _is_value(definitions, place))
    ]
    order = sorted(named, key=lambda place: (-scores[place], _depth(definitions, place), place))
    names = {
        place: _name(definitions, place, is_unique=often[definitions[place].name] == 1) for place in named
    }
    chosen = _fitting(order, names, round(_NAMES_SHARE * room) - _COUNT_TOKENS)
    left = room - _COUNT_TOKENS - _cost(names[place] for place in chosen)
    signed = _fitting([place for place in order if place in chosen], full, left)
    missing = len(places) - len(chosen)
    rows = _rows(sorted(chosen), full, names, signed)
    return "\n".join([*rows, f"… and {missing} more"] if rows and missing else rows)


def _fitting(order: Sequence[int], texts: Mapping[int, str], room: int) -> frozenset[int]:
    chosen = []
    for place in order:
        room -= tokens_of(texts[place]) + 2
        if room < 0:
            break
        chosen.append(place)
    return frozenset(chosen)


def _rows(
    places: Sequence[int], full: Mapping[int, str], names: Mapping[int, str], signed: frozenset[int]
) -> list[str]:
    rows: list[str] = []
    is_open = False
    for place in places:
        if place in signed:
            rows.append(full[place])
            is_open = False
        elif is_open and len(rows[-1]) + len(names[place]) < _MAX_ROW:
            rows[-1] += f" · {names[place]}"
        else:
            rows.append(f"  {names[place]}")
            is_open = True
    return rows


def _cost(texts: Iterable[str]) -> int:
    return sum(tokens_of(text) + 1 for text in texts)


def _name(definitions: Sequence[Outlined], place: int, *, is_unique: bool) -> str:
    """Of one of several that have the name, what it is a part of as well."""
    each = definitions[place]
    around = "" if is_unique or each.parent < 0 else f"{definitions[each.parent].name}."
    return f"{each.line} {f'{around}{each.name}'[:_MAX_NAME]}"


def _is_value(definitions: Sequence[Outlined], place: int) -> bool:
    """Whether it is a value inside of something else."""
    each = definitions[place]
    return each.kind in VALUES and each.parent >= 0


def _line(definitions: Sequence[Outlined], place: int) -> str:
    each = definitions[place]
    comment = f"  # {each.documentation[:_MAX_SAID]}" if each.documentation else ""
    indent = "  " * _depth(definitions, place)
    # What a test is called with is all of it.
    header = each.name if each.kind == "test" else each.signature or each.name
    return f"{each.line:>5}: {indent}{header[:_MAX_SIGNATURE]}{comment}"


def _depth(definitions: Sequence[Outlined], place: int) -> int:
    depth = 0
    while definitions[place].parent >= 0:
        place = definitions[place].parent
        depth += 1
    return depth


_MARKDOWN = re.compile(r"(?P<mark>#{1,6})\s+(?P<title>\S.*?)\s*#*\s*$")
_ASCIIDOC = re.compile(r"(?P<mark>={1,6})\s+(?P<title>\S.*?)\s*$")
_TABLE = re.compile(r"\[\[?(?P<title>[^\[\]]+)\]\]?\s*(?:[#;].*)?$")
_KEY = re.compile(r'(?P<indent>\s*)"(?P<title>[^"\\]{1,150})"\s*:\s*[\[{]\s*$')
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_FENCE = ("```", "~~~")
_MAX_TITLE = 150


class _Heading(NamedTuple):
    row: int
    """From 0."""
    depth: int
    title: str


def sections_of(path: str, lines: Sequence[str]) -> tuple[Outlined, ...]:
    """The sections of a file, each with those that are inside of it; none where files of its ending have no headings."""
    suffix = suffix_of(path).lower()
    headings = [*_headings(suffix, lines)]
    sections: list[Outlined] = []
    around: list[tuple[int, int]] = []
    """(depth, place) of what is open, the innermost last."""
    for at, each in enumerate(headings):
        while around and around[-1][0] >= each.depth:
            around.pop()
        after = (other.row for other in headings[at + 1 :] if other.depth <= each.depth)
        parent = around[-1][1] if around else -1
        around.append((each.depth, len(sections)))
        title = each.title[:_MAX_TITLE]
        last = next(after, len(lines))
        sections.append(Outlined(title, "section", each.row + 1, last, each.row + 1, parent, title, ""))
    return tuple(sections)


def _headings(suffix: str, lines: Sequence[str]) -> Iterator[_Heading]:
    if suffix in (".md", ".mdx", ".markdown"):
        yield from _marked(lines, _MARKDOWN)
    elif suffix in (".adoc", ".asciidoc"):
        yield from _marked(lines, _ASCIIDOC)
    elif suffix in (".rst", ".txt"):
        yield from _underlined(lines)
    elif suffix == ".json":
        yield from _keyed(lines)
    elif suffix in (".toml", ".ini", ".cfg", ".conf"):
        for row, line in enumerate(lines):
            if match := _TABLE.match(line):
                yield _Heading(row, 1, match["title"].strip())


def _keyed(lines: Sequence[str]) -> Iterator[_Heading]:
    """Lists and tables of an object, as far as they are indented as its first line: what is deeper is a part of them."""
    outer = next((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), 0)
    for row, line in enumerate(lines):
        if (match := _KEY.match(line)) and len(match["indent"]) == outer:
            yield _Heading(row, 1, match["title"])


def _marked(lines: Sequence[str], heading: re.Pattern[str]) -> Iterator[_Heading]:
    is_code = False
    for row, line in enumerate(lines):
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        elif not is_code and (match := heading.match(line)):
            yield _Heading(row, len(match["mark"]), match["title"])


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
