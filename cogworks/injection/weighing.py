"""How much a text reads like an order to a model: the statistical layer beside the signatures, learned from the corpora of this repository.

What it knows of a text: its sentences, and of each sentence the words, and what the words are about.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from cogworks.injection.folding import decoded_parts, folded, rewritten, skeleton

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
WINDOW = 100
"""Words that are weighed together, at least; an order is a sentence or two, and what is around it tells what it is about."""
FEWEST_WORDS = 8
"""A name or a heading says too little to be weighed; what was learned are sentences."""
_MAX_DEPTH = 2
# A word of two scripts is a disguise; one of another script is another language.
_MIXED = re.compile(r"\b(?=\w*[a-z])(?=\w*[^\W\d_a-z])\w{2,40}\b")
# It puts strings together that stand near each other, so it finds something in nearly any code.
_UNFIT = "pieces of strings"


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
    """What words are about, by the form of each entry: a word, a beginning (`send*`), a row of words, or writing without blanks.

    Args:
        text: TOML, of each topic the list of its entries. They are folded like a text; one may stand under several topics.
    """
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
    topics = known.exact.get(word, frozenset())
    for end in range(2, min(len(word), known.longest_stem) + 1):
        topics |= known.stems.get(word[:end], frozenset())
    return topics


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
            topics = topics_of(each.text[:_LONGEST])
            for row, topic in known.rows.get(each.text, ()):
                if tuple(words[at : at + len(row)]) == row:
                    topics |= {topic}
            at += 1
            if topics:
                yield topics


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


class Weighed(NamedTuple):
    """The window of a text that reads most like an order."""

    score: float
    kind: str
    line: int
    """From 0."""
    how: str
    said: str
    """The sentence of it that counts most."""


@dataclass(frozen=True)
class Weights:
    """What was learned."""

    version: str
    hold_at: float
    mark_at: float
    bias: float
    scale: float
    """What the whole numbers of the file are multiplied with."""
    groups: tuple[Mapping[str, int], ...]
    """For each group of features, what each of them weighs."""
    kinds: Mapping[str, Mapping[str, int]]
    """Kind of attack -> topic -> what it says for this kind; `` stands for how frequent the kind is."""

    def sum_of(self, features: Features) -> float:
        """How much some features speak for an order, the bias apart."""
        total = 0.0
        for names, weights in zip(features, self.groups, strict=True):
            if names:
                total += sum(weights.get(each, 0) for each in names) / math.sqrt(len(names))
        return total * self.scale

    def score(self, features: Features) -> float:
        return self.bias + self.sum_of(features)

    def kind_of(self, features: Features) -> str:
        """Which kind of attack these features are most likely of."""
        sums = {
            kind: weights.get("", 0) + sum(weights.get(topic, 0) for topic in features.topics)
            for kind, weights in self.kinds.items()
        }
        return max(sorted(sums), key=lambda kind: sums[kind])


@cache
def bundled() -> Weights:
    """The weights that ship with the program."""
    return parse_weights((files("cogworks.injection") / "weights.json").read_text(encoding="utf-8"))


def parse_weights(text: str) -> Weights:
    """Raises: ValueError: the text is no file of weights."""
    data: dict[str, Any] = json.loads(text)
    if missing := {"version", "hold_at", "mark_at", "bias", "scale", "kinds", *Features._fields} - {*data}:
        message = f"weights.json lacks {', '.join(sorted(missing))}; scripts/train-injection writes it"
        raise ValueError(message)
    return Weights(
        version=data["version"],
        hold_at=data["hold_at"],
        mark_at=data["mark_at"],
        bias=data["bias"],
        scale=data["scale"],
        groups=tuple(data[name] for name in Features._fields),
        kinds=data["kinds"],
    )


def weigh(text: str, plain: str | None = None) -> Weighed | None:
    """What in a text reads most like an order; None where it holds too few words.

    Args:
        plain: the text, folded, where that is known.
    """
    weights = bundled()
    best: tuple[float, Sequence[Sentence], Features] | None = None
    for window in windows(tuple(sentences_of(text, plain))):
        if sum(each.size for each in window) < FEWEST_WORDS:
            continue
        features = together(each.features for each in window)
        score = weights.score(features)
        if best is None or score > best[0]:
            best = (score, window, features)
    if best is None:
        return None
    loudest = max(best[1], key=lambda each: weights.sum_of(each.features))
    return Weighed(best[0], weights.kind_of(best[2]), loudest.line, loudest.how, loudest.text)


def sentences_of(text: str, plain: str | None = None) -> Iterator[Sentence]:
    """The sentences of a text, then those that show once an encoding is off."""
    open_text = folded(text) if plain is None else plain
    yield from sentences(_latinised(open_text))
    yield from _decoded(text, text, depth=0)
    lines = open_text.split("\n")
    for whole in rewritten(text):
        if whole.encoding == _UNFIT:
            continue
        for at, line in enumerate(folded(whole.text).split("\n")):
            if at >= len(lines) or line != lines[at]:
                yield from sentences(line, line=min(at, len(lines) - 1), how=whole.encoding)


def _latinised(text: str) -> str:
    return text if text.isascii() else _MIXED.sub(lambda word: skeleton(word[0]), text)


def _decoded(text: str, outer: str, *, depth: int, line: int = -1) -> Iterator[Sentence]:
    for part in decoded_parts(text):
        at = line if depth else outer.count("\n", 0, part.start)
        yield from sentences(folded(part.text), line=at, how=part.encoding)
        if depth < _MAX_DEPTH:
            yield from _decoded(part.text, outer, depth=depth + 1, line=at)


def windows(parts: Sequence[Sentence]) -> Iterator[Sequence[Sentence]]:
    """Stretches of at least `WINDOW` words; each begins half a window after the one before."""
    start = 0
    while start < len(parts):
        end, middle, size = start, start + 1, 0
        while end < len(parts) and size < WINDOW:
            size += parts[end].size
            end += 1
            if size <= WINDOW // 2:
                middle = end
        yield parts[start:end]
        if end == len(parts):
            return
        start = max(middle, start + 1)


def features_of(text: str) -> list[Features]:
    """Of each window of a text, as training sees it."""
    return [_of(window) for window in windows(tuple(sentences_of(text)))]


def _of(window: Iterable[Sentence]) -> Features:
    return together(each.features for each in window)
