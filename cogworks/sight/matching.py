"""How much a request is about each definition of a file, and which lines can have written what it quotes."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from cogworks.sight.cards import Outlined
from cogworks.sight.seen import Stretch
from cogworks.sight.words import terms_of

MAX_CHARS = 60_000
"""Of a longer request only the beginning is looked at."""
_LITERAL = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]|\\.){6,400})\1""")
_VALUE = re.compile(r"%(?:\(\w+\))?[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|#?\$?\{[^{}]{0,80}\}")
"""Where a value is put into a text: `%s`, `%(name)d`, `{}`, `{name!r}`, `${name}`, `#{name}`."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_MARKUP = re.compile(r"[`*_]")
_SPACE = re.compile(r"\s+")
_ESCAPED = re.compile(r"\\(.)")
_MAX_VALUE = 160
"""Characters of a value between two fixed parts."""
_LEAST_OF_TITLE = 3
_LEAST_WORDS, _LEAST_LETTERS = 2, 8
"""Of the fixed parts: what is shorter says nothing."""
_SURE_WORDS, _SURE_LETTERS = 3, 12
"""Of those of a message that leads to a file."""
_MAX_STARTS = 50


class Quoted:
    """A request, ready to be asked which lines can have written a part of it."""

    def __init__(self, text: str) -> None:
        self._text = _SPACE.sub(" ", text[:MAX_CHARS])
        self._words = frozenset(_WORD.findall(self._text))
        self._lower = self._text.lower()

    def names(self, heading: str) -> bool:
        """Whether the request names a section of a document by all of its heading; a heading of one word is too common. Never raises."""
        plain = _SPACE.sub(" ", _MARKUP.sub("", heading)).strip().lower()
        return len(_WORD.findall(plain)) >= _LEAST_WORDS and plain in self._lower

    def says(self, title: str) -> bool:
        """Whether the request has the whole title of a test; one of fewer than three words is too common. Never raises."""
        plain = _SPACE.sub(" ", title).strip().lower()
        return len(_WORD.findall(plain)) >= _LEAST_OF_TITLE and plain in self._lower

    def is_written_by(self, line: str) -> bool:
        """Whether a string in a line of code is a message of the request, whatever values stand in it. Never raises."""
        return any(self._has(match[2], _LEAST_WORDS, _LEAST_LETTERS) for match in _LITERAL.finditer(line))

    def is_surely_written_by(self, text: str) -> bool:
        """Whether a string in a file is a message of the request that hardly stands there by chance. Never raises."""
        return any(self._has(match[2], _SURE_WORDS, _SURE_LETTERS) for match in _LITERAL.finditer(text))

    def _has(self, literal: str, least_words: int, least_letters: int) -> bool:
        parts = [_SPACE.sub(" ", part) for part in _VALUE.split(_ESCAPED.sub(r"\1", literal))]
        words = [word for part in parts for word in _WORD.findall(part)]
        if len(words) < least_words or sum(map(len, words)) < least_letters:
            return False
        # Cheap, and nearly always the end of it.
        return self._words.issuperset(words) and self._follow([part for part in parts if part.strip()])

    def _follow(self, parts: Sequence[str]) -> bool:
        """Whether the parts stand one after the other, with no more than a value between them."""
        start = -1
        for _ in range(_MAX_STARTS):
            start = self._text.find(parts[0], start + 1)
            if start < 0:
                return False
            end = start + len(parts[0])
            for part in parts[1:]:
                at = self._text.find(part, end, end + _MAX_VALUE + len(part))
                if at < 0:
                    break
                end = at + len(part)
            else:
                return True
        return False


_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")
_LOOKS_LIKE_CODE = re.compile(r"\w_\w|[a-z][A-Z]")
_K1, _B = 1.2, 0.6
_HEAD_WEIGHT = 3
"""How often a word of its header counts, beside those of its body."""
_NAMED, _NAMED_SHARE = 12.0, 0.25
"""What the name of a definition counts when the request names it: as much as some rare words, and in a long request, whose words are many, so
much of the best score, by how much it is stressed."""
USES = 6.0
"""What using one of the best definitions counts."""
_MEMBER_SHARE = 0.4
"""Of what being named counts, what it counts for the members of a class that is named."""
_MENTIONED = 3.0
"""A parameter, or another word of a header, that the request names."""
TOUCHED = 1_000.0
"""Before everything that only matches; the smallest definition around a touched line first."""
_LOOKED = 12.0
"""What a definition counts that somebody looked at before, as far as the look was at little else."""
WRITES = 12.0
"""What a line counts that can have written a message which the request quotes."""
_LENGTH, _LONG = 0.5, 60
"""By what power of how many such stretches of lines it has a definition's score is divided: what is long says something of everything."""
_EXPORTED = "__all__"
"""A list of names: it says every word of a package and decides nothing."""
LEAST_NAME = 4
_SURE = 0.7
"""How sure it is of a name that looks like code; words of a title and quoted ones are surer."""


