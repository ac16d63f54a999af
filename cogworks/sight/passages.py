"""Which lines of a long stretch match, with some around them, and what lines cost."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from cogworks.sight.matching import TOUCHED, USES, WRITES, Sought, any_of, rarity_of
from cogworks.sight.seen import Stretch
from cogworks.sight.stretches import merged, shortened, tokens_of
from cogworks.sight.words import terms_of

GAP_TOKENS = 30
"""Of the lines that say what is left out."""
_CONTEXTS = (12, 6, 3, 1, 0)
_PLACES = 3
"""So many places of a long definition are rather shown than one with more around it."""
_LEAST_SHARE = 0.4
"""Of the best line's score, what a line has to match to be shown for its own sake."""
_DOCUMENTATION_SHARE = 0.4
"""What a line of documentation counts, where not all of a definition is shown."""
_TEXTS = ('"""', "'''")


class Passages:
    """The lines of one file."""

    def __init__(self, lines: Sequence[str], sought: Sought, touched: Collection[int]) -> None:
        self._lines = lines
        self._sought = sought
        self._touched = touched

    def cost(self, stretches: Sequence[Stretch]) -> int:
        """Tokens that stretches take with their numbers."""
        return sum(
            self._cost_of(number)
            for first, last in merged(stretches)
            for number in range(first, min(last, len(self._lines)) + 1)
        ) + GAP_TOKENS * len(stretches)

    def matching(self, numbers: Sequence[int], room: int, *, or_beginning: bool) -> list[Stretch]:
        """Those of some lines that match, with as many around them as there is room for.

        Args:
            or_beginning: where none matches, the first ones are taken.
        """
        scores = self._scores(numbers)
        least = _LEAST_SHARE * max(scores.values(), default=0.0)
        best = sorted(
            (number for number in scores if scores[number] >= least),
            key=lambda number: (-scores[number], number),
        )
        if not best:
            return self.beginning(numbers, room) if or_beginning else []
        chosen: list[Stretch] = []
        for context in _CONTEXTS:
            chosen = self._around_best(best, context, numbers, room)
            if len(chosen) >= min(_PLACES, len(best)):
                break
        return chosen

    def beginning(self, numbers: Sequence[int], room: int) -> list[Stretch]:
        """The first of some lines, as many as there is room for."""
        lines = []
        for number in numbers:
            room -= self._cost_of(number)
            if room < 0:
                break
            lines.append((number, number))
        return self._trimmed(merged(lines))

    def _around_best(
        self, best: Sequence[int], context: int, numbers: Sequence[int], room: int
    ) -> list[Stretch]:
        allowed = frozenset(numbers)
        taken: set[int] = set()
        for number in best:
            around = range(number - context, number + context + 1)
            more = {each for each in around if each in allowed} - taken
            # What goes on where something is shown already leaves nothing more out.
            is_apart = taken.isdisjoint(range(around.start - 1, around.stop + 1))
            cost = sum(self._cost_of(each) for each in more) + (GAP_TOKENS if more and is_apart else 0)
            if cost > room:
                break
            room -= cost
            taken |= more
        return self._trimmed(merged([(number, number) for number in sorted(taken)]))

    def _trimmed(self, stretches: Sequence[Stretch]) -> list[Stretch]:
        """Without empty lines at their ends."""
        trimmed = []
        for first, last in stretches:
            filled = [number for number in range(first, last + 1) if self._lines[number - 1].strip()]
            if filled:
                trimmed.append((filled[0], filled[-1]))
        return trimmed

    def _scores(self, numbers: Sequence[int]) -> Mapping[int, float]:
        """How much each line says of what is looked for; those that say nothing are left out."""
        counts = {number: Counter(terms_of(self._lines[number - 1])) for number in numbers}
        rarity = rarity_of(self._sought.terms, [each for each in counts.values() if each])
        uses = any_of(self._sought.used)
        documented = documentation(self._lines, numbers)
        scores = {}
        for number, each in counts.items():
            score = sum(rarity.get(term, 0.0) for term in each) * (
                _DOCUMENTATION_SHARE if number in documented else 1.0
            )
            score += USES if uses and uses.search(self._lines[number - 1]) else 0.0
            score += WRITES if self._sought.quoted.is_written_by(self._lines[number - 1]) else 0.0
            score += TOUCHED if number in self._touched else 0.0
            if score > 0:
                scores[number] = score
        return scores

    def _cost_of(self, number: int) -> int:
        return tokens_of(f"{number:>5}| {shortened(self._lines[number - 1])}\n")


def documentation(lines: Sequence[str], numbers: Sequence[int]) -> range:
    """The lines of a text right below a header, as Python documents; `numbers` are those below the header."""
    first = next((number for number in numbers if lines[number - 1].strip()), 0)
    plain = lines[first - 1].lstrip(" rR") if first else ""
    sign = next((sign for sign in _TEXTS if plain.startswith(sign)), "")
    if not sign or plain.count(sign) > 1:
        return range(first, first + bool(sign))
    after = (number for number in numbers if number > first and sign in lines[number - 1])
    return range(first, next(after, first) + 1)
