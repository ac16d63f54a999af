from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import ConfigurationError
from cogworks.llm.budget import Budget, Estimate, Price, dollars, estimate, shipped_prices
from cogworks.llm.provider import Message, ModelRequest, Usage

PRICE = Price(input=Decimal(2), output=Decimal(10), cache_write=Decimal("2.5"), cache_read=Decimal("0.1"))


def need(cost: str, tokens: int = 10) -> Estimate:
    return Estimate(tokens=tokens, cost_usd=Decimal(cost))


def request(system: str, user: str, max_output_tokens: int = 1000) -> ModelRequest:
    return ModelRequest(
        model="m",
        system=system,
        messages=(Message(role="user", text=user),),
        output_schema={},
        max_output_tokens=max_output_tokens,
        purpose="p",
    )


def test_a_call_costs_its_four_kinds_of_tokens() -> None:
    usage = Usage(
        input_tokens=1000, output_tokens=200, cache_creation_input_tokens=400, cache_read_input_tokens=10_000
    )

    assert PRICE.cost_of(usage) == Decimal("0.002") + Decimal("0.002") + Decimal("0.001") + Decimal("0.001")


@pytest.mark.parametrize(
    ("input_tokens", "cost"), [(100_000, "0.01"), (100_001, "0.0500005")], ids=["at-the-bound", "above"]
)
def test_a_long_prompt_changes_the_price_of_the_whole_request(input_tokens: int, cost: str) -> None:
    haiku = shipped_prices().price_of("claude-haiku-5-5")

    assert haiku.cost_of(Usage(input_tokens=input_tokens)) == Decimal(cost)


@pytest.mark.parametrize(
    ("cost", "refusal"),
    [
        ("0.16", None),
        (
            "0.160001",
            (
                "budget: 1.84 of 2.00 USD spent, this call needs up to 0.160001; "
                "raise `[budgets] pipeline_max_cost_dollars` or split the issue."
            ),
        ),
    ],
    ids=["exactly-reached", "a-millionth-over"],
)
def test_reaching_the_limit_exactly_is_allowed(cost: str, refusal: str | None) -> None:
    budget = Budget(limit_usd=Decimal(2), spent_usd=Decimal("1.84"))

    assert budget.refusal(need(cost)) == refusal


def test_what_others_have_reserved_counts_as_gone() -> None:
    budget = Budget(limit_usd=Decimal(2), spent_usd=Decimal(1)).reserving(need("0.75"))

    assert budget.refusal(need("0.25")) is None
    assert budget.refusal(need("0.31")) == (
        "budget: 1.00 of 2.00 USD spent and 0.75 reserved, this call needs up to 0.31; "
        "raise `[budgets] pipeline_max_cost_dollars` or split the issue."
    )


def test_tokens_have_a_limit_of_their_own() -> None:
    budget = Budget(limit_tokens=100, spent_tokens=60, reserved_tokens=30)

    assert budget.refusal(need("99999", tokens=10)) is None
    assert budget.refusal(need("0", tokens=11)) == (
        "budget: 60 of 100 tokens spent and 30 reserved, this call needs up to 11; "
        "raise `[budgets] pipeline_max_tokens` or split the issue."
    )


def test_spending_moves_both_figures() -> None:
    assert Budget(spent_usd=Decimal(1), spent_tokens=5).spending(Decimal("0.5"), 7) == Budget(
        spent_usd=Decimal("1.5"), spent_tokens=12
    )


def test_an_estimate_counts_a_token_for_three_bytes_and_every_output_token() -> None:
    # 6 + 3 bytes of text and the 2 of the empty schema.
    found = estimate(request("abcdef", "ghi"), PRICE)

    assert found == Estimate(tokens=4 + 1000, cost_usd=Decimal("0.010008"))


def test_scripts_with_a_token_per_character_are_not_underestimated() -> None:
    assert estimate(request("", "注文書" * 100), PRICE).tokens >= 300 + 1000


@given(st.lists(st.decimals(min_value=0, max_value=1, places=7), max_size=30))
def test_calls_are_made_until_the_next_one_does_not_fit(costs: list[Decimal]) -> None:
    budget = Budget(limit_usd=Decimal(3))
    for cost in costs:
        if budget.refusal(Estimate(tokens=1, cost_usd=cost)) is None:
            budget = budget.spending(cost, 1)
        else:
            assert budget.spent_usd + cost > 3

    assert budget.spent_usd <= 3


@pytest.mark.parametrize(
    ("amount", "text"),
    [("1.84", "1.84"), ("2", "2.00"), ("0.000125", "0.000125"), ("0.0000001", "0.000001"), ("10.5", "10.50")],
)
def test_dollars_are_shown_with_two_to_six_decimals_rounded_up(amount: str, text: str) -> None:
    assert dollars(Decimal(amount)) == text


def test_a_model_without_a_price_is_an_error_that_names_the_table_to_add() -> None:
    with pytest.raises(ConfigurationError) as refused:
        shipped_prices().price_of("gpt-99")

    assert refused.value.source == ".cogworks/config.toml"
    assert '`[llm.prices."gpt-99"]`' in refused.value.problems[0]


def test_configured_prices_win_over_the_built_in_ones() -> None:
    prices = shipped_prices().with_configured({"gpt-99": PRICE, "claude-sonnet-5-5": PRICE})

    assert prices.price_of("gpt-99") == PRICE
    assert prices.price_of("claude-sonnet-5-5") == PRICE
    assert prices.price_of("claude-opus-5-5") == shipped_prices().price_of("claude-opus-5-5")


def test_the_built_in_prices_are_exact_and_a_cache_read_never_costs_more_than_plain_input() -> None:
    models = shipped_prices().models

    assert models["claude-sonnet-5-5"] == PRICE
    assert all(price.cache_read <= price.input < price.output for price in models.values())