class Sought(NamedTuple):
    """What is looked for in files."""

    terms: Mapping[str, float]
    symbols: Mapping[str, float] = MappingProxyType({})
    stressed: Mapping[str, float] = MappingProxyType({})
    touched: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    used: Collection[str] = ()
    """Names of the best definitions so far: who uses them matters as well."""
    looked: Mapping[str, Sequence[Stretch]] = MappingProxyType({})
    """Path -> lines that somebody looked at before."""
    quoted: Quoted = Quoted("")
    """The request, for messages that it quotes and headings that it names."""


def meant_in(sought: Sought) -> frozenset[str]:
    """Names that the request says as code, or in its title: a reader needs the whole of what they stand for."""
    return frozenset(
        name for name, weight in sought.symbols.items() if weight >= _SURE and len(name) >= LEAST_NAME
    )


def names_of(each: Outlined) -> frozenset[str]:
    """The name of a definition; of a section what its heading says as code, with its spelling: `withBase(input, base)`."""
    if each.kind != "section":
        return frozenset((each.name,))
    return frozenset(
        match[0]
        for match in _IDENTIFIER.finditer(each.name)
        if _LOOKS_LIKE_CODE.search(match[0]) or each.name[match.end() : match.end() + 1] == "("
    )


def scores_of(
    definitions: Sequence[Outlined], texts: Sequence[str], sought: Sought, path: str
) -> list[float]:
    """BM25 over the definitions of a file, with what its names and touched lines add; without who uses what.

    Args:
        texts: of each definition, what is its own.
        path: of the file.
    """
    touched, looked = sought.touched.get(path, ()), sought.looked.get(path, ())
    heads = [f"{each.name} {each.documentation} {each.signature}" for each in definitions]
    counts = [
        Counter([*terms_of(text), *(term for term in {*terms_of(head)} for _ in range(_HEAD_WEIGHT))])
        for text, head in zip(texts, heads, strict=True)
    ]
    rarity = rarity_of(sought.terms, counts)
    average = max(1.0, sum(map(Counter.total, counts)) / max(1, len(counts)))
    mentioned = any_of(sought.symbols)
    by_words = [
        _bm25(counts[place], rarity, average) / (1 + _length(each, texts[place]) / _LONG) ** _LENGTH
        for place, each in enumerate(definitions)
    ]
    more = max(0.0, _NAMED_SHARE * max(by_words, default=0.0) - _NAMED)
    elsewhere = _meant_elsewhere(definitions, sought.symbols)
    return [
        _touching(each, touched)
        if each.name == _EXPORTED
        else by_words[place]
        + (place not in elsewhere) * _NAMED * _named_by(each, sought.symbols)
        + (place not in elsewhere) * more * _named_by(each, sought.stressed)
        + _MEMBER_SHARE * (_NAMED + more) * _holder_named(definitions, place, sought.symbols)
        + (2 * (_NAMED + more) if is_quoted(each, sought.quoted) else 0.0)
        + (_MENTIONED if mentioned and mentioned.search(_after_name(each)) else 0.0)
        + _touching(each, touched)
        + _LOOKED * _looked_at(each, looked)
        + (WRITES if any(map(sought.quoted.is_written_by, texts[place].splitlines())) else 0.0)
        for place, each in enumerate(definitions)
    ]


