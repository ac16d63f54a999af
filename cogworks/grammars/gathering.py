"""What a file of any known language says, read once from its bytes; the same bytes give the same facts."""

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

from cogworks.grammars.declared import bases_in, header_of, parameters_of, shortened, slice_of, text_of
from cogworks.grammars.facts import FILE, TYPES, Call, Definition, FileFacts, Imported, Mistake, Unreadable
from cogworks.grammars.leading import Lead, Leads
from cogworks.grammars.parsing import Match, Parsed, matches, parse
from cogworks.grammars.spec import LanguageSpec, Visible
from cogworks.grammars.testing import is_test_by_form

_MOST_NESTED = 3
"""Stretches that are exported inside of each other."""


class Exported(NamedTuple):
    """What of a file other files may use."""

    stretches: list[tuple[int, int]]
    names: frozenset[str]

    def holds(self, start: int, end: int, *names: str) -> bool:
        """Whether a stretch is in one that is exported, or one of its names is."""
        if not self.names.isdisjoint(names):
            return True
        low = bisect_right(self.stretches, start, key=lambda each: each[0])
        return any(
            first <= start and end <= last for first, last in self.stretches[max(0, low - _MOST_NESTED) : low]
        )


class Inside:
    """Captured nodes in the order of the file."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = sorted(nodes, key=lambda each: each.start_byte)
        self._starts = [each.start_byte for each in self.nodes]

    def last(self, start: int, end: int) -> str:
        """The text of the last one between two bytes; empty: there is none."""
        place = bisect_left(self._starts, end) - 1
        return text_of(self.nodes[place]) if place >= 0 and self._starts[place] >= start else ""


class Finder:
    """Which of nested stretches is the innermost at a byte."""

    def __init__(self, stretches: Sequence[tuple[int, int, int]]) -> None:
        """Args: (start, end, place), nested, sorted by start."""
        self._changes: list[tuple[int, int]] = []
        waiting: list[tuple[int, int]] = []
        for start, end, place in stretches:
            self._close(waiting, start)
            self._changes.append((start, place))
            waiting.append((end, place))
        self._close(waiting, None)

    def _close(self, waiting: list[tuple[int, int]], until: int | None) -> None:
        while waiting and (until is None or waiting[-1][0] <= until):
            end, _ = waiting.pop()
            self._changes.append((end, waiting[-1][1] if waiting else FILE))

    def place(self, at: int) -> int:
        """The place of the innermost stretch; `FILE`: none is there."""
        index = bisect_right(self._changes, at, key=lambda each: each[0]) - 1
        return self._changes[index][1] if index >= 0 else FILE


_DEFINES = "def."
_CALL = "call"
_NAMES = frozenset({"name", "owner"})
_NOT_OUTLINED = frozenset([_CALL, "base", "mark", "access", "exported", "doubt", "package"])
_DOUBTS = "doubt."
_DOTS = (b"?.", b".", b"->", b"::")
_ENDS = b")]}!?"
_NAME = f"{string.ascii_letters}{string.digits}_$".encode()
_LOOK_BACK = 120
_MAX_NAME = 200
_MAX_LINE = 1_000
_MAX_ARGUMENT_DEPTH = 5
_ARGUMENTS = re.compile(r"<[^<>]*>")
MAX_LISTED_MISTAKES = 5


class _Stretch(NamedTuple):
    """A definition or scope as the query found it."""

    node: Node
    kind: str
    """Empty: a scope that is no definition."""
    name: str
    owner: tuple[str, ...]


def gather(spec: LanguageSpec, data: bytes, *, is_outline: bool = False) -> FileFacts | Unreadable:
    """The facts of one file.

    Args:
        is_outline: only names, stretches, signatures and documentation of definitions are wanted, and imports. To read
            the rest is more than half of the work.

    Never raises: what is too long, no text, or nothing a language could be read from is `Unreadable`. A file with
    mistakes gives what can be made out.
    """
    parsed = parse(spec, data)
    if isinstance(parsed, Unreadable):
        return parsed
    captures = matches(spec, parsed, without=_NOT_OUTLINED if is_outline else frozenset())
    return _Gatherer(spec, data, parsed, captures, is_outline=is_outline).facts()


class _Gatherer:
    def __init__(
        self,
        spec: LanguageSpec,
        data: bytes,
        parsed: Parsed,
        captures: Sequence[tuple[int, Match]],
        *,
        is_outline: bool,
    ) -> None:
        self._is_outline = is_outline
        self._spec, self._data, self._mistakes = spec, data, parsed.mistakes
        self._line_count = data.count(b"\n") + (not data.endswith(b"\n"))
        self._nodes: dict[str, list[Node]] = {}
        self._stretches = _stretches(spec, data, captures, self._nodes)
        self._leads = Leads(self._nodes.get("lead", ()), data)
        self._definitions: list[Definition] = []
        self._ends: list[tuple[int, int, int]] = []
        """(start, end, place) of each definition, in the order of the file."""

    def facts(self) -> FileFacts:
        self._define()
        doubts = [name.removeprefix(_DOUBTS) for name in self._nodes if name.startswith(_DOUBTS)]
        package = [text_of(each) for each in self._nodes.get("package", ())[:1]]
        return FileFacts(
            language=self._spec.name,
            line_count=max(1, self._line_count),
            definitions=tuple(self._definitions),
            calls=tuple(self._calls()),
            imports=tuple(self._imports()),
            mistakes=tuple(self._reported_mistakes())[:MAX_LISTED_MISTAKES],
            doubts=tuple(self._spec.doubts.get(each, each) for each in sorted(doubts)),
            package="".join(package).strip(),
        )

    def _define(self) -> None:
        around: list[tuple[int, int, tuple[str, ...]]] = []
        """(end, place, names since that place) of what is open, the innermost last."""
        bases = Inside(self._nodes.get("base", ()))
        marks = Inside(self._nodes.get("mark", ()))
        for each in self._stretches:
            start, end = each.node.start_byte, each.node.end_byte
            while around and around[-1][0] <= start:
                around.pop()
            parent, names = (around[-1][1], around[-1][2]) if around else (FILE, ())
            if not each.kind:
                around.append((end, parent, (*names, *each.owner, each.name)))
                continue
            place, row = len(self._definitions), each.node.start_point.row
            lead, header = self._leads.above(each.node, row), header_of(each.node, self._data)
            own = Definition(
                name=each.name,
                kind=each.kind,
                lines=self._lines(each.node, row, lead),
                line=row + 1,
                parent=parent,
                owner=(*names, *each.owner),
                signature=shortened(header),
                documentation=lead.documentation(self._spec.documentation),
            )
            self._definitions.append(own if self._is_outline else self._described(own, each, lead, header))
            self._ends.append((start, end, place))
            around.append((end, place, ()))
        self._attach(bases, marks)

    def _start(self, place: int) -> int:
        return 0 if place == FILE else self._ends[place][0]

    def _described(self, own: Definition, stretch: _Stretch, lead: Lead, header: str) -> Definition:
        """With what no outline shows."""
        start, end = stretch.node.start_byte, stretch.node.end_byte
        # A member that is assigned from outside (`a.b = …`) can be used wherever what it belongs to can be used.
        is_exported = self._exported.holds(start, end, stretch.name, *stretch.owner)
        word = self._access.last(self._start(own.parent), start)
        around = "" if own.parent == FILE else self._definitions[own.parent].kind
        visible = Visible(own.name, own.kind, header, is_exported, word, around)
        parent_is_public = own.parent == FILE or self._definitions[own.parent].is_public
        inside_code = around in ("function", "method", "test")
        return own._replace(
            is_public=parent_is_public and not inside_code and self._spec.is_public(visible),
            is_test=own.kind == "test" or is_test_by_form(self._spec, own.name, own.kind, header, lead.text),
            parameters=parameters_of(stretch.node),
            decorators=lead.attributes(),
        )

    def _attach(self, bases: Inside, marks: Inside) -> None:
        for node in bases.nodes:
            place = self._around(node.start_byte)
            if place != FILE and self._definitions[place].kind in TYPES:
                own = self._definitions[place]
                self._definitions[place] = own._replace(bases=(*own.bases, *bases_in(node)))
        for node in marks.nodes:
            if (place := self._around(node.start_byte)) != FILE:
                own = self._definitions[place]
                self._definitions[place] = own._replace(
                    decorators=(*own.decorators, shortened(text_of(node)))
                )

    def _around(self, at: int) -> int:
        """The innermost definition at a byte."""
        return self._finder.place(at)

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self._ends)  # Asked for only once all definitions are there.

    def _lines(self, node: Node, row: int, lead: Lead) -> tuple[int, int]:
        start = row if lead.first_row is None else lead.first_row
        end, column = node.end_point
        # A node that takes the end of its line with it ends in column 0 of the next.
        last = end - (column == 0 and end > row)
        limit = max(1, self._line_count)
        return min(start + 1, limit), min(max(last, row) + 1, limit)

    def _calls(self) -> Iterator[Call]:
        for node in self._nodes.get(_CALL, ()):
            start = node.start_byte
            receiver = receiver_in(self._data[max(0, start - _LOOK_BACK) : start])
            yield Call(node.start_point.row + 1, self._around(start), text_of(node)[:200], receiver)

    def _imports(self) -> Iterator[Imported]:
        for node in self._nodes.get("import", ()):
            for module, name, alias in self._spec.imports(slice_of(node, self._data)[:10_000]):
                yield Imported(node.start_point.row + 1, module, name, alias)

    def _reported_mistakes(self) -> Iterator[Mistake]:
        """Without those in lines that the grammar is known not to read."""
        if not self._mistakes:
            return
        gaps = re.compile(self._spec.gaps, re.MULTILINE) if self._spec.gaps else None
        for node in self._mistakes:
            start = self._data.rfind(b"\n", 0, node.start_byte) + 1
            line = self._data[start : node.end_byte + _LOOK_BACK][:_MAX_LINE].decode(errors="replace")
            mistake = _mistake(node)
            if gaps is None or not gaps.search(f"{line}\n{mistake.message}"):
                yield mistake

    @cached_property
    def _access(self) -> Inside:
        return Inside(self._nodes.get("access", ()))

    @cached_property
    def _exported(self) -> Exported:
        nodes = self._nodes.get("exported", ())
        return Exported(
            sorted((each.start_byte, each.end_byte) for each in nodes),
            frozenset(text_of(each) for each in nodes if each.child_count == 0),
        )


def receiver_in(before: bytes) -> str | None:
    """The name before the dot that ends a stretch of code: `a` of `a.`, of `a?.` and of `a() ->`; empty where what stands there
    has none, None where there is no dot."""
    code = before.rstrip()
    dot = next((each for each in _DOTS if code.endswith(each)), None)
    if dot is None:
        return None
    called = code.removesuffix(dot).rstrip().rstrip(_ENDS)
    return called[len(called.rstrip(_NAME)) :].decode().lstrip("$")


def _stretches(
    spec: LanguageSpec, data: bytes, matches: Sequence[tuple[int, Match]], others: dict[str, list[Node]]
) -> list[_Stretch]:
    """The definitions and scopes, outer ones first; every other capture goes to `others`."""
    chosen: dict[tuple[int, int], tuple[int, _Stretch]] = {}
    for pattern, nodes_by_name in matches:
        kind = None
        for name, nodes in nodes_by_name.items():
            if kind is None and (name.startswith(_DEFINES) or name == "scope"):
                kind = name
            elif name not in _NAMES:
                others.setdefault(name, []).extend(nodes)
        if kind is None:
            continue
        node = nodes_by_name[kind][0]
        key = (node.start_byte, -node.end_byte)
        if key in chosen and chosen[key][0] <= pattern:
            continue
        if (stretch := _stretch(spec, data, kind, nodes_by_name)) is not None:
            chosen[key] = (pattern, stretch)
    return [chosen[key][1] for key in sorted(chosen)]


def _stretch(spec: LanguageSpec, data: bytes, kind: str, captures: Match) -> _Stretch | None:
    """What a pattern found; None where it has no name to speak of."""
    node = captures[kind][0]
    plain_kind = "" if kind == "scope" else kind.removeprefix(_DEFINES)
    names = [slice_of(each, data) for each in captures.get("name", ())]
    if len(captures) == 2 and len(names) == 1 and names[0].isidentifier() and len(names[0]) <= _MAX_NAME:
        # What is left would make the same of it; so are nearly all.
        return _Stretch(node, plain_kind, names[0], ())
    owner = tuple(part for each in captures.get("owner", ()) for part in _parts(slice_of(each, data), spec))
    is_sentence = kind == "def.test"
    *outer, name = (
        [" ".join("".join(names).split()).strip("`")]
        if is_sentence
        else [part for each in names for part in _parts(each, spec)] or [""]
    )
    if not name or (kind != "scope" and len(name) > _MAX_NAME):
        return None
    return _Stretch(node, plain_kind, name, (*owner, *outer))


def _parts(name: str, spec: LanguageSpec) -> list[str]:
    """`a::b<T>` as a, b; texts that name tests stay as they are."""
    plain = " ".join(name.split())
    for _ in range(_MAX_ARGUMENT_DEPTH if plain[:1].isalpha() and "operator" not in plain else 0):
        if "<" not in plain:
            break
        plain = _ARGUMENTS.sub("", plain)
    is_qualified = spec.separator in plain and " " not in plain
    return [each for each in plain.split(spec.separator) if each] if is_qualified else [plain.strip("\"':")]


def _mistake(node: Node) -> Mistake:
    if node.is_missing:
        return Mistake(node.start_point.row + 1, f"{node.type!r} is missing")
    first = shortened(text_of(node))[:60]
    return Mistake(
        node.start_point.row + 1, f"cannot be read from here on: {first!r}" if first else "cannot be read"
    )
