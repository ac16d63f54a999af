"""Money and tokens: what was paid, as a sum that can be added to and taken from, and what work is worth."""

from cogworks.vocabulary import Value


class Spend(Value):
    """Money and tokens that are gone."""

    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    unconfirmed_usd: float = 0.0
    """Of `cost_usd`: what runners that died had reserved. It may have been spent, and nobody lives who could say."""
    unconfirmed_tokens: int = 0
    """Of `input_tokens`, likewise."""

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            # Rounded, because sums of floats drift, and equal states have to be equal texts.
            cost_usd=round(self.cost_usd + other.cost_usd, 9),
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            model_calls=self.model_calls + other.model_calls,
            unconfirmed_usd=round(self.unconfirmed_usd + other.unconfirmed_usd, 9),
            unconfirmed_tokens=self.unconfirmed_tokens + other.unconfirmed_tokens,
        )

    def __sub__(self, other: "Spend") -> "Spend":
        return Spend(
            cost_usd=round(self.cost_usd - other.cost_usd, 9),
            input_tokens=self.input_tokens - other.input_tokens,
            output_tokens=self.output_tokens - other.output_tokens,
            model_calls=self.model_calls - other.model_calls,
            unconfirmed_usd=round(self.unconfirmed_usd - other.unconfirmed_usd, 9),
            unconfirmed_tokens=self.unconfirmed_tokens - other.unconfirmed_tokens,
        )


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


def unconfirmed(spend: Spend) -> str:
    """How much of what was spent is only known to have been reserved, in words; empty = none of it."""
    return f"${spend.unconfirmed_usd:.4f} reserved, not confirmed" if spend.unconfirmed_usd else ""
