"""What a request needs by the provider's own count; asked for only where the estimate alone would refuse the call."""

from typing import Protocol, runtime_checkable

from cogworks.llm.budget import Estimate, Price
from cogworks.llm.provider import ModelRequest, Provider, Usage

_LEEWAY = 50
"""A provider calls its count an estimate; one part of so many is added to it."""


@runtime_checkable
class Counts(Protocol):
    """A provider that counts the input tokens of a request without answering it."""

    def count(self, request: ModelRequest) -> int | None:
        """None: it could not be asked. Never raises for that."""


def counted_by(provider: Provider, request: ModelRequest) -> int | None:
    """The input tokens of a request as a provider counts them; None where it does not, or could not be asked."""
    return provider.count(request) if isinstance(provider, Counts) else None


def by_count(provider: Provider, request: ModelRequest, price: Price, need: Estimate) -> Estimate | None:
    """What a call needs at most by the provider's count; None where that is not known, or no less than by the estimate."""
    told = counted_by(provider, request)
    if told is None:
        return None
    tokens = told + -(-told // _LEEWAY)
    # What goes on is written into the provider's cache, which costs more than plain input.
    read = Usage(cache_creation_input_tokens=tokens) if request.goes_on else Usage(input_tokens=tokens)
    usage = read.model_copy(update={"output_tokens": request.max_output_tokens})
    found = Estimate(tokens=tokens + request.max_output_tokens, cost_usd=price.cost_of(usage))
    is_less = found.tokens < need.tokens or found.cost_usd < need.cost_usd
    return found if is_less else None
