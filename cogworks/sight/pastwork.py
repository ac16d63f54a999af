"""What the commits before a tree say of its files: which ones such work changed, which ones change often, and which words every message says."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.words import terms_of

_MAX_ALIKE, _MAX_FILES = 60, 12
"""So many of the most similar commits count, and of all commits those that changed no more files than this."""
_MESSAGE_CHARS = 2_000
_FEW_COMMITS = 3
"""So many commits more, as if they had changed a file alone: two commits prove little."""
_LEAST_MESSAGES = 21
"""Of fewer nobody knows which words are common in messages."""
_HALF_AGE = 200
"""A commit that so many have followed counts half."""
_LENGTH = 8
"""Terms more, as if a short message had them."""


class PastWork:
    """The commits before a tree, asked for one request."""

    def __init__(
        self, commits: Sequence[PastCommit], places: Mapping[str, int], terms: Mapping[str, float]
    ) -> None:
        """Args:
        commits: the newest first.
        places: of the files of the tree, by path.
        terms: those of the request, with their weights.
        """
        self._weights = terms
        self._terms = [frozenset(terms_of(each.text[:_MESSAGE_CHARS])) for each in commits]
        self._often = Counter(term for own in self._terms for term in own & terms.keys())
        self._changed = [
            [places[path] for path in each.paths if path in places] if len(each.paths) <= _MAX_FILES else []
            for each in commits
        ]
        self._by_place: dict[int, list[int]] = defaultdict(list)
        for age, changed in enumerate(self._changed):
            for place in changed:
                self._by_place[place].append(age)

    @property
    def knows_words(self) -> bool:
        """Whether there are messages enough to know which terms are common in them."""
        return len(self._terms) >= _LEAST_MESSAGES

    def distinctness(self, term: str) -> float:
        """How well a term separates one work from another: 1 where no message says it, near 0 where nearly every one does."""
        count = len(self._terms)
        if not self.knows_words:
            return 1.0
        return math.log(1 + count / (1 + self._often[term])) / math.log(1 + count)

    def alike(self) -> dict[int, float]:
        """Files that commits with similar messages changed."""
        likeness = {age: value for age in range(len(self._terms)) if (value := self._likeness(age)) > 0}
        scores: dict[int, float] = defaultdict(float)
        for age in sorted(likeness, key=lambda each: (-likeness[each], each))[:_MAX_ALIKE]:
            for place in self._changed[age]:
                scores[place] += likeness[age] ** 2 / math.sqrt(len(self._changed[age]))
        return scores

    def _likeness(self, age: int) -> float:
        own = self._terms[age]
        # Sorted: sums of floats depend on the order, and that of a set on the process.
        shared = sorted(own & self._weights.keys())
        if not shared or not self._changed[age]:
            return 0.0
        rarity = sum(
            math.log(1 + len(self._terms) / self._often[term]) * math.sqrt(self._weights[term])
            for term in shared
        )
        return rarity / math.sqrt(len(own) + _LENGTH)

    def often(self) -> dict[int, float]:
        """What is changed often is changed again."""
        return {place: math.log1p(self._weight(place)) for place in self._by_place}

    def together(self, seeds: Mapping[int, float]) -> dict[int, float]:
        """What commits changed together with some files, as a share of the commits that changed either.

        Args:
            seeds: place of each such file and how much it counts.
        """
        scores: dict[int, float] = defaultdict(float)
        for seed, weight in seeds.items():
            own = self._by_place.get(seed, ())
            for other in (each for age in own for each in self._changed[age] if each != seed):
                often = len(self._by_place[other])
                scores[other] += weight / math.sqrt((len(own) + _FEW_COMMITS) * (often + _FEW_COMMITS))
        return scores

    def _weight(self, place: int) -> float:
        return sum(1 / (1 + age / _HALF_AGE) for age in self._by_place.get(place, ()))