def is_quoted(each: Outlined, quoted: Quoted) -> bool:
    """Whether the request says the heading of a section, or the title of a test, as it stands."""
    return (
        quoted.names(each.name) if each.kind == "section" else each.kind == "test" and quoted.says(each.name)
    )


def _named_by(each: Outlined, names: Mapping[str, float]) -> float:
    return max((names.get(name, 0.0) for name in names_of(each)), default=0.0)


def _holder_named(definitions: Sequence[Outlined], place: int, symbols: Mapping[str, float]) -> float:
    """How sure it is that the class around a definition is meant."""
    parent = definitions[place].parent
    is_held = parent >= 0 and definitions[parent].kind != "section"
    return _named_by(definitions[parent], symbols) if is_held else 0.0


def _meant_elsewhere(definitions: Sequence[Outlined], symbols: Mapping[str, float]) -> frozenset[int]:
    """Places of the definitions whose name is meant for another one: for that in a class which is named as well."""
    alike: dict[str, list[int]] = {}
    for place, each in enumerate(definitions):
        if each.name in symbols:
            alike.setdefault(each.name, []).append(place)
    elsewhere: set[int] = set()
    for places in alike.values():
        inside = [place for place in places if _holder_named(definitions, place, symbols) > 0.0]
        elsewhere.update(place for place in places if inside and place not in inside)
    return frozenset(elsewhere)


def with_users(
    scores: Sequence[float], definitions: Sequence[Outlined], texts: Sequence[str], used: Collection[str]
) -> list[float]:
    """The same scores with what uses one of these names ahead of what does not."""
    uses = any_of(used)
    return [
        score + (USES if uses and each.name not in (*used, _EXPORTED) and uses.search(text) else 0.0)
        for score, each, text in zip(scores, definitions, texts, strict=True)
    ]


def rarity_of(terms: Mapping[str, float], counts: Sequence[Counter[str]]) -> Mapping[str, float]:
    """How much each term says in one file: what half of its parts hold says little."""
    often = {term: sum(term in each for each in counts) for term in terms}
    total = len(counts)
    return {
        term: weight * math.log(1 + (total - often[term] + 0.5) / (often[term] + 0.5))
        for term, weight in terms.items()
        if often[term]
    }


def any_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """Finds any of some names as a word of its own; None where all are too short to say anything."""
    some = sorted(name for name in names if len(name) >= LEAST_NAME)
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, some))})(?![\w$])") if some else None


def _bm25(counts: Counter[str], rarity: Mapping[str, float], average: float) -> float:
    length = 1 - _B + _B * counts.total() / average
    return sum(
        weight * counts[term] * (_K1 + 1) / (counts[term] + _K1 * length)
        for term, weight in rarity.items()
        if counts[term]
    )


def _touching(each: Outlined, touched: Collection[int]) -> float:
    if any(each.first <= line <= each.last for line in touched):
        return TOUCHED / (1 + (each.last - each.first) / _LONG)
    return 0.0


def _looked_at(each: Outlined, looked: Sequence[Stretch]) -> float:
    """0 to 1: how much of a definition somebody looked at; what was looked at with much else counts less."""
    length = each.last - each.first + 1
    return max(
        (
            max(0, min(last, each.last) - max(first, each.first) + 1)
            / length
            * min(1.0, _LONG / (last - first + 1))
            for first, last in looked
        ),
        default=0.0,
    )


def _length(each: Outlined, text: str) -> int:
    """In lines; the sections within a section are no part of what it says itself."""
    return text.count("\n") if each.kind == "section" else each.last - each.first


def _after_name(each: Outlined) -> str:
    return each.signature.partition(each.name)[2]
