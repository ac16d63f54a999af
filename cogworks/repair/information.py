"""How much a probe's answer tells about which suspect is the cause."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cogworks.repair.blackboard import Recommendation

INFORMATIVE_FROM = 0.05
LIKELIHOODS: Mapping[Recommendation, tuple[float, float]] = MappingProxyType(
    {
        "likely_cause": (0.9, 0.1),
        "possible": (0.6, 0.4),
        "unlikely": (0.1, 0.9),
        "unknown": (0.5, 0.5),
    }
)
"""Recommendation -> how likely a probe gives it when its suspect is the cause, and when it is not."""

Beliefs = Mapping[str, float]
"""Suspect -> probability that it is the cause; they sum to 1."""


def beliefs_from(suspicions: Sequence[tuple[str, float]]) -> Beliefs:
    """Probabilities in proportion to suspicion; equal ones where nothing is suspicious."""
    total = sum(suspicion for _, suspicion in suspicions)
    if total <= 0:
        return {suspect: 1 / len(suspicions) for suspect, _ in suspicions}
    return {suspect: suspicion / total for suspect, suspicion in suspicions}


def updated(beliefs: Beliefs, suspect: str, recommendation: Recommendation) -> Beliefs:
    """The beliefs after a probe of one suspect, by Bayes' rule; a suspect nobody heard of changes nothing."""
    if suspect not in beliefs:
        return dict(beliefs)
    is_cause, is_not = LIKELIHOODS[recommendation]
    weighed = {
        each: probability * (is_cause if each == suspect else is_not) for each, probability in beliefs.items()
    }
    total = sum(weighed.values())
    return {each: weight / total for each, weight in weighed.items()}


def variance(beliefs: Beliefs) -> float:
    """How undecided the beliefs are: the sum of p(1 - p)."""
    return sum(probability * (1 - probability) for probability in beliefs.values())


def gain(before: Beliefs, after: Beliefs) -> float:
    """The share of the variance that is gone, 0 to 1; 0 where the beliefs became less decided."""
    undecided = variance(before)
    if undecided <= 0:
        return 0.0
    return min(1.0, max(0.0, (undecided - variance(after)) / undecided))
