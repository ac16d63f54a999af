"""Which parts of a file a request or a change is about, as many as there is room for, and an outline of the rest."""

from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import NamedTuple

from cogworks.sight.called import called_by, used_by_test, users_of
from cogworks.sight.cards import VALUES, Outlined
from cogworks.sight.index import Index
from cogworks.sight.matching import LEAST_NAME, TOUCHED, Sought, meant_in, names_of, scores_of, with_users
from cogworks.sight.outlines import outline_text, sections_of
from cogworks.sight.passages import GAP_TOKENS, Passages, documentation
from cogworks.sight.seen import Stretch
from cogworks.sight.stretches import closed, merged, numbered_slices, tokens_of

_MAX_PARTS = 40
_ALONE_SHARE, _AMONG_SHARE, _SHORT_SHARE = 0.75, 0.65, 0.85
"""Of the room left, what one definition may take, by whether others come near it, and where it is short; of what is longer the lines that
match are shown."""
_ABOUT_SHARE = 0.85
"""Of the room left, what the function takes that matches best or that the request names, whole or in its likeliest parts."""
_SHORT = 60
"""Lines of a definition that is rather shown whole."""
_MEANT_SHARE = 0.95
"""Of the room left, what a function may take that the request names; where it is longer, it is shown without its documentation."""
_NEAR = 0.6
"""Of the best definition's score, what comes near it."""
_OUTLINE_SHARE = 0.08
_LEAST_SHARE = 0.4
"""Of the best definition's score: what matches less is only in the outline."""
_LEAST_TOKENS = 100
_HEAD_SHARE = 0.25
"""Of a test file's room, what its beginning may take."""
_SHORT_SECTION = 20
"""Lines of a section of a document that is shown whole or not at all."""
_MAX_LEAD, _MAX_HEADER = 25, 12
_HEADER_ENDS = (":", "{", "=>", "= [", "= (")
_HOLDERS = frozenset(
    [
        "class",
        "struct",
        "interface",
        "trait",
        "enum",
        "module",
        "namespace",
        "record",
        "union",
        "test",
        "section",
    ]
)
_MAX_HELD_WHOLE = 40
"""Lines of a class or a group that is shown with all its members."""
_MAX_BODY_LINES = 600
_MAX_NAMES = 2
_AROUND_NEW = 2
"""Lines shown on both sides of one that is new."""
_COMMENTS = ("#", "//", "/*", "*", "--")


class Excerpt(NamedTuple):
    """What is shown of a file that is too long to be shown whole."""

    text: str
    stretches: tuple[Stretch, ...]
    names: tuple[str, ...]
    """Of the definitions that match best."""


def excerpt(
    path: str,
    lines: Sequence[str],
    definitions: Sequence[Outlined],
    sought: Sought,
    room: int,
    *,
    is_test: bool = False,
    top: Stretch | None = None,
) -> Excerpt | None:
    """The parts that match best, in the order of the file; None where there is room for none.

    Args:
        is_test: its beginning, where tests say what they import and share, is shown as well.
        top: lines near its beginning that are shown as well.
    """
    return _Excerpt(path, lines, definitions, sought, is_test=is_test, top=top).within(room)


def best_names(
    path: str, lines: Sequence[str], definitions: Sequence[Outlined], sought: Sought
) -> tuple[str, ...]:
    """The names of the definitions of a file that match best."""
    return _Excerpt(path, lines, definitions, sought).names


