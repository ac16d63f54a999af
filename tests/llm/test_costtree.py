"""Each call has its place in a tree whose sums are exact."""

from datetime import date
from decimal import Decimal

import pytest

from cogworks.llm.budget import Price, PriceList
from cogworks.llm.costtree import WHOLE_ITEM, Branch, Costs, PaidVisit, cost_tree, walked
from cogworks.llm.gateway import PromptManifest, ReplyRecord
from cogworks.llm.provider import ModelReply, Usage

USAGE = Usage(
    input_tokens=100, output_tokens=10, cache_creation_input_tokens=200, cache_read_input_tokens=700
)
PRICE = Price.model_validate({"input": 10, "output": 100, "cache_write": 20, "cache_read": 1})
PRICES = PriceList(as_of=date(2026, 11, 20), models={"m": PRICE})
CALL = Costs(1, USAGE, Decimal("0.0067"), Decimal("0.011"))


def record(purpose: str, *, model: str = "m", stop_reason: str = "end_turn") -> ReplyRecord:
    return ReplyRecord(
        request_key="k",
        purpose=purpose,
        reply=ModelReply(text="{}", stop_reason=stop_reason, usage=USAGE, model=model),
        cost_usd=PRICE.cost_of(USAGE),
        manifest=PromptManifest(
            template="t", template_sha256="", system_sha256="", messages_sha256="", schema_sha256=""
        ),
    )


def lines(branch: Branch) -> list[tuple[int, str, int]]:
    found: list[tuple[int, str, int]] = []
    walked(branch, lambda each, depth: found.append((depth, each.name, each.costs.calls)))
    return found


def test_calls_stand_below_their_question_visit_and_sub_work_item() -> None:
    visits = [
        PaidVisit("", "0001-intake", [record("intake-1"), record("intake-1-look1"), record("intake-1-look2-more1")]),
        PaidVisit("", "0002-nothing", []),
        PaidVisit("A", "0003-code@7", [record("implementation-A-1"), record("implementation-A-2", stop_reason="broken_off")]),
        PaidVisit("A", "0004-review@7", [record("review-A-1-repair1")]),
    ]  # fmt: skip

    assert lines(cost_tree("item", visits, PRICES)) == [
        (0, "item", 6),
        (1, WHOLE_ITEM, 3),
        (2, "0001-intake", 3),
        (3, "intake-1", 3),
        (4, "first turn, m", 1),
        (4, "look1, m", 1),
        (4, "look2-more1, m", 1),
        (1, "A", 3),
        (2, "0003-code@7", 2),
        (3, "implementation-A-1", 1),
        (4, "first turn, m", 1),
        (3, "implementation-A-2", 1),
        (4, "first turn, m (broken_off)", 1),
        (2, "0004-review@7", 1),
        (3, "review-A-1", 1),
        (4, "repair1, m", 1),
    ]


def test_every_branch_costs_what_is_below_it_and_tells_what_the_cache_saved() -> None:
    tree = cost_tree("item", [PaidVisit("", "v", [record("a-1"), record("b-1")])], PRICES)

    assert tree.costs == CALL + CALL
    assert tree.costs.cost_usd == 2 * Decimal("0.0067")
    assert tree.costs.uncached_usd == 2 * Decimal("0.011")
    assert tree.costs.cached_share == pytest.approx(0.7)


def test_without_a_price_nobody_says_what_a_cache_saved() -> None:
    tree = cost_tree("item", [PaidVisit("", "v", [record("a-1"), record("b-1", model="x")])], PRICES)

    assert tree.costs.uncached_usd is None
    assert tree.costs.cost_usd == 2 * Decimal("0.0067")


def test_nothing_paid_is_nothing_shown() -> None:
    assert cost_tree("item", [], PRICES) == Branch("item", Costs())
    assert Costs().cached_share == 0
