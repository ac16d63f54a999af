"""Which tests a writer of more of them has to see: those of the files that the request is about."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from cogworks.sight.index import Index
from cogworks.sight.kinds import Kind
from cogworks.sight.ranking import CERTAIN, PATH_NAMED, Ranked, subject_of

_TARGETS = 4
_MAX_COMPARED = 60
_SAME_SUBJECT, _IN_FOLDER, _IMPORTS, _ALIKE, _MATCHES = 2.0, 1.5, 1.5, 1.0, 1.0
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LEAST_WORDS = 2
_SAID = 4.0
"""Of a test whose path the request says, so that it is like that one."""


def tests_near(index: Index, ranked: Sequence[Ranked], most: int) -> tuple[Ranked, ...]:
    """The test files that are nearest to the source files that were asked for, or else to the best ones; the nearest first, so many at most.

    A test that the request names comes first. A test that has the name of such a file, one that imports it, or its package, and one
    that says much of what the request says are near.
    """
    sources = [each for each in ranked if each.kind is Kind.SOURCE]
    certain = [each for each in sources if each.score >= CERTAIN]
    targets = [each.path for each in (certain or sources)[:_TARGETS]]
    tests = [each for each in ranked if each.kind is Kind.TEST][:_MAX_COMPARED]
    cards = index.cards([each.path for each in tests])
    tests = [
        each for each in tests if each.path in cards and (cards[each.path].definitions or _is_named(each))
    ]
    imports = index.imports([each.path for each in tests])
    best = max((each.score for each in tests), default=0.0) or 1.0
    scores = {
        each.path: _MATCHES * each.score / best
        + _SAID * _is_named(each)
        + sum(_nearness(each.path, imports.get(each.path, ()), targets))
        for each in tests
    }
    return tuple(sorted(tests, key=lambda each: (-scores[each.path], each.path))[:most])


def _is_named(each: Ranked) -> bool:
    return PATH_NAMED in each.reasons


def are_named_alike(one: str, other: str) -> bool:
    """Whether all words of the shorter of two names are in the other one: `ssrSlot.spec.ts` and `ssrRenderSlot.ts`."""
    words, others = _words_of(one), _words_of(other)
    return len(words & others) >= _LEAST_WORDS and (words <= others or others <= words)


def _words_of(path: str) -> frozenset[str]:
    stem = PurePosixPath(path).name.split(".")[0]
    return frozenset(word.lower() for word in _WORD.findall(stem)) - {"test", "tests", "spec"}


def _nearness(test: str, imported: Collection[str], targets: Sequence[str]) -> Iterator[float]:
    for order, target in enumerate(targets):
        share = 1 / (1 + order)
        if subject_of(test) == subject_of(target):
            yield _SAME_SUBJECT * share
        elif are_named_alike(test, target):
            yield _ALIKE * share
        elif subject_of(target) == PurePosixPath(test).parent.name:
            # One file for each part of it, as `test/response/body.test.js` for `lib/response.js`.
            yield _IN_FOLDER * share
        if target in imported:
            yield _IMPORTS * share
