"""What work is worth in money and tokens: of items that ended, and of one that begins."""

from cogworks.pipeline.spend import Spend
from cogworks.vocabulary import Value


class Sum(Value):
    """Dollars and tokens, where nobody asks how many of them went in and came out."""

    usd: float = 0.0
    tokens: int = 0

    def times(self, count: int) -> "Sum":
        return Sum(usd=self.usd * count, tokens=self.tokens * count)


class ItemCost(Value):
    """What an item that has ended came to."""

    pipeline: str
    """The one on which it ended."""
    whole: Sum
    round: Sum
    """Its dearest round of rework, or what one would have repeated."""


class Expected(Value):
    """What an item is expected to cost on one pipeline."""

    pipeline: str
    whole: Sum
    """Where nothing is sent back, unless items did so that ended."""
    round: Sum
    """The dearest round of rework."""
    items: int = 0
    """How many finished items say so; 0: none, so that it follows from the questions of the pipeline."""
    lowest_usd: float = 0.0
    highest_usd: float = 0.0
    """Of those items."""
    part: Sum = Sum()
    """Of each sub-work-item, where no item says more."""
    questions: int = 0
    shown_tokens: int = 0
    """Of the repository, that a question shows at most."""


def sum_of(spend: Spend) -> Sum:
    return Sum(usd=spend.cost_usd, tokens=spend.input_tokens + spend.output_tokens)
