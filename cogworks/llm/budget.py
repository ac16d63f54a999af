"""What may a model call cost, what did it cost, and what is left while several are under way?"""

import threading
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from decimal import ROUND_CEILING, Decimal
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from cogworks.canonical import canonical_text
from cogworks.errors import BudgetReached, ConfigurationError
from cogworks.llm.provider import ModelRequest, Usage
from cogworks.vocabulary import Value

Dollars = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
"""US dollars, exact: budgets are compared for equality."""
Tokens = Annotated[int, Field(ge=0)]

_MILLION = Decimal(1_000_000)
_BYTES_PER_TOKEN = 3
"""Low on purpose (English prose has about four), so that an estimate is rather too high."""


class Rates(Value):
    """US dollars per million tokens."""

    input: Dollars
    output: Dollars
    cache_write: Dollars
    cache_read: Dollars

    def cost_of(self, usage: Usage) -> Decimal:
        """Exact, in US dollars."""
        total = (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_creation_input_tokens * self.cache_write
            + usage.cache_read_input_tokens * self.cache_read
        )
        return total / _MILLION


class LongPromptRates(Rates):
    """Rates of the whole request once its input is longer than a bound."""

    above_tokens: Tokens


class Price(Rates):
    """What one model costs."""

    long_prompt: LongPromptRates | None = None

    def cost_of(self, usage: Usage) -> Decimal:
        if self.long_prompt is not None and usage.total_input > self.long_prompt.above_tokens:
            return self.long_prompt.cost_of(usage)
        return super().cost_of(usage)


class PriceList(Value):
    """Prices by model name, and the day they were looked up."""

    as_of: date
    models: Mapping[str, Price]

    def with_configured(self, configured: Mapping[str, Price]) -> "PriceList":
        """The same list with the repository's own prices before the built-in ones."""
        return PriceList(as_of=self.as_of, models={**self.models, **configured})

    def price_of(self, model: str) -> Price:
        """Raises: ConfigurationError naming the table to add for a model without a price."""
        if model in self.models:
            return self.models[model]
        known = ", ".join(sorted(self.models))
        problem = (
            f"model {model!r} has no price, so its calls cannot be budgeted; add "
            f'`[llm.prices."{model}"]` with `input`, `output`, `cache_write` and `cache_read` '
            f"in US dollars per million tokens (built in, as of {self.as_of}: {known})"
        )
        raise ConfigurationError(".cogworks/config.toml", [problem])


def shipped_prices() -> PriceList:
    """The built-in price list; amounts are read as exact decimals."""
    text = (files("cogworks.llm") / "prices.toml").read_text(encoding="utf-8")
    return PriceList.model_validate(tomllib.loads(text, parse_float=Decimal))


class Estimate(Value):
    """The most that one call can cost."""

    tokens: Tokens
    cost_usd: Dollars


