"""Which of several explanations is tried first, and what a try says about the others."""

from collections.abc import Sequence

from pydantic import Field

from cogworks.vocabulary import Value

TOKENS_PER_UNIT = 100_000
MINUTES_PER_UNIT = 10.0
_COMMITTED = 1.0
_ROLLED_BACK = 0.2
"""How much of a belief is left when the change that follows from it did not stand."""


class Branch(Value):
    """One explanation and the change that follows from it."""

    id: str
    probability: float = Field(ge=0, le=1)
    value: float = Field(default=1.0, ge=0)
    """What mending this is worth, 1 for the failure at hand."""
    tokens: int = Field(default=0, ge=0)
    minutes: float = Field(default=0.0, ge=0)

    @property
    def expected_utility(self) -> float:
        """Probability times value, less what trying costs in tokens and time."""
        cost = self.tokens / TOKENS_PER_UNIT + self.minutes / MINUTES_PER_UNIT
        return self.probability * self.value - cost


def in_order(branches: Sequence[Branch]) -> tuple[Branch, ...]:
    """Most useful first; equal ones by id."""
    return tuple(sorted(branches, key=lambda each: (-each.expected_utility, each.id)))


def after(branches: Sequence[Branch], tried: str, *, committed: bool) -> tuple[Branch, ...]:
    """The branches with the probabilities they have once one was tried; they sum to 1 again."""
    left = _COMMITTED if committed else _ROLLED_BACK
    others = 0.0 if committed else 1.0
    weighed = {each.id: each.probability * (left if each.id == tried else others) for each in branches}
    total = sum(weighed.values())
    if total <= 0:
        return tuple(branches)
    return tuple(each.model_copy(update={"probability": weighed[each.id] / total}) for each in branches)
