"""What an item is expected to cost: learnt from the last commits of other ledgers, else counted from the questions."""

import pytest

from cogworks.pipeline.expected import (
    MOST_ITEMS,
    asking_nodes,
    came_to,
    cost_in,
    cost_line,
    from_history,
    from_questions,
)
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.spend import ItemCost, Spend, Sum
from tests.pipeline.runs import new_run, visit

SMALL = built_in_pipelines().pipelines["small"]
DEFAULT = built_in_pipelines().pipelines["default"]


def cost(usd: float, *, round_usd: float = 0.1, pipeline: str = "small", tokens: int = 1_000) -> ItemCost:
    return ItemCost(
        pipeline=pipeline, whole=Sum(usd=usd, tokens=tokens), round=Sum(usd=round_usd, tokens=tokens // 10)
    )


def test_a_ledger_tells_later_items_what_its_item_came_to() -> None:
    state = new_run(SMALL)
    for name, usd in (("intake", 0.1), ("code_generation", 0.3), ("review", 0.2)):
        spend = Spend(cost_usd=usd, input_tokens=900, output_tokens=100)
        state = state.recorded(visit(state, name, spend=spend))

    told = came_to(state, SMALL)

    line = cost_line(told)
    assert line == "small 0.600000 USD 3000 tokens, a round 0.500000 USD 2000 tokens"
    assert (
        cost_in(f"cogworks: review succeeded [skip ci]\n\nRun: 1\n\nCogworks-Cost: {line}\nskip-checks: true")
        == told
    )


@pytest.mark.parametrize(
    "message",
    [
        "",
        "cogworks: review succeeded [skip ci]\n\nskip-checks: true",
        "Cogworks-Cost: small lots",
        "Cogworks-Cost: small -1.000000 USD 3000 tokens, a round 0.500000 USD 2000 tokens",
        "Cogworks-Cost: small 0.6 USD 3000 tokens, a round 1e9 USD 2000 tokens",
    ],
)
def test_what_says_nothing_of_the_kind_is_no_history(message: str) -> None:
    assert cost_in(message) is None


def test_the_median_of_the_items_that_ended_last_on_the_same_pipeline_is_expected() -> None:
    costs = [
        cost(0.2),
        cost(9.0, pipeline="default"),
        cost(0.9, round_usd=0.4),
        cost(0.4),
        *[cost(70.0)] * MOST_ITEMS,
    ]

    found = from_history(SMALL, costs[:4])

    assert found is not None
    assert (found.items, found.whole.usd, found.round.usd) == (3, 0.4, 0.4)
    assert (found.lowest_usd, found.highest_usd) == (0.2, 0.9)
    many = from_history(SMALL, costs)
    assert many is not None
    assert many.items == MOST_ITEMS


def test_no_item_of_another_pipeline_says_anything() -> None:
    assert from_history(SMALL, [cost(1.0, pipeline="default")]) is None


def test_without_history_the_questions_of_the_pipeline_are_counted() -> None:
    each = Sum(usd=0.01, tokens=1_000)

    small = from_questions(
        SMALL, {node.id: each for node in asking_nodes(SMALL)}, shown_tokens=700, writes_tests=True
    )
    whole = from_questions(
        DEFAULT, {node.id: each for node in asking_nodes(DEFAULT)}, shown_tokens=700, writes_tests=False
    )

    # Intake, tests, code, the one question of the review; a round repeats the last three.
    assert (small.questions, small.whole, small.round) == (
        4,
        Sum(usd=0.04, tokens=4_000),
        Sum(usd=0.03, tokens=3_000),
    )
    assert (small.part, small.items, small.shown_tokens) == (Sum(), 0, 700)
    # Four for the item; for each part the code, whose tests come with it, and the three questions of its review.
    assert (whole.questions, whole.whole.tokens, whole.part.tokens) == (8, 8_000, 4_000)