def upper_bound(request: ModelRequest) -> Usage:
    """The most tokens that one call can use: one per three bytes of everything sent, and every output token allowed."""
    sent = [
        request.system,
        *(message.text for message in request.messages),
        canonical_text(request.output_schema),
    ]
    input_tokens = -(-sum(len(text.encode()) for text in sent) // _BYTES_PER_TOKEN)
    return Usage(input_tokens=input_tokens, output_tokens=request.max_output_tokens)


def estimate(request: ModelRequest, price: Price) -> Estimate:
    """What the most tokens that one call can use would cost."""
    usage = upper_bound(request)
    return Estimate(tokens=usage.total_input + usage.output_tokens, cost_usd=price.cost_of(usage))


class Budget(Value):
    """A limit, what is spent of it, and what running calls have reserved."""

    limit_usd: Dollars | None = None
    """None: no limit in dollars."""
    limit_tokens: Tokens | None = None
    """None: no limit in tokens."""
    spent_usd: Dollars = Decimal(0)
    spent_tokens: Tokens = 0
    reserved_usd: Dollars = Decimal(0)
    """By calls under way, here or under another lease of the same run."""
    reserved_tokens: Tokens = 0
    usd_setting: str = "[budgets] pipeline_max_cost_dollars"
    """The setting a person would raise."""
    tokens_setting: str = "[budgets] pipeline_max_tokens"

    def refusal(self, need: Estimate) -> str | None:
        """Why the call must not be made; None when it fits. Reaching a limit exactly is allowed."""
        total_usd = self.spent_usd + self.reserved_usd + need.cost_usd
        if self.limit_usd is not None and total_usd > self.limit_usd:
            return (
                f"budget: {dollars(self.spent_usd)} of {dollars(self.limit_usd)} USD spent"
                f"{_reserved(dollars(self.reserved_usd) if self.reserved_usd else '')}, this call needs up to "
                f"{dollars(need.cost_usd)}; raise `{self.usd_setting}` or split the issue."
            )
        total_tokens = self.spent_tokens + self.reserved_tokens + need.tokens
        if self.limit_tokens is not None and total_tokens > self.limit_tokens:
            return (
                f"budget: {self.spent_tokens} of {self.limit_tokens} tokens spent"
                f"{_reserved(str(self.reserved_tokens or ''))}, this call needs up to {need.tokens}; "
                f"raise `{self.tokens_setting}` or split the issue."
            )
        return None

    def reserving(self, need: Estimate) -> "Budget":
        """The budget while a call is under way."""
        reserved_usd = self.reserved_usd + need.cost_usd
        reserved_tokens = self.reserved_tokens + need.tokens
        return self.model_copy(update={"reserved_usd": reserved_usd, "reserved_tokens": reserved_tokens})

    def releasing(self, need: Estimate) -> "Budget":
        """The budget when that call is over."""
        reserved_usd = self.reserved_usd - need.cost_usd
        reserved_tokens = self.reserved_tokens - need.tokens
        return self.model_copy(update={"reserved_usd": reserved_usd, "reserved_tokens": reserved_tokens})

    def spending(self, cost_usd: Decimal, tokens: int) -> "Budget":
        """The budget after a call, whose real cost may be above or below its estimate."""
        spent_usd = self.spent_usd + cost_usd
        return self.model_copy(update={"spent_usd": spent_usd, "spent_tokens": self.spent_tokens + tokens})


def dollars(amount: Decimal) -> str:
    """At least two decimals, at most six, rounded up: `1.84`, `0.31`, `0.000125`."""
    exact = amount.quantize(Decimal("0.000001"), rounding=ROUND_CEILING)
    whole, _, cents = f"{exact:f}".partition(".")
    return f"{whole}.{cents.rstrip('0').ljust(2, '0')}"


def _reserved(amount: str) -> str:
    return f" and {amount} reserved" if amount else ""


Secures = Callable[[Decimal, int], None]
"""Has dollars and tokens set aside where other runners see it; raises BudgetReached where so much is not left."""


class Account:
    """A budget from which calls reserve before they begin; for several threads at once.

    What is reserved and what is spent never pass the limit together, but for a call that costs more than its estimate.
    """

    def __init__(self, budget: Budget, *, secure: Secures = lambda *_: None) -> None:
        """Args:
        secure: gets what is spent and reserved together before a reservation counts, and where it is less afterwards.
        """
        self._budget = budget
        self._secure = secure
        self._lock = threading.Lock()

    @property
    def budget(self) -> Budget:
        """As it is now."""
        return self._budget

    def reserve(self, need: Estimate, *, purpose: str) -> None:
        """Set aside the most that a call can cost; `settle` or `release` has to follow.

        Raises:
            BudgetReached: so much is not left; nothing is set aside.
        """
        with self._lock:
            refusal = self._budget.refusal(need)
            if refusal is not None:
                raise BudgetReached(
                    f"{refusal} (asked for: {purpose})",
                    needs_usd=float(need.cost_usd),
                    needs_tokens=need.tokens,
                )
            after = self._budget.reserving(need)
            # Under the lock: a later reservation has a sum that holds this one.
            self._secure(*_sums(after))
            self._budget = after

    def release(self, need: Estimate) -> None:
        """A call came to nothing."""
        with self._lock:
            self._take(self._budget.releasing(need))

    def settle(self, need: Estimate, cost_usd: Decimal, tokens: int) -> None:
        """A call has cost so much."""
        with self._lock:
            self._take(self._budget.releasing(need).spending(cost_usd, tokens))

    def _take(self, after: Budget) -> None:
        """Go on with what a call that ended has left; the lock is held."""
        usd_before, tokens_before = _sums(self._budget)
        usd, tokens = _sums(after)
        self._budget = after
        # One that cost more than its estimate is reported with the next reservation, for nobody can refuse it any more.
        if usd <= usd_before and tokens <= tokens_before:
            self._secure(usd, tokens)


def _sums(budget: Budget) -> tuple[Decimal, int]:
    return budget.spent_usd + budget.reserved_usd, budget.spent_tokens + budget.reserved_tokens
