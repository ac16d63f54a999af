"""Other spellings in which the same words may stand: digits for letters, blanks between letters or none between words."""

import re
from collections.abc import Iterator
from functools import cache

from cogworks.injection.signatures import bundled

_LEET = str.maketrans("01345789@$!|", "oieastbgasil")
_MIXED = re.compile(
    r"(?<![\w/.:-])(?=[a-z0-9@$!|]{0,23}[a-z])(?=[a-z0-9@$!|]{0,23}[0134578@$!|])[a-z0-9@$!|]{2,24}(?![\w/])"
)
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*|·•]){3,}\w(?!\w)")
_LONG = re.compile(r"[a-z]{14,400}")
_CHAINED = re.compile(r"(?<![\w/.:+-])[a-z]{1,24}(?:[-_.+/]{1,2}[a-z]{1,24}){2,30}(?![\w/(:])")
_FILLERS = [
    "the",
    "a",
    "an",
    "your",
    "all",
    "any",
    "you",
    "and",
    "to",
    "of",
    "in",
    "is",
    "are",
    "it",
    "this",
    "that",
    "these",
    "those",
    "my",
    "me",
    "as",
    "not",
    "do",
    "be",
    "for",
    "with",
    "from",
    "on",
    "or",
    "no",
    "now",
    "please",
    "above",
    "before",
    "me",
    "what",
    "was",
    "were",
    "new",
    "text",
    "with",
    "out",
    "show",
    "print",
]


def spellings(text: str) -> Iterator[tuple[str, str]]:
    """How the text was disguised, and how it reads then; nothing where it has no such words. Lines stay."""
    for name, other in (
        ("digits for letters", _MIXED.sub(lambda found: found[0].translate(_LEET), text)),
        ("letters apart", _SPACED.sub(lambda found: f" {_words(_joined(found[0]))} ", text)),
        ("words without blanks", _LONG.sub(lambda found: _words(found[0]), text)),
        ("words in a chain", _CHAINED.sub(lambda found: _unchained(found[0]), text)),
    ):
        if other != text:
            yield name, other


def _joined(apart: str) -> str:
    return re.sub(r"[ .\-_*|·•]", "", apart)


def _unchained(chain: str) -> str:
    # Names of tests and functions speak of attacks; those of files and branches are read by models.
    return chain if chain.startswith("test") else re.sub(r"[-_.+/]+", " ", chain)


def _words(run: str) -> str:
    """A run of letters as the words that it may be made of; itself where it is not made of known words."""
    known = _vocabulary()
    ends: list[int | None] = [None] * (len(run) + 1)
    ends[0] = 0
    for end in range(1, len(run) + 1):
        for start in range(max(0, end - 14), end):
            if ends[start] is not None and run[start:end] in known:
                ends[end] = start
                break
    if ends[-1] is None or not run:
        return run
    words, end = [], len(run)
    while end:
        start = ends[end] or 0
        words.append(run[start:end])
        end = start
    return " ".join(reversed(words))


@cache
def _vocabulary() -> frozenset[str]:
    """Every plain word of the signatures."""
    words = {
        word.rstrip("?") for each in bundled().lexicon.values() for entry in each for word in entry.split()
    }
    plain = {word for word in words if word.isascii() and word.isalpha() and len(word) > 2}
    return frozenset(plain | {f"{word[:-1]}" for word in plain if word.endswith("s")} | {*_FILLERS})
