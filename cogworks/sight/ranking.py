"""Which files a request is about: one score for each, from its words, names, places, history and neighbours.

Words count as in BM25 with fields (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009); how rare a word is, this tree alone
says, so that the same tree gives the same order on every machine.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple, Protocol

from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.kinds import FILLING, Kind, guidance, is_example, suffix_of, without_suffix
from cogworks.sight.locales import of_named_languages
from cogworks.sight.matching import Quoted
from cogworks.sight.pastwork import PastWork
from cogworks.sight.question import About, Named, named_in
from cogworks.sight.words import said_names, terms_of

_K1, _B = 1.2, 0.6
_PATH_WEIGHT, _NAMES_WEIGHT = 5.0, 3.0
_MOST_ALIKE = 3
_MAX_TERMS = 120
"""The rarest terms of a request are looked up."""
_KIND = {
    Kind.SOURCE: 1.0,
    Kind.TEST: 0.45,
    Kind.DOCUMENT: 0.35,
    Kind.CONFIGURATION: 0.35,
    Kind.DATA: 0.3,
    Kind.CHANGELOG: 0.05,
}
_EXAMPLE = 0.6
"""Of source that shows how something is used, beside what other source says."""
_GUIDANCE = 0.8
"""Of a document by which the project decided how such things are done."""
_SYMBOL, _PATH, _FRAME = 0.4, 1.5, 0.8
_MESSAGE, _MAX_READ, _MAX_WRITERS = 1.0, 60, 4
"""Of a file that writes a message which the request quotes; so many of the best files are read, and what more files than these write
is no message of one place."""
_SAID = 0.35
"""Of a file whose own name the request says, though not as a path."""
_LOOKED = 0.8
"""Of a file that somebody looked at before, who works on the same."""
_STANDARD = 0.6
"""Of a file by which people say that such work is judged, beside what it says of the task."""
_HISTORY, _RECENT, _TOGETHER = 0.8, 0.12, 0.15
_WORDS, _TELLING_WORDS = 1.0, 1.3
"""Words are surer where messages of commits say which of them are common."""
_SCOPE = 0.2
"""Of a file in whose path is what the title says before its colon."""
_LANGUAGE = 0.5
"""Of a file for a language of people that the request names, in a tree that has files for several."""
_NEAR, _TESTED = 0.2, 0.15
_PROGRAMS = frozenset({Kind.SOURCE, Kind.TEST})
_SEEDS = 8
CERTAIN = 100.0
"""Scores from here on are of files that were asked for."""
PATH_NAMED = "named"
"""Why a file is where it is whose path the request says."""
SAMPLE = "a sample of the folder of a new file"


class Document(NamedTuple):
    """One file of a tree."""

    path: str
    kind: Kind
    card: int
    """Number of what it says; 0: nothing that takes part."""
    length: int


class Corpus(Protocol):
    """A tree, ready to be searched."""

    documents: Sequence[Document]

    def postings(self, term: str) -> Iterable[tuple[int, int, int]]:
        """Card, how often in its text, how often in its names."""

    def defining(self, name: str) -> Iterable[int]:
        """Cards with a definition of that name."""

    def imports(self, paths: Sequence[str]) -> Mapping[str, Collection[str]]:
        """The files that files import, by path."""

    def past(self) -> Sequence[PastCommit]:
        """The commits before this tree, the newest first."""

    def text(self, path: str) -> str:
        """What is in a file; empty where it has no text."""


class Ranked(NamedTuple):
    """One file and why it is where it is."""

    path: str
    kind: Kind
    score: float
    reasons: tuple[str, ...]


def rank(corpus: Corpus, about: About) -> tuple[Ranked, ...]:
    """All files that may be shown, those that a request is most about first; equals by path."""
    return _Ranking(corpus, about).result()


class _Ranking:
    def __init__(self, corpus: Corpus, about: About) -> None:
        self._corpus = corpus
        self._about = about
        self._named: Named = named_in(about)
        self._documents = [
            each
            for each in corpus.documents
            if each.path not in about.hidden and each.path not in about.without
        ]
        self._by_card: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(self._documents):
            if each.card:
                self._by_card[each.card].append(place)
        self._places = {each.path: place for place, each in enumerate(self._documents)}
        self._past = PastWork(corpus.past(), self._places, self._named.terms)
        self._scores = [0.0] * len(self._documents)
        self._reasons: list[list[str]] = [[] for _ in self._documents]

    def result(self) -> tuple[Ranked, ...]:
        self._add(self._words(), _TELLING_WORDS if self._past.knows_words else _WORDS, "words")
        self._add(self._symbols(), _SYMBOL, "defines what is named")
        self._add(self._name_scores(), _SAID, "its name is said")
        self._add(self._scope(), _SCOPE, "in what the title begins with")
        self._add(self._languages(), _LANGUAGE, "for a language that is named")
        self._add(self._past.alike(), _HISTORY, "changed for similar reasons before")
        self._add(self._past.often(), _RECENT, "")
        for place, each in enumerate(self._documents):
            guide = guidance(each.path) if each.kind is Kind.DOCUMENT else ""
            self._scores[place] *= _GUIDANCE if guide else _KIND.get(each.kind, 0.02)
            if each.kind is Kind.SOURCE and is_example(each.path, self._about.title.lower()):
                self._scores[place] *= _EXAMPLE
            if guide and self._scores[place] > 0:
                self._reasons[place].append(guide)
        self._add_standards()
        self._add(self._paths(), _PATH, PATH_NAMED)
        self._add(self._frames(), _FRAME, "in a traceback")
        self._add(self._writers(), _MESSAGE, "writes a message that is quoted")
        self._add(self._looked(), _LOOKED, "looked at before")
        self._add(self._near(self._best(_SEEDS)), _NEAR, "imports near")
        self._add(self._tested(), _TESTED, "its tests match")
        self._add(self._together(), _TOGETHER, "changed together with the best")
        self._certain()
        order = sorted(
            range(len(self._documents)),
            key=lambda place: (
                -self._scores[place],
                self._documents[place].kind not in FILLING,
                self._documents[place].path,
            ),
        )
        return tuple(
            Ranked(each.path, each.kind, round(self._scores[place], 6), tuple(self._reasons[place]))
            for place in order
            for each in (self._documents[place],)
        )

    def _add_standards(self) -> None:
        """A standard of a pack is worth as much as what guides by its folder, and something without a word in common."""
        for place, each in enumerate(self._documents):
            if reason := self._about.standards.get(each.path):
                is_guide = each.kind is Kind.DOCUMENT and guidance(each.path)
                self._scores[place] *= 1.0 if is_guide else _GUIDANCE / _KIND.get(each.kind, 0.02)
                self._scores[place] += _STANDARD
                self._reasons[place].append(reason)

    def _add(self, values: Mapping[int, float], weight: float, reason: str) -> None:
        highest = max(values.values(), default=0.0)
        if highest <= 0:
            return
        for place, value in values.items():
            self._scores[place] += weight * value / highest
            if reason and value >= 0.2 * highest:
                self._reasons[place].append(reason)

    def _best(self, count: int) -> list[int]:
        return sorted(
            range(len(self._documents)), key=lambda place: (-self._scores[place], self._documents[place].path)
        )[:count]

    def _words(self) -> dict[int, float]:
        """BM25 over path, names of definitions and text."""
        paths = self._path_terms
        lengths = [each.length for each in self._documents if each.length]
        average = sum(lengths) / len(lengths) if lengths else 1.0
        total = len(self._documents) or 1
        entries = []
        for term, weight in self._named.terms.items():
            counts = self._counts_by_place(term, paths)
            if counts:
                rarity = math.log(1 + (total - len(counts) + 0.5) / (len(counts) + 0.5))
                rarity *= self._past.distinctness(term)
                entries.append((weight * rarity, rarity, weight, counts))
        entries.sort(key=lambda entry: -entry[0])
        scores: dict[int, float] = defaultdict(float)
        for _, rarity, weight, counts in entries[:_MAX_TERMS]:
            for place, (in_text, in_names, in_path) in counts.items():
                length = 1 - _B + _B * self._documents[place].length / average
                often = in_text / length + _NAMES_WEIGHT * in_names / length + _PATH_WEIGHT * in_path
                scores[place] += math.sqrt(weight) * rarity * often / (_K1 + often)
        return scores

    def _counts_by_place(
        self, term: str, paths: Mapping[str, Collection[int]]
    ) -> dict[int, tuple[int, int, int]]:
        counts: dict[int, tuple[int, int, int]] = {}
        for card, in_text, in_names in self._corpus.postings(term):
            for place in self._by_card.get(card, ()):
                counts[place] = (in_text, in_names, 0)
        for place in paths.get(term, ()):
            in_text, in_names, _ = counts.get(place, (0, 0, 0))
            counts[place] = (in_text, in_names, 1)
        return counts

    @cached_property
    def _path_terms(self) -> Mapping[str, Collection[int]]:
        places: dict[str, list[int]] = defaultdict(list)
        terms = self._named.terms
        for place, each in enumerate(self._documents):
            for term in {*terms_of(without_suffix(each.path))} & terms.keys():
                places[term].append(place)
        return places

    def _symbols(self) -> dict[int, float]:
        """Files that define a name of the request; a name that many define says little."""
        scores: dict[int, float] = defaultdict(float)
        for name, weight in self._named.symbols.items():
            for place in (places := self._defining(name)):
                scores[place] += weight / len(places)
        return {place: min(score, 2.0) for place, score in scores.items()}

    def _defining(self, name: str) -> set[int]:
        return {place for card in self._corpus.defining(name) for place in self._by_card.get(card, ())}

    def _name_scores(self) -> dict[int, float]:
        sources = (
            (place, each.path) for place, each in enumerate(self._documents) if each.kind is Kind.SOURCE
        )
        return said_names(sources, self._named.terms)

    def _scope(self) -> dict[int, float]:
        """Files with a word in their path of what the title says first, as in `parser: …` or `[Http] …`; a rare one says more."""
        scores: dict[int, float] = defaultdict(float)
        for term in self._named.scope:
            places = self._path_terms.get(term, ())
            for place in places:
                scores[place] += math.log(1 + len(self._documents) / len(places))
        return scores

    def _languages(self) -> dict[int, float]:
        request = f"{self._about.title}\n{self._about.text}"
        return of_named_languages(request, (each.path for each in self._documents))

    def _paths(self) -> dict[int, float]:
        scores: dict[int, float] = defaultdict(float)
        for written in self._named.paths:
            for place in _meant(written, self._documents):
                scores[place] = max(scores[place], 1.0)
        return _shared(scores)

    def _frames(self) -> dict[int, float]:
        scores: dict[int, float] = {}
        for depth, written in enumerate(self._named.frames):
            for place in _meant(written, self._documents, is_foreign=True):
                scores.setdefault(place, 1.0 / (1 + depth))
        for places in map(self._defining, self._named.raising):
            scores |= {} if len(places) > _MOST_ALIKE else {each: scores.get(each, 1.0) for each in places}
        return scores

    def _writers(self) -> dict[int, float]:
        """Of the best files those with a string that the request has word for word, whatever values stand in it."""
        quoted = Quoted(f"{self._about.title}\n{self._about.text}")
        best = (place for place in self._best(_MAX_READ) if self._documents[place].kind in _PROGRAMS)
        writers = {
            place: _KIND[self._documents[place].kind]
            for place in best
            if quoted.is_surely_written_by(self._corpus.text(self._documents[place].path))
        }
        return writers if len(writers) <= _MAX_WRITERS else {}

    def _looked(self) -> dict[int, float]:
        return {place: 1.0 for place, each in enumerate(self._documents) if self._about.looked.get(each.path)}

    def _together(self) -> dict[int, float]:
        """Source files that were changed together with the best ones."""
        seeds = self._best(_SEEDS)
        highest = max((self._scores[place] for place in seeds), default=0.0) or 1.0
        scores = self._past.together({place: (self._scores[place] / highest) ** 2 for place in seeds})
        return {place: score for place, score in scores.items() if self._documents[place].kind is Kind.SOURCE}

    def _near(self, seeds: Sequence[int]) -> dict[int, float]:
        """What the best ones import."""
        scores: dict[int, float] = defaultdict(float)
        imported = self._corpus.imports([self._documents[place].path for place in seeds])
        for order, seed in enumerate(seeds):
            for path in imported.get(self._documents[seed].path, ()):
                place = self._places.get(path)
                if place is not None and self._documents[place].kind is Kind.SOURCE:
                    scores[place] += 1 / (1 + order)
        return scores

    def _tested(self) -> dict[int, float]:
        """What matching tests are the tests of, by name."""
        stems: dict[str, list[int]] = defaultdict(list)
        for place, each in enumerate(self._documents):
            if each.kind is Kind.SOURCE:
                stems[subject_of(each.path)].append(place)
        scores: dict[int, float] = defaultdict(float)
        tests = [place for place in self._best(40) if self._documents[place].kind is Kind.TEST]
        for order, test in enumerate(tests):
            own = stems.get(subject_of(self._documents[test].path), ())
            for place in own[:3]:
                scores[place] += 1 / (1 + order)
        return scores

    def _certain(self) -> None:
        """What is certain to be needed comes first, in the order given."""
        count = len(self._about.wanted)
        for order, name in enumerate(self._about.wanted):
            places = _meant(name, self._documents, is_module=True)
            for place in places or self._sample(name):
                self._scores[place] = max(self._scores[place], CERTAIN + count - order)
                self._reasons[place].insert(0, "asked for" if places else SAMPLE)

    def _sample(self, new: str) -> list[int]:
        """Of the folder where a new file goes, the file that a request is most about: what its neighbours look like."""
        folder, suffix = new.rpartition("/")[0], suffix_of(new)
        if not folder or not suffix:
            return []
        beside = [
            place
            for place, each in enumerate(self._documents)
            if each.kind is Kind.SOURCE
            and each.path.rpartition("/")[0] == folder
            and suffix_of(each.path) == suffix
            and self._scores[place] < CERTAIN
        ]
        beside.sort(key=lambda place: (-self._scores[place], self._documents[place].path))
        return beside[:1]


def subject_of(path: str) -> str:
    """What a file or its test is about, by its name: `test_cart.py`, `cart_test.go` and `Cart.spec.ts` are about `cart`."""
    stem = PurePosixPath(path).name.split(".")[0].lower()
    for affix in ("test_", "tests_"):
        stem = stem.removeprefix(affix)
    for affix in ("_test", "_tests", "_spec", "-test", "test", "tests"):
        stem = stem.removesuffix(affix) or stem
    return stem.strip("_-")


def _meant(
    written: str, documents: Sequence[Document], *, is_foreign: bool = False, is_module: bool = False
) -> list[int]:
    """The files that a path stands for, as somebody wrote it.

    Args:
        is_foreign: it may begin with folders of another machine.
        is_module: it may be a folder or a module's name.
    """
    plain = written.strip().strip("/").removeprefix("./")
    if not plain:
        return []
    matches: list[Callable[[str], bool]] = [
        lambda path: path == plain,
        lambda path: path.endswith(f"/{plain}"),
    ]
    if is_foreign:
        matches.append(lambda path: f"/{plain}".endswith(f"/{path}"))
    if is_module:
        dotted = plain.replace("::", "/").replace(".", "/")
        matches.append(lambda path: path.startswith(f"{plain}/"))
        matches.append(
            lambda path: (
                f"/{without_suffix(path)}".endswith(f"/{dotted}")
                or f"/{without_suffix(path)}".endswith(f"/{dotted}/__init__")
            )
        )
        matches.append(lambda path: f"/{path}".find(f"/{dotted}/") >= 0)
    for match in matches:
        if places := [place for place, each in enumerate(documents) if match(each.path)]:
            # Many files have a name like `main.py`, and so has somebody's own.
            return places if is_module or len(places) <= (20 if "/" in plain else _MOST_ALIKE) else []
    return []


def _shared(scores: Mapping[int, float]) -> dict[int, float]:
    return {place: value / math.sqrt(len(scores)) for place, value in scores.items()}
