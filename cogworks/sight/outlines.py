"""The definitions of a file in few words: signatures of those that matter most, names of as many others as there is room for."""

from collections.abc import Iterable, Mapping, Sequence

from cogworks.sight.cards import Outlined
from cogworks.sight.seen import Stretch
from cogworks.sight.sizes import tokens_of

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
    order = sorted(places, key=lambda place: (-scores[place], _depth(definitions, place), place))
    names = {place: _name(definitions[place]) for place in places}
    named = _fitting(order, names, round(_NAMES_SHARE * room) - _COUNT_TOKENS)
    left = room - _COUNT_TOKENS - _cost(names[place] for place in named)
    signed = _fitting([place for place in order if place in named], full, left)
    missing = len(places) - len(named)
    rows = _rows(sorted(named), full, names, signed)
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


def _name(each: Outlined) -> str:
    return f"{each.line} {each.name[:_MAX_NAME]}"


def _line(definitions: Sequence[Outlined], place: int) -> str:
    each = definitions[place]
    said = f"  # {each.documentation[:_MAX_SAID]}" if each.documentation else ""
    indent = "  " * _depth(definitions, place)
    # What a test is called with is all of it.
    header = each.name if each.kind == "test" else each.signature or each.name
    return f"{each.line:>5}: {indent}{header[:_MAX_SIGNATURE]}{said}"


def _depth(definitions: Sequence[Outlined], place: int) -> int:
    depth = 0
    while definitions[place].parent >= 0:
        place = definitions[place].parent
        depth += 1
    return depth