class _Excerpt:
    def __init__(
        self,
        path: str,
        lines: Sequence[str],
        definitions: Sequence[Outlined],
        sought: Sought,
        *,
        is_test: bool = False,
        top: Stretch | None = None,
    ) -> None:
        self._is_test, self._top = is_test, top
        self._lines = lines
        self._definitions = definitions
        touched = self._in_code(sought.touched.get(path, ()))
        sought = sought._replace(touched={**sought.touched, path: touched})
        self._meant = meant_in(sought)
        self._quoted = sought.quoted
        self._members_of = self._members()
        self._texts = [self._own_text(place) for place in range(len(definitions))]
        self._touched = frozenset(touched)
        basis = scores_of(definitions, self._texts, sought, path)
        self._scores = with_users(basis, definitions, self._texts, sought.used)
        self.names = self._best()
        used = (*sought.used, *self.names)
        self._scores = with_users(basis, definitions, self._texts, used)
        self._passages = Passages(lines, sought._replace(used=used), touched)
        self._about = self._asked_about()
        self._called: frozenset[int] = frozenset()

    def within(self, room: int) -> Excerpt | None:
        outline = outline_text(self._definitions, self._scores, round(_OUTLINE_SHARE * room))
        left = room - tokens_of(outline) - GAP_TOKENS
        chosen = self._beginning(round(_HEAD_SHARE * left))
        waiting = self._order()
        taken: set[int] = set()
        while waiting and len(taken) < _MAX_PARTS:
            place = waiting.pop(0)
            if place in taken:
                continue
            spent = tokens_of(numbered_slices(self._lines, chosen)) if chosen else 0
            if left - spent < _LEAST_TOKENS:
                break
            part = self._part(place, left - spent)
            attempt = merged([*chosen, *part])
            taken.add(place)
            if part and tokens_of(numbered_slices(self._lines, attempt)) <= left:
                chosen = attempt
                waiting = self._with_used(place, self._used(place, taken), waiting)
        if not chosen:
            return None
        chosen = closed(self._lines, chosen, left)
        text = numbered_slices(self._lines, chosen)
        rest = outline_text(self._definitions, self._scores, room - tokens_of(text) - 2, without=chosen)
        return Excerpt(f"{text}\n\n{rest}" if rest else text, tuple(chosen), self.names)

    def _asked_about(self) -> frozenset[int]:
        """Places of the functions that the request names, and of the one that matches best."""
        best = self._order()[:1] if self._definitions else []
        return frozenset([*best, *filter(self._is_meant, range(len(self._definitions)))])

    def _order(self) -> list[int]:
        """Places of what is shown, the best first; the whole file where it has no definitions."""
        if not self._definitions:
            return [-1]
        best = max(self._scores, default=0.0)
        least = _LEAST_SHARE * min(best, TOUCHED)
        return [
            place
            for place in sorted(range(len(self._scores)), key=lambda place: (-self._scores[place], place))
            if self._scores[place] > 0 and self._scores[place] >= least
        ]

    @property
    def _share(self) -> float:
        order = sorted(self._scores, reverse=True)
        return _AMONG_SHARE if len(order) > 1 and order[1] >= _NEAR * order[0] else _ALONE_SHARE

    def _best(self) -> tuple[str, ...]:
        names = (self._definitions[place].name for place in self._order() if self._definitions)
        return tuple(dict.fromkeys(name for name in names if len(name) >= LEAST_NAME))[:_MAX_NAMES]

    def _members(self) -> list[frozenset[int]]:
        """Of each class or group of tests, the lines of its members; nothing of what is no such thing."""
        members: list[set[int]] = [set() for _ in self._definitions]
        for each in self._definitions:
            if each.parent >= 0 and self._definitions[each.parent].kind in _HOLDERS:
                members[each.parent].update(range(each.first, each.last + 1))
        return [*map(frozenset, members)]

    def _own_text(self, place: int) -> str:
        """What is not its members'."""
        each, members = self._definitions[place], self._members_of[place]
        last = min(each.last, each.first + _MAX_BODY_LINES, len(self._lines))
        return "\n".join(
            self._lines[number - 1] for number in range(each.first, last + 1) if number not in members
        )

    def _part(self, place: int, room: int) -> list[Stretch]:
        """A definition below the headers of those around it, or of a long one its header and the lines that match."""
        if place < 0:
            return self._passages.matching(range(1, len(self._lines) + 1), room, or_beginning=True)
        own, members = self._definitions[place], self._members_of[place]
        headers = self._around(own)
        whole = [(own.first, own.last), *headers]
        length = own.last - own.first
        is_about = place in self._about and not members
        share = round((_ABOUT_SHARE if is_about else self._share) * room)
        if own.kind == "section" and (attempt := self._whole_section(place, room)) is not None:
            return attempt
        if (own.name in self._meant or place in self._called) and not members:
            for attempt in (whole, [*self._without_documentation(own), *headers]):
                if self._passages.cost(attempt) <= round(_MEANT_SHARE * room):
                    return attempt
        is_short = not members or length < _MAX_HELD_WHOLE
        most = _SHORT_SHARE if length < _SHORT or is_about else self._share
        # Half a test shows nobody how tests are written here.
        most = _MEANT_SHARE if self._is_test and own.kind not in _HOLDERS - {"test"} else most
        if is_short and self._passages.cost(whole) <= round(most * room):
            return whole
        header = (max(own.first, own.line - _MAX_LEAD), self._header_end(own))
        left = share - self._passages.cost([header, *headers])
        if left < 0:
            return []
        last = min(own.last, len(self._lines))
        numbers = [number for number in range(header[1] + 1, last + 1) if number not in members]
        inside = self._passages.matching(numbers, left, or_beginning=not members)
        return [header, *headers, *inside] if inside or header[1] >= own.last else []

    def _whole_section(self, place: int, room: int) -> list[Stretch] | None:
        """What a section says itself, where it is short or meant; None where a part of it has to do. Of a few lines a part helps nobody."""
        own = self._definitions[place]
        attempt = [(own.first, min(self._members_of[place], default=own.last + 1) - 1)]
        is_short = attempt[0][1] - own.first < _SHORT_SECTION
        if not is_short and not self._quoted.names(own.name) and not self._is_meant(place):
            return None
        if self._passages.cost(attempt) <= round(_MEANT_SHARE * room):
            return attempt
        return [] if is_short else None

    def _with_used(self, place: int, used: Sequence[int], waiting: Sequence[int]) -> list[int]:
        """What is used comes first: of a function that the request names, after the others that it names, and what those use
        themselves after all of that."""
        if not used:
            return [*waiting]
        if self._is_test:
            return [*used, *(each for each in waiting if each not in used)]
        is_direct = self._is_asked_for(place)
        first = [
            *takewhile(
                lambda each: self._is_asked_for(each) or (not is_direct and each in self._called), waiting
            )
        ]
        if is_direct:
            self._called |= frozenset(used)
            self._about |= self._called
        return [*first, *used, *(each for each in waiting[len(first) :] if each not in used)]

    def _is_meant(self, place: int) -> bool:
        """Whether the request names a definition, what the heading of a section is about, or a test by its title."""
        own = self._definitions[place]
        is_titled = own.kind == "test" and self._quoted.says(own.name)
        return is_titled or not self._meant.isdisjoint(names_of(own))

    def _is_asked_for(self, place: int) -> bool:
        """Whether the request names a definition, or it is a small one that was changed."""
        return self._is_touched(place) or self._is_meant(place)

    def _is_touched(self, place: int) -> bool:
        own = self._definitions[place]
        return not self._members_of[place] and not self._touched.isdisjoint(range(own.first, own.last + 1))

    def _used(self, place: int, taken: Collection[int]) -> list[int]:
        """Of its own file, what a test uses; of what was changed or is named, what a function calls; of a changed constant, who uses it."""
        if place < 0 or self._members_of[place]:
            return []
        if self._is_test:
            return used_by_test(place, self._definitions, self._own_text(place), but=taken)
        own = self._definitions[place]
        if not (self._is_asked_for(place) or place in self._called):
            return []
        if own.kind in VALUES:
            # Of one that is only named, who uses it would take the room of what was asked for.
            if not self._is_touched(place):
                return []
            return users_of(place, self._definitions, self._texts, scores=self._scores, but=taken)
        code = (
            self._lines[at - 1]
            for first, last in self._without_documentation(own)
            for at in range(first, last + 1)
        )
        return called_by(place, self._definitions, "\n".join(code), scores=self._scores, but=taken)

    def _without_documentation(self, own: Outlined) -> list[Stretch]:
        """The header and the code of a definition."""
        header, last = self._header_end(own), min(own.last, len(self._lines))
        documented = documentation(self._lines, range(header + 1, last + 1))
        return [(own.line, header), (max(documented.stop, header + 1), last)]

    def _in_code(self, touched: Sequence[int]) -> tuple[int, ...]:
        """The touched lines that are no documentation; all of them where there are no others. The diff has its words already."""
        documented = {
            number
            for each in self._definitions
            if any(each.first <= line <= each.last for line in touched)
            for number in documentation(
                self._lines, range(self._header_end(each) + 1, min(each.last, len(self._lines)) + 1)
            )
        }
        return tuple(each for each in touched if each not in documented) or tuple(touched)

    def _around(self, own: Outlined) -> list[Stretch]:
        """The headers of what a definition is in."""
        headers = []
        while own.parent >= 0:
            own = self._definitions[own.parent]
            headers.append((own.line, self._header_end(own)))
        return headers

    def _header_end(self, own: Outlined) -> int:
        if own.kind == "section":
            return min(own.last, own.line + 1)
        for number in range(own.line, min(own.last, own.line + _MAX_HEADER) + 1):
            if number <= len(self._lines) and self._lines[number - 1].rstrip().endswith(_HEADER_ENDS):
                return number
        return own.line

    def _beginning(self, room: int) -> list[Stretch]:
        """Of a test file what stands before its first definition that is more than a name, without comments above it."""
        if not self._is_test:
            first, last = self._top or (1, 0)
            return self._passages.beginning(range(first, min(last, len(self._lines)) + 1), room)
        first = min(
            (each.first for each in self._definitions if each.kind not in VALUES),
            default=len(self._lines) + 1,
        )
        start = next(
            (
                number
                for number, line in enumerate(self._lines[: first - 1], 1)
                if line.strip() and not line.lstrip().startswith(_COMMENTS)
            ),
            first,
        )
        return self._passages.beginning(range(start, first), room)


