"""What one file says: its terms and definitions, read once for each content and ending."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from cogworks.grammars.facts import FileFacts, Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import grammar_of
from cogworks.sight.kinds import Kind, looks_generated
from cogworks.sight.words import count_terms

MAX_INDEXED_CHARS = 1_000_000
"""Of a longer file only the beginning is searched by words."""
MAX_TERMS = 4_000
"""Different terms of one file."""
_TEXTS = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_QUOTES = ('"""', "'''")
_OPENED = (*_QUOTES, 'r"""')
_MOST_BELOW = 12
"""Lines from a header to what documents it."""


VALUES = frozenset(["constant", "variable"])
"""Kinds of definitions that are only names with something in them."""


class Outlined(NamedTuple):
    """A definition as an outline shows it."""

    name: str
    kind: str
    first: int
    """First line, with what belongs to it above."""
    last: int
    line: int
    """Where the declaration itself begins."""
    parent: int
    """Place of the definition around it in the file's list; -1: none."""
    signature: str
    documentation: str
    """Its first line."""


class Card(NamedTuple):
    """One file's content."""

    is_generated: bool
    """Its beginning, or the length of its lines, says that nobody wrote it by hand."""

    line_count: int
    length: int
    """Terms in it, repeated ones counted."""
    text: Mapping[str, int]
    """Term -> how often."""
    names: Mapping[str, int]
    """The same of the names of its definitions."""
    definitions: tuple[Outlined, ...]
    imports: tuple[tuple[str, str], ...]
    """Module and name as written; an empty name is the module as a whole."""


def card_of(path: str, text: str) -> Card:
    """The card of a file; never raises."""
    return cards_of([(path, text)])[0]


def cards_of(files: Sequence[tuple[str, str]]) -> list[Card]:
    """The cards of files, given by path and text; never raises.

    One thing is done for all of them before the next: that takes a sixth less than to do everything for one after the other.
    """
    facts = [facts_of(path, text) for path, text in files]
    definitions = [outlined(each, text) if each else () for each, (_, text) in zip(facts, files, strict=True)]
    counted = [count_terms(text[:MAX_INDEXED_CHARS]) for _, text in files]
    names = [count_terms("\n".join([own.name for own in each])) for each in definitions]
    return [
        Card(
            is_generated=looks_generated(text),
            line_count=text.count("\n") + (not text.endswith("\n") and bool(text)),
            length=sum(terms.values()),
            text=_first_terms(terms),
            names=_first_terms(named),
            definitions=own,
            imports=_imports(said) if said else (),
        )
        for (_, text), said, own, terms, named in zip(files, facts, definitions, counted, names, strict=True)
    ]


def _imports(facts: FileFacts) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((each.module, each.name or "") for each in facts.imports))


def _first_terms(counted: Mapping[str, int]) -> Mapping[str, int]:
    return counted if len(counted) <= MAX_TERMS else dict(islice(counted.items(), MAX_TERMS))


def facts_of(path: str, text: str) -> FileFacts | None:
    """What a grammar reads in a file; None where there is none, or it can make nothing of it."""
    spec = grammar_of(path)
    if spec is None:
        return None
    facts = gather(spec, text.encode(errors="replace"), is_outline=True)
    return None if isinstance(facts, Unreadable) else facts


def outlined(facts: FileFacts, text: str) -> tuple[Outlined, ...]:
    """Its definitions, each with the first line of what documents it."""
    below = _Below(text)
    return tuple(
        Outlined(
            each.name,
            each.kind,
            *each.lines,
            each.line,
            each.parent,
            each.signature,
            _first_line(each.documentation) or below.of(each.line, each.lines[1]),
        )
        for each in facts.definitions
    )


def as_text(card: Card) -> str:
    """A card without its terms, for keeping."""
    return _TEXTS.encode([card.line_count, card.length, card.definitions, card.imports])


def from_text(text: str) -> Card:
    """What `as_text` kept."""
    line_count, length, definitions, imports = json.loads(text)
    return Card(
        is_generated=False,
        line_count=line_count,
        length=length,
        text={},
        names={},
        definitions=tuple(Outlined(*each) for each in definitions),
        imports=tuple((module, name) for module, name in imports),
    )


def _first_line(documentation: str) -> str:
    return next((line.strip(" /*#") for line in documentation.splitlines() if line.strip(" /*#")), "")[:200]


class _Below:
    """Texts that stand right below a header, as some languages document."""

    def __init__(self, text: str) -> None:
        has_any = any(quotes in text for quotes in _QUOTES)
        self._lines = [line.strip() for line in text.splitlines()] if has_any else []
        self._at = [at for at, line in enumerate(self._lines) if line.startswith(_OPENED)]

    def of(self, line: int, last: int) -> str:
        """The first line of the first of them."""
        place = bisect_left(self._at, line)
        if place == len(self._at) or self._at[place] >= min(last, line + _MOST_BELOW):
            return ""
        return self._lines[self._at[place]].lstrip("r").strip("\"'").strip()[:200]


def is_searchable(kind: Kind) -> bool:
    """Whether the words of such a file take part in ranking."""
    return kind in (Kind.SOURCE, Kind.TEST, Kind.DOCUMENT, Kind.CONFIGURATION, Kind.DATA, Kind.CHANGELOG)
