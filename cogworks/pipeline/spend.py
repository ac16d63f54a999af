"""What was paid, as a sum that can be added to and taken from."""

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
