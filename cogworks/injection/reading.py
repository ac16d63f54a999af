"""A folded text as words one blank apart, in every spelling in which the same words may stand, and what is known of each place of it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

from cogworks.injection.signatures import bundled

_SPLIT = re.compile(r"[^\s、。，！？「」『』【】《》〈〉；：“”„«»‹›<>\"`]+|[、。，！？；：]")
_LEADING = re.compile(r"^[^\w/.~$@]+")
_TRAILING = re.compile(r"[^\w/]+$")
_EMPHASIS = re.compile(r"\*+|~~|(?<![a-z0-9])_+|_+(?![a-z0-9])")
# A repetition has a bound, or ends with the line or the text at the latest: these run on `re`, and no text
# may take the square of its length (docs/threat-model.md).
_SAID = re.compile(
    r"\"[^\"\n]{1,600}(?:\n[^\"\n]{1,200})?\"|“[^”]{1,600}”|„[^“”]{1,600}[“”]|«[^»]{1,600}»|‹[^›]{1,600}›|「[^」]{1,600}」|『[^』]{1,600}』|"
    r"(?:^|(?<=[\s(\[:,]))'[^'\n]{3,600}'(?![a-z0-9])",
    re.MULTILINE,
)
_CODE = re.compile(r"`[^`\n]{1,600}`")
# A block that is never closed reaches to the end, as on GitHub
# (https://spec.commonmark.org/0.31.2/#fenced-code-blocks).
_FENCED = re.compile(r"^ {0,3}(```|~~~)[^\n]*\n.*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_CITED = re.compile(r"^ {0,3}>.*$", re.MULTILINE)
_NEW_ITEM = re.compile(r"\n[ \t]*[\[\-*#>|+<{0-9=]")
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|^ {0,3}\[[^\]\n]{1,60}\]: *(?:<[^>\n]*>|\S*) *[\"'(].*$|\]\([^)\s]{0,300} +[\"'][^\n]{0,900}?[\"']\)|!\[[^\]]{12,600}\]|"
    r"\b(?:alt|title|aria-label|content|data-[a-z]+) ?= ?(?:\"[^\"]{12,600}\"|'[^']{12,600}')|"
    r"<[a-z]+ [^>\n]{0,200}(?:display: ?none|visibility: ?hidden|font-size: ?[01](?:px|pt)?\b|color: ?(?:white|#fff|transparent)|opacity: ?0|hidden)"
    r"[^>]{0,200}>[^<]{0,2000}",
    re.MULTILINE | re.DOTALL,
)
_STOPS = frozenset(".!?;。！？；:：")


@dataclass(frozen=True)
class Spans:
    """Stretches of a text, in their order, none within another."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> "Spans":
        joined: list[tuple[int, int]] = []
        for start, end in sorted(pairs):
            if joined and start < joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return cls(tuple(start for start, _ in joined), tuple(end for _, end in joined))

    def holds(self, place: int) -> bool:
        return self.around(place) is not None

    def around(self, place: int) -> int | None:
        """Where the stretch begins that holds a place."""
        at = bisect_right(self.starts, place) - 1
        return self.starts[at] if at >= 0 and place < self.ends[at] else None

    def without(self, text: str) -> str:
        """The text but for the stretches."""
        pieces, place = [], 0
        for start, end in zip(self.starts, self.ends, strict=True):
            pieces.append(text[place:start])
            place = end
        return " ".join([*pieces, text[place:]])


