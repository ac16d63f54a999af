"""What a failure may be about besides the definitions it leads to: tables they name, what the index finds, the tests themselves.

Coverage and call graphs know functions. A table of a module, a constant or a data file is executed when it is loaded, by every test
or by none; it is found by its name in the code that runs, and by the words of the failure.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from cogworks.codebase.changes import matching
from cogworks.domain_services.exploring import Lines, merged
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.sources import lines_of
from cogworks.repair.violations import TestRules
from cogworks.sight.cards import Outlined
from cogworks.sight.index import Index
from cogworks.sight.kinds import Kind
from cogworks.sight.question import About
from cogworks.sight.stretches import imports_in, tokens_of
from cogworks.sight.view import first_view
from cogworks.sight.words import terms_of

ROOM_TOKENS = 8_000
"""For tables and what the index finds together."""
_HOPS = 2
"""A table may name another one."""
_CONTEXT = 4
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MAX_SIGNATURE_LINES = 30
_MAX_GAP = 4
"""Lines between two stretches: fewer are shown with them."""
_MAX_EXECUTED = 60
"""Files whose code is looked at for names."""
_CHANGEABLE = (Kind.SOURCE, Kind.DATA, Kind.CONFIGURATION)


def beyond(
    index: Index,
    failure: str,
    windows: Sequence[Slice],
    *,
    rules: TestRules,
    executed: Sequence[str] = (),
    room_tokens: int = ROOM_TOKENS,
) -> tuple[Slice, ...]:
    """The windows with what else the failure may be about, in order of file and line; windows that touch are one.

    Args:
        failure: what the failing tests say, and their source.
        windows: around the suspects; their code leads to the tables.
        executed: files that the failing tests execute, the most suspicious first; their code leads to further tables.
    """
    terms = frozenset(terms_of(failure))
    taken: dict[str, list[Lines]] = {}
    for each in windows:
        taken.setdefault(each.artifact, []).append(each.lines)
    room = room_tokens
    shown = list(dict.fromkeys(each.artifact for each in windows))
    places = [
        *((path, stretch) for path in shown if (stretch := imports_in(lines_of(index.text(path))))),
        *_tables(index, windows, rules),
        *_tables_around(index, [*shown, *executed][:_MAX_EXECUTED], terms, rules),
        *viewed(index, failure, shown, rules),
    ]
    for path, stretch in places:
        lines = lines_of(index.text(path))
        for part in _within(stretch, lines, terms, room):
            if any(first <= part[0] and part[1] <= last for first, last in taken.get(path, ())):
                continue
            room -= tokens_of("".join(lines[part[0] - 1 : part[1]]))
            taken.setdefault(path, []).append(part)
    cards = index.cards(sorted(taken))
    return tuple(
        Slice(artifact=path, lines=(first, last), text="".join(lines[first - 1 : last]))
        for path in sorted(taken)
        if (lines := lines_of(index.text(path)))
        for first, last in _with_heads(
            merged(taken[path]), cards[path].definitions if path in cards else (), lines
        )
    )


def _with_heads(
    stretches: Sequence[Lines], definitions: Sequence[Outlined], lines: Sequence[str]
) -> list[Lines]:
    """The stretches, and the signatures of the definitions in whose midst one begins."""
    heads = [
        (each.first, _end_of_head(each, lines))
        for first, _ in stretches
        for each in definitions
        if each.first < first <= each.last
    ]
    joined: list[Lines] = []
    for stretch in merged([*stretches, *heads]):
        is_near = bool(joined) and stretch[0] - joined[-1][1] <= _MAX_GAP
        begin = joined.pop()[0] if is_near else stretch[0]
        joined.append((begin, stretch[1]))
    return joined


def _end_of_head(definition: Outlined, lines: Sequence[str]) -> int:
    """The last line of its signature."""
    wanted = "".join(definition.signature.rstrip("… ").split())
    text = ""
    for number, line in enumerate(lines[definition.line - 1 : definition.last][:_MAX_SIGNATURE_LINES]):
        text += "".join(line.split())
        if wanted in text:
            return definition.line + number
    return definition.line


def _tables(index: Index, windows: Sequence[Slice], rules: TestRules) -> Iterator[tuple[str, Lines]]:
    """The module-level names that the windows use, as they are defined in their files and in those they import."""
    names: dict[str, set[str]] = {}
    for window in windows:
        names.setdefault(window.artifact, set()).update(_IDENTIFIER.findall(window.text))
    seen: set[tuple[str, Lines]] = set()
    for _ in range(_HOPS):
        named_next: dict[str, set[str]] = {}
        for path, used in sorted(names.items()):
            near = (path, *sorted(index.imports([path]).get(path, ())))
            for place, card in index.cards(near).items():
                if matching(place, rules.files) is not None:
                    continue
                for each in card.definitions:
                    stretch = (each.first, each.last)
                    if each.parent >= 0 or not _is_data(each) or each.name not in used:
                        continue
                    if (place, stretch) not in seen:
                        seen.add((place, stretch))
                        yield place, stretch
                        text = "".join(lines_of(index.text(place))[each.first - 1 : each.last])
                        named_next.setdefault(place, set()).update(_IDENTIFIER.findall(text))
        names = named_next


def _tables_around(
    index: Index, paths: Sequence[str], terms: Collection[str], rules: TestRules
) -> Sequence[tuple[str, Lines]]:
    """The module-level names that executed code uses, those that share most with the failure first."""
    near = list(
        dict.fromkeys(
            [*paths, *(each for imported in index.imports(paths).values() for each in sorted(imported))]
        )
    )
    used = Counter(name for path in paths for name in _IDENTIFIER.findall(index.text(path)))
    tables = []
    for path, card in index.cards([each for each in near if matching(each, rules.files) is None]).items():
        lines = lines_of(index.text(path))
        for each in card.definitions:
            # Once is where it is defined, if its file is among those that are executed.
            if each.parent < 0 and _is_data(each) and used[each.name] > (path in paths):
                words = frozenset(terms_of("".join(lines[each.first - 1 : each.last])))
                tables.append(
                    (-len(words.intersection(terms)), near.index(path), each.first, each.last, path)
                )
    return [(path, (first, last)) for score, _, first, last, path in sorted(tables) if score < 0]


def _is_data(each: Outlined) -> bool:
    return each.kind in ("variable", "constant")


def viewed(
    index: Index, failure: str, wanted: Sequence[str], rules: TestRules
) -> Iterator[tuple[str, Lines]]:
    """What a first view of the repository would show of such a failure, apart from tests and prose.

    Args:
        wanted: files that it is known to be about.
    """
    about = About(text=failure, wanted=tuple(wanted))
    for each in first_view(index, about, room_tokens=2 * ROOM_TOKENS).files:
        if index.kind(each.path) in _CHANGEABLE and matching(each.path, rules.files) is None:
            yield from ((each.path, lines) for lines in each.lines)


def _within(stretch: Lines, lines: Sequence[str], terms: Collection[str], room: int) -> Iterator[Lines]:
    """A stretch where there is room for it; else those of its lines that say something of the failure, and what is around them."""
    first, last = max(1, stretch[0]), min(stretch[1], len(lines))
    if first > last or room <= 0:
        return
    share = room // 2
    if tokens_of("".join(lines[first - 1 : last])) <= share:
        yield first, last
        return
    shared = [frozenset(terms_of(lines[number - 1])) & frozenset(terms) for number in range(first, last + 1)]
    often = {term: sum(term in each for each in shared) for term in frozenset().union(*shared)}
    order = sorted(range(len(shared)), key=lambda at: (-sum(1 / often[term] for term in shared[at]), at))
    chosen: list[Lines] = []
    for at in order:
        if not shared[at]:
            break
        around = (max(first, first + at - _CONTEXT), min(last, first + at + _CONTEXT))
        attempt = merged([*chosen, around])
        if sum(tokens_of("".join(lines[one - 1 : other])) for one, other in attempt) > share:
            break
        chosen = attempt
    yield from chosen
