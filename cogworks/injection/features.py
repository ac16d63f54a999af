"""What the statistical layer knows of a text: its sentences, and of each sentence the words, and what the words are about."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from cogworks.injection.folding import folded

MAX_TOKENS = 60
"""A sentence that is longer counts as several."""
_LONGEST = 24
"""What a word has beyond says nothing."""
_REACH = 6
"""So many words with a meaning further on, another one still belongs to this one."""
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_TOKEN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[^\W_])+(?:'[a-z]+)?)|(?P<stop>[.!?;](?=\s|$|[\"'”)\]»」』])|[。！？；]|\n)|"
    r"(?P<sign>[:,\"`@<>()\[\]{}/=$#*|–—-]{1,40})"
)


class Features(NamedTuple):
    """What was found, in groups that weigh alike however much each of them holds."""

    words: frozenset[str]
    neighbours: frozenset[str]
    topics: frozenset[str]
    relations: frozenset[str]
    """Topics that stand near each other."""


@dataclass(frozen=True)
class Sentence:
    """One sentence, or one line, of a text."""

    text: str
    line: int
    """From 0."""
    how: str
    """What it was encoded with; empty: nothing."""
    size: int
    """Its words."""
    features: Features


@dataclass(frozen=True)
class Lexicon:
    """What words are about."""

    exact: Mapping[str, frozenset[str]]
    stems: Mapping[str, frozenset[str]]
    rows: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    """First word of a row -> the row, and what it is about."""
    unspaced: Mapping[str, frozenset[str]]
    unspaced_pattern: re.Pattern[str]
    longest_stem: int


@cache
def lexicon() -> Lexicon:
    """The lists that ship with the program."""
    text = (files("cogworks.injection") / "lexicon.toml").read_text(encoding="utf-8")
    return parse_lexicon(text)


def parse_lexicon(text: str) -> Lexicon:
    exact: dict[str, frozenset[str]] = {}
    stems: dict[str, frozenset[str]] = {}
    unspaced: dict[str, frozenset[str]] = {}
    rows: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    for topic, entry in _entries(text):
        words = tuple(_WORD.findall(entry))
        if re.search(f"[{_UNSPACED}]", entry):
            key = entry.replace(" ", "")
            unspaced[key] = unspaced.get(key, frozenset()) | {topic}
        elif entry.endswith("*"):
            stems[words[0]] = stems.get(words[0], frozenset()) | {topic}
        elif len(words) > 1:
            rows[words[0]] = (*rows.get(words[0], ()), (words, topic))
        elif words:
            exact[words[0]] = exact.get(words[0], frozenset()) | {topic}
    longest_first = sorted(unspaced, key=lambda each: (-len(each), each))
    return Lexicon(
        exact=exact,
        stems=stems,
        rows=rows,
        unspaced=unspaced,
        unspaced_pattern=re.compile("|".join(map(re.escape, longest_first))),
        longest_stem=max(map(len, stems)),
    )


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for topic, words in tomllib.loads(text).items():
        for entry in folded("\n".join(words)).split("\n"):
            yield topic, entry


@lru_cache(maxsize=20_000)
def topics_of(word: str) -> frozenset[str]:
    """What one word is about, in every language of the lexicon."""
    known = lexicon()
    found = known.exact.get(word, frozenset())
    for end in range(2, min(len(word), known.longest_stem) + 1):
        found |= known.stems.get(word[:end], frozenset())
    return found


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def sentences(text: str, *, line: int = 0, how: str = "") -> Iterator[Sentence]:
    """Every sentence of a folded text that holds a word.

    Args:
        line: where it begins.
        how: what it was encoded with. All of it stands in one line then.
    """
    tokens: list[_Token] = []
    begins = line
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if match[0] != "\n":
            tokens.append(_Token(kind, match[0], match.start()))
        if kind == "stop" or len(tokens) >= MAX_TOKENS:
            yield from _sentence(text, tokens, begins, how)
            tokens = []
            begins += match[0] == "\n" and not how
    yield from _sentence(text, tokens, begins, how)


def _sentence(text: str, tokens: Sequence[_Token], line: int, how: str) -> Iterator[Sentence]:
    size = sum((len(each.text) + 1) // 2 if each.kind == "run" else each.kind == "word" for each in tokens)
    if size:
        said = text[tokens[0].start : tokens[-1].start + len(tokens[-1].text)]
        yield Sentence(said, line, how, size, _features(tokens, how))


def _features(tokens: Sequence[_Token], how: str) -> Features:
    words = {"<decoded>"} if how else set()
    neighbours: set[str] = set()
    last = "^"
    for each in tokens:
        if each.kind == "run":
            words.update(each.text[at : at + 2] for at in range(len(each.text) - 1))
            neighbours.update(each.text[at : at + 3] for at in range(len(each.text) - 2))
            last = "^"
            continue
        said = "0" if each.text.isdigit() else each.text[:_LONGEST] if each.kind == "word" else each.text[:3]
        words.add(said)
        neighbours.add(f"{last} {said}")
        if each.kind == "word" and len(said) > 5:
            words.add(f"{said[:5]}*")
        last = said
    topics = list(_topics(tokens))
    return Features(
        frozenset(words),
        frozenset(neighbours),
        frozenset(topic for each in topics for topic in each),
        frozenset(_relations(topics)),
    )


def _topics(tokens: Sequence[_Token]) -> Iterator[frozenset[str]]:
    """What each word with a meaning is about, in the order of the words."""
    known = lexicon()
    words = [each.text for each in tokens if each.kind == "word"]
    at = 0
    for each in tokens:
        if each.kind == "run":
            for match in known.unspaced_pattern.finditer(each.text):
                yield known.unspaced[match[0]]
        elif each.kind == "word":
            found = topics_of(each.text[:_LONGEST])
            for row, topic in known.rows.get(each.text, ()):
                if tuple(words[at : at + len(row)]) == row:
                    found |= {topic}
            at += 1
            if found:
                yield found


def _relations(topics: Sequence[frozenset[str]]) -> Iterator[str]:
    for at, first in enumerate(topics):
        for distance, second in enumerate(topics[at + 1 : at + 1 + _REACH]):
            for one in first:
                for other in second:
                    if one == other:
                        continue
                    yield f"{one}+{other}" if one < other else f"{other}+{one}"
                    if distance == 0:
                        yield f"{one}>{other}"


def together(parts: Iterable[Features]) -> Features:
    """What several sentences hold."""
    groups = list(parts)
    return Features(*(frozenset[str]().union(*(each[at] for each in groups)) for at in range(4)))
