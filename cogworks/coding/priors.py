"""What earlier outcomes say about a proposal: how alike two situations are, and what that makes of a saliency. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from cogworks.coding.observations import Observation, Situation

MIN_SIMILARITY = 25
TOP = 6
HALF_LIFE_DAYS = 14.0
BLOCKED_FROM = 3
"""So many alike are needed before anything is blocked."""
BLOCKED_BELOW = 0.2
BOOST = (0.8, 1.25)
"""The least and the most that a saliency is multiplied by."""
_UNKNOWN = 0.5
"""What is not known counts as half an observation that went half well: so what is old stops blocking."""
REPETITIONS = frozenset({"refused", "none_valid", "rolled_back", "widen", "replan", "recombine"})
"""Reasons of decisions to try once more. A first try is never blocked: memory must not end what never began."""


@dataclass(frozen=True)
class Prior:
    """What is to be expected of a decision."""

    rate: float
    """How often it helped, from 0 to 1; the alike and the young count for more."""
    observations: int

    @property
    def is_bad(self) -> bool:
        """Too seldom any good, and often enough seen to say so."""
        return self.observations >= BLOCKED_FROM and self.rate < BLOCKED_BELOW

    def boosted(self, saliency: float) -> float:
        """The saliency with what is known taken into account; never above 1."""
        low, high = BOOST
        factor = min(high, max(low, 1.0 + 0.5 * (self.rate - 0.5)))
        return min(1.0, round(saliency * factor, 5))


def similarity(one: Situation, other: Situation) -> int:
    """How alike two situations are, in hundredths."""
    return (
        45 * (one.environment == other.environment)
        + 20 * (one.attempts == other.attempts)
        + 15 * (one.test_file == other.test_file)
        + 10 * (one.signature == other.signature)
        + 10 * (one.is_stalled == other.is_stalled)
    )


def prior(pattern: str, situation: Situation, observations: Sequence[Observation]) -> Prior | None:
    """What earlier decisions of this kind in situations like this one say; None where there is none."""
    alike = [
        (similarity(each.situation, situation), each) for each in observations if each.pattern == pattern
    ]
    alike = [(degree, each) for degree, each in alike if degree >= MIN_SIMILARITY]
    if not alike:
        return None
    # Ties are broken by what is in the log, so that the order of reading never matters.
    alike.sort(key=lambda found: (-found[0], found[1].age_days, found[1].source, found[1].cycle))
    best = alike[:TOP]
    weights = [degree / 100 * 0.5 ** (each.age_days / HALF_LIFE_DAYS) for degree, each in best]
    good = sum(weight * each.worth for weight, (_, each) in zip(weights, best, strict=True))
    rate = (_UNKNOWN * 0.5 + good) / (_UNKNOWN + sum(weights))
    return Prior(rate=round(rate, 6), observations=len(best))
