"""What one file says: its terms and definitions, read once for each content and ending."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from cogworks.grammars.facts import FileFacts, Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import grammar_of
from cogworks.sight.kinds import Kind, looks_generated
from cogworks.sight.words import count_terms, terms_of

MAX_INDEXED_CHARS = 1_000_000
"""Of a longer file only the beginning is searched by words."""
MAX_TERMS = 4_000
"""Different terms of one file."""


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
    facts = facts_of(path, text)
    counted = count_terms(text[:MAX_INDEXED_CHARS])
    definitions = outlined(facts, text) if facts else ()
    names = Counter(term for each in definitions for term in terms_of(each.name))
    return Card(
        is_generated=looks_generated(text),
        line_count=text.count("\n") + (not text.endswith("\n") and bool(text)),
        length=sum(counted.values()),
        text=dict(islice(counted.items(), MAX_TERMS)),
        names=dict(islice(names.items(), MAX_TERMS)),
        definitions=definitions,
        imports=tuple(dict.fromkeys((each.module, each.name or "") for each in facts.imports))
        if facts
        else (),
    )


def facts_of(path: str, text: str) -> FileFacts | None:
    """What a grammar reads in a file; None where there is none, or it can make nothing of it."""
    spec = grammar_of(path)
    if spec is None:
        return None
    facts = gather(spec, text.encode(errors="replace"), is_outline=True)
    return None if isinstance(facts, Unreadable) else facts


def outlined(facts: FileFacts, text: str) -> tuple[Outlined, ...]:
    """Its definitions, each with the first line of what documents it."""
    lines = text.splitlines()
    return tuple(
        Outlined(
            name=each.name,
            kind=each.kind,
            first=each.lines[0],
            last=each.lines[1],
            line=each.line,
            parent=each.parent,
            signature=each.signature,
            documentation=_first_line(each.documentation) or _below(lines, each.line, each.lines[1]),
        )
        for each in facts.definitions
    )


def as_text(card: Card) -> str:
    """A card without its terms, for keeping."""
    return json.dumps([card.line_count, card.length, card.definitions, card.imports], separators=(",", ":"))


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


def _below(lines: list[str], line: int, last: int) -> str:
    """The first line of a text that stands right below a header, as some languages document."""
    for at in range(line, min(last, line + 12)):
        plain = lines[at].strip() if at < len(lines) else ""
        if plain.startswith(('"""', "'''", 'r"""')):
            return plain.lstrip("r").strip("\"'").strip()[:200]
    return ""


def is_searchable(kind: Kind) -> bool:
    """Whether the words of such a file take part in ranking."""
    return kind in (Kind.SOURCE, Kind.TEST, Kind.DOCUMENT, Kind.CONFIGURATION, Kind.DATA, Kind.CHANGELOG)
