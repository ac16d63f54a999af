"""The look `tests_of`: which tests name something, and the code of the first of them."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from cogworks.sight.cards import Outlined
from cogworks.sight.kinds import is_test
from cogworks.sight.looks.lines import numbered
from cogworks.sight.looks.room import Room, definitions_in, last_of, plain
from cogworks.sight.looks.schema import Look
from cogworks.sight.ranking import subject_of
from cogworks.sight.tests_near import are_named_alike

_MAX_FILES, _MAX_LISTED = 20, 40
_MAX_AROUND = 8
"""Definitions of one file of tests that are named."""
_MAX_CODE_LINES = 80
"""Of the code that is shown; of a longer test a part says little."""


def tests_of(look: Look, room: Room) -> str:
    """The files of tests that have the name of a path, or name it, with their tests, and the code of the first of these."""
    target = plain(look.target)
    if not target:
        return "`tests_of` needs a path or a name as `target`."
    tests = [path for path in room.paths if is_test(path)]
    path = target.partition("::")[0]
    subject = subject_of(path)
    by_name = [each for each in tests if subject and subject_of(each) == subject]
    by_name += [each for each in tests if each not in by_name and are_named_alike(each, path)]
    # Of a path the last word is how the file ends.
    name = posixpath.basename(target).split(".")[0] if target in room.paths else last_of(target)
    named = _naming(name, frozenset(tests), room)
    files = [
        *by_name,
        *sorted(named.keys() - {*by_name}, key=lambda each: (-len(named[each]), each))[:_MAX_FILES],
    ]
    if not files:
        return f"No test has the name of {target!r} or names it."
    holding = {each: _around(each, named.get(each, ()), room) for each in files[:_MAX_LISTED]}
    why = {
        each: "by its name" if each in by_name else f"{len(named[each])} line(s) name {name!r}"
        for each in holding
    }
    lines = [f"{each} ({why[each]}){_listed(holding[each])}" for each in holding]
    return "\n".join([*lines, *_code(holding, room)])


def _naming(name: str, tests: Collection[str], room: Room) -> dict[str, list[int]]:
    """The lines of tests that say a name."""
    hits = room.past.grep(rf"\b{re.escape(name)}\b", is_regex=True) if name else ()
    named: dict[str, list[int]] = {}
    for hit in () if isinstance(hits, str) else hits:
        if hit.path in tests:
            named.setdefault(hit.path, []).append(hit.line)
    return named


def _around(path: str, numbers: Sequence[int], room: Room) -> list[Outlined]:
    """The smallest definitions that hold these lines; nothing where none does."""
    definitions = [each for each in definitions_in(path, room) if each.kind not in ("variable", "constant")]
    holding = [
        min(around, key=lambda each: each.last - each.first)
        for number in numbers
        if (around := [each for each in definitions if each.first <= number <= each.last])
    ]
    return [*dict.fromkeys(holding)]


def _listed(holding: Sequence[Outlined]) -> str:
    names = [f"{each.name} {each.first}-{each.last}" for each in holding]
    more = f" and {len(names) - _MAX_AROUND} more" if len(names) > _MAX_AROUND else ""
    return f": {', '.join(names[:_MAX_AROUND])}{more}" if names else ""


def _code(holding: Mapping[str, Sequence[Outlined]], room: Room) -> Iterator[str]:
    """The first tests as they are written, as many as there is room for."""
    left = _MAX_CODE_LINES
    for path, definitions in holding.items():
        lines = room.index.text(path).splitlines()
        for each in definitions:
            left -= each.last - each.first + 1
            if left < 0:
                return
            yield f"\n{numbered(path, lines, each.first, each.last, is_part=True)}"
