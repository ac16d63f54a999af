"""From text and code to the terms that are looked up: identifiers, their parts, stems of words, and names of files that a request says."""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

MAX_TERM_CHARS = 40
_KEPT = 50_000
"""Words whose terms are remembered. Those that are said again and again are among them; more of them take memory and save no time."""
_MAX_KEPT_CHARS = 200
"""Of each; what is longer, as encoded data are, nobody says twice."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:(?:_+|-)[A-Za-z0-9]+)*")
_PIECES = bytes(
    each if chr(each) in f"{string.ascii_letters}{string.digits}_-" else 32 for each in range(256)
)
"""What no word has is a blank."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
COMMON = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "cannot",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "like",
        "me",
        "more",
        "most",
        "my",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "own",
        "same",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "use",
        "used",
        "uses",
        "using",
        "very",
        "want",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
"""Words that say nothing about where something is."""


def terms_of(text: str) -> Iterator[str]:
    """Every term of a text in order, repeated as often as it is there."""
    for match in _WORD.finditer(text):
        word = match.group()
        yield from _terms(word) if len(word) <= _MAX_KEPT_CHARS else _cut(word)


def count_terms(text: str) -> dict[str, int]:
    """How often each term of a text is there, in the order in which they come first."""
    counted: dict[str, int] = {}
    count = counted.get
    # Most pieces are there several times, and bytes are cut into pieces faster than words are found in text.
    for piece, often in Counter(text.encode(errors="replace").translate(_PIECES).split()).items():
        for term in _terms_in(piece) if len(piece) <= _MAX_KEPT_CHARS else _terms_of_piece(piece):
            counted[term] = count(term, 0) + often
    return counted


def _terms_of_piece(piece: bytes) -> tuple[str, ...]:
    # Past the memory for words: nearly every piece is one word, and nobody else keeps it.
    return tuple(term for word in _WORD.findall(piece.decode()) for term in _cut(word))


def _cut(word: str) -> tuple[str, ...]:
    """An identifier of several parts is a term of its own besides its parts."""
    parts = _PART.findall(word)
    plain = [part.lower() for part in parts if 1 < len(part) <= MAX_TERM_CHARS]
    stems = tuple(_stem(part) for part in plain if part not in COMMON and not part.isdigit())
    whole = word.lower().replace("_", "").replace("-", "")
    if len(parts) < 2 or len(whole) > MAX_TERM_CHARS:
        return stems
    return (whole, *stems)


_terms = lru_cache(maxsize=_KEPT)(_cut)
_terms_in = lru_cache(maxsize=_KEPT)(_terms_of_piece)


@lru_cache(maxsize=_KEPT)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    import snowballstemmer  # type: ignore[import-untyped]  # It has no types.

    return snowballstemmer.stemmer("english")


_HELD_BY_FOLDER = frozenset({"__init__", "index", "mod", "main"})
"""Names of files that are called by the folder they are in."""


def said_names(paths: Iterable[tuple[int, str]], terms: Mapping[str, float]) -> dict[int, float]:
    """How much a request says of the name of each file, and how rare that name is among files.

    Half of a name says little: a quarter of what all of it says.

    Args:
        paths: place and path of files.
        terms: of the request, with their weights.
    """
    names = {place: frozenset(terms_of(_called(path))) for place, path in paths}
    often = Counter(term for name in names.values() for term in name)
    rarity = {term: math.log(1 + len(names) / times) for term, times in often.items()}
    scores: dict[int, float] = {}
    for place, name in names.items():
        if shared := sorted(name & terms.keys()):
            share = sum(rarity[term] for term in shared) / sum(rarity[term] for term in sorted(name))
            scores[place] = share * share * sum(rarity[term] * math.sqrt(terms[term]) for term in shared)
    return scores


def _name_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _called(path: str) -> str:
    folder, stem = path.rpartition("/")[0], _name_stem(path)
    return folder.rpartition("/")[2] if stem in _HELD_BY_FOLDER and folder else stem