def around_changes(
    index: Index, path: str, added: Collection[int], *, room_tokens: int, is_test: bool = False
) -> str | None:
    """The added lines with what is right around them and, where there is room, the definitions that hold them; with line numbers.

    Args:
        added: numbers of lines, from 1, in the file as the tree has it.
        room_tokens: a file that fits is not cut.
        is_test: its beginning, with imports and what its tests share, is shown as well.

    Returns:
        None where the file fits whole, or where nothing of it can be cut.
    """
    text = index.text(path)
    if not added or tokens_of(text) <= room_tokens:
        return None
    lines = text.splitlines()
    card = index.cards([path]).get(path)
    definitions = (card.definitions if card is not None else ()) or sections_of(path, lines)
    # First: a row of a long table is no definition of its own, and would be left out with most of its table.
    new = _stretches_of(added, len(lines), room_tokens, lines)
    spent = tokens_of(numbered_slices(lines, new)) if new else 0
    holding = excerpt(
        path,
        lines,
        definitions,
        Sought({}, touched={path: tuple(sorted(added))}),
        room_tokens - spent,
        is_test=is_test,
    )
    # What else is in it would only fill the room; a reader who wants to know asks for the outline.
    shown = merged([*new, *(holding.stretches if holding is not None else ())])
    return numbered_slices(lines, shown) if shown else None


def _stretches_of(added: Collection[int], length: int, room: int, lines: Sequence[str]) -> list[Stretch]:
    """The added lines with as much around them as there is room for; of too many the first."""
    numbers = sorted(number for number in added if 1 <= number <= length)
    for around in (_AROUND_NEW, 1, 0):
        stretches = merged([(max(1, number - around), min(length, number + around)) for number in numbers])
        if tokens_of(numbered_slices(lines, stretches)) <= room:
            return stretches
    few = len(numbers)
    while few and tokens_of(numbered_slices(lines, merged([(each, each) for each in numbers[:few]]))) > room:
        few //= 2
    return merged([(each, each) for each in numbers[:few]])
