"""Which probes go next: three levels of a feedback queue, and an upper confidence bound inside a level."""

import math
from collections.abc import Mapping

from pydantic import Field

from cogworks.vocabulary import Value

QUANTA = (10, 20, 40)
"""Operations a probe of each level may use; those that tell little wait longer and then may do more."""
EXPLORATION = 0.5
RETURN_EVERY = 10
"""After so many probes everything is back on the first level, so that none waits for ever."""
STACK_BOOST = 0.2
INVARIANT_BOOST = 0.1


class Waiting(Value):
    """A probe that may be run, and what its runs were worth."""

    id: str
    suspect: str
    suspicion: float = Field(ge=0, le=1)
    is_on_stack: bool = False
    violates_invariant: bool = False
    level: int = Field(default=0, ge=0, lt=len(QUANTA))
    runs: int = Field(default=0, ge=0)
    total_gain: float = 0.0

    @property
    def quantum(self) -> int:
        """Operations its next run may use."""
        return QUANTA[self.level]


class Schedule(Value):
    """All probes that may be run."""

    waiting: tuple[Waiting, ...]
    probes: int = 0
    """Runs so far, of all of them."""

    def next_round(self, size: int) -> tuple[Waiting, ...]:
        """The probes to run together, best first: of the first level that is not empty, then of the next.

        How many of them run at the same time does not matter to the choice: the results of a round are folded
        in its order.
        """
        ordered = sorted(
            self.waiting, key=lambda each: (each.level, -self._index(each), -each.suspicion, each.id)
        )
        return tuple(ordered[:size])

    def with_gains(self, gains: Mapping[str, float], *, threshold: float) -> "Schedule":
        """After a round: who told more than the threshold goes up a level, who did not goes down.

        Args:
            gains: probe -> information gain.
        """
        probes = self.probes + len(gains)
        moved = tuple(
            _moved(each, gains[each.id], threshold) if each.id in gains else each for each in self.waiting
        )
        if probes // RETURN_EVERY > self.probes // RETURN_EVERY:
            moved = tuple(each.model_copy(update={"level": 0}) for each in moved)
        return Schedule(waiting=moved, probes=probes)

    def _index(self, each: Waiting) -> float:
        if each.runs == 0:
            return math.inf
        bonus = EXPLORATION * math.sqrt(math.log(1 + self.probes) / each.runs)
        return each.total_gain / each.runs + bonus + _boost(each)


def _boost(each: Waiting) -> float:
    return STACK_BOOST * each.is_on_stack + INVARIANT_BOOST * each.violates_invariant


def _moved(each: Waiting, gained: float, threshold: float) -> Waiting:
    level = max(0, each.level - 1) if gained > threshold else min(len(QUANTA) - 1, each.level + 1)
    return each.model_copy(
        update={"level": level, "runs": each.runs + 1, "total_gain": each.total_gain + gained}
    )