@dataclass(frozen=True)
class Reading:
    """A folded text, ready to be searched."""

    text: str
    words: bytes = field(init=False)
    """Every word followed by one blank, and one before the first; a stop of a sentence is a word."""
    _begins: tuple[int, ...] = field(init=False)
    _places: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        begins, places, pieces, at = [], [], [b" "], 1
        # Emphasis goes, its place stays: what is around a word must not change where it stands.
        calm = _EMPHASIS.sub(lambda emphasis: "\x00" * len(emphasis[0]), self.text)
        last = 0
        for match in _SPLIT.finditer(calm):
            words = _parts(match[0].replace("\x00", ""))
            if words and _NEW_ITEM.search(calm, last, match.start() + 1):
                # An item of a list, a heading or a tag begins a sentence though no stop stands before it.
                words = [";", *words]
            last = match.end()
            for word in words:
                # `replace`: an unpaired surrogate has no UTF-8, and no text may make the detector raise.
                said = f"{word} ".encode("utf-8", "replace")
                begins.append(at)
                places.append(match.start())
                pieces.append(said)
                at += len(said)
        object.__setattr__(self, "words", b"".join(pieces))
        object.__setattr__(self, "_begins", tuple(begins))
        object.__setattr__(self, "_places", tuple(places))

    def place_of(self, at_byte: int) -> int:
        """Where in the text the word begins that holds a place of `words`."""
        at = bisect_right(self._begins, at_byte) - 1
        if at < 0:
            return 0
        # A match is found in bytes, a place is counted in characters.
        return self._places[at] + len(self.words[self._begins[at] : at_byte].decode("utf-8", "ignore"))

    def before(self, at_byte: int, count: int) -> tuple[str, ...]:
        """The words of the same line, clause and title before a place of `words`, the nearest last."""
        first = self.hidden.around(self.place_of(at_byte)) or 0
        at = bisect_right(self._begins, at_byte) - 1
        near: list[str] = []
        while at > 0 and len(near) < count:
            is_broken = "\n" in self.text[self._places[at - 1] : self._places[at]]
            word = self.words[self._begins[at - 1] : self._begins[at] - 1].decode("utf-8", "replace")
            if is_broken or word in _STOPS or self._places[at - 1] < first:
                break
            near.append(word)
            at -= 1
        return tuple(reversed(near))

    @cached_property
    def _line_ends(self) -> tuple[int, ...]:
        return tuple(match.start() for match in re.finditer("\n", self.text))

    def line_of(self, place: int) -> int:
        """From 0."""
        return bisect_right(self._line_ends, place - 1) if place else 0

    @cached_property
    def hidden(self) -> Spans:
        """What a reader of the rendered text does not see."""
        return Spans.of(match.span() for match in _HIDDEN.finditer(self.text))

    @cached_property
    def said(self) -> Spans:
        """What the text shows as words of others, in quotation marks."""
        return self._shown(_SAID)

    @cached_property
    def shown(self) -> Spans:
        """What the text shows as code, as a block of its own, or as a citation."""
        return self._shown(_CODE, _FENCED, _CITED)

    def _shown(self, *patterns: re.Pattern[str]) -> Spans:
        stretches = (match.span() for pattern in patterns for match in pattern.finditer(self.text))
        return Spans.of(span for span in stretches if not self.is_title(span[0]))

    def is_title(self, place: int) -> bool:
        """Whether a place lies in a title, an alt text or an attribute."""
        # The marks around a title or an alt text quote nobody; in a comment they do.
        within = self.hidden.around(place)
        return within is not None and not self.text.startswith("<!--", within)


def _parts(word: str) -> list[str]:
    """A word without the punctuation around it; what ends a sentence or a clause stays as a word of its own."""
    if not word:
        return []
    if len(word) == 1 and word in "、，。！？；：":
        return [word]
    rest = _LEADING.sub("", word)
    ending = _TRAILING.search(rest)
    bare = rest[: ending.start()] if ending else rest
    closing = [char for char in (ending[0] if ending else "") if char in ".!?;:,"][:1]
    opening = [char for char in word[: len(word) - len(rest)] if char in ":;"][:1]
    return [*opening, *([bare] if bare else []), *closing]


_LEET = str.maketrans("01345789@$!|", "oieastbgasil")
_MIXED = re.compile(
    r"(?<![\w/.:-])(?=[a-z0-9@$!|]{0,23}[a-z])(?=[a-z0-9@$!|]{0,23}[0134578@$!|])[a-z0-9@$!|]{3,24}(?![\w/])"
)
"""A word with other signs among its letters; of two signs, like `a1`, it is the name of something."""
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*|·•]){3,}\w(?!\w)")
_LONG = re.compile(r"[a-z]{14,400}")
_CHAINED = re.compile(r"(?<![\w/.:+-])[a-z]{1,24}(?:[-_.+/]{1,2}[a-z]{1,24}){2,30}(?![\w/(:]|['\"] ?:)")
# A run of letters is parted only where every word of it is known, so these join the words of the signatures.
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
        ("digits for letters", _MIXED.sub(lambda run: run[0].translate(_LEET), text)),
        ("letters apart", _SPACED.sub(lambda run: f" {_words(_joined(run[0]))} ", text)),
        ("words without blanks", _LONG.sub(lambda run: _words(run[0]), text)),
        ("words in a chain", _CHAINED.sub(lambda run: _unchained(run[0]), text)),
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
