"""Whatever many callers do at once, no more is set aside and spent than there is."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.errors import BudgetReached, TryAgainLater
from cogworks.llm.budget import Account, Budget, Estimate, shipped_prices, upper_bound
from cogworks.llm.gateway import Gateway, ModelSettings, ReplyRecord
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from tests.asked import MODEL
from tests.exhaustive import examples
from tests.fakes import ScriptedModel
from tests.limits import ENDS_WITHIN_S
from tests.llm.test_gateway import QUESTION, Number

CALLERS = 32
Spent = tuple[int, int, bool]
"""The estimate of a call, the part of it that it costs, and whether it fails."""
CALLS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 100), st.booleans()), min_size=CALLERS, max_size=CALLERS
)


def at_once(callers: list[Callable[[], None]]) -> None:
    """Every caller in a thread of its own, all of which begin together."""
    start = threading.Barrier(len(callers))

    def begun(call: Callable[[], None]) -> None:
        start.wait(ENDS_WITHIN_S)
        call()

    with ThreadPoolExecutor(len(callers)) as pool:
        for ended in [pool.submit(begun, call) for call in callers]:
            ended.result(ENDS_WITHIN_S)


@settings(deadline=None, max_examples=examples(25))
@given(CALLS, st.integers(0, 400))
def test_no_budget_is_oversold_whoever_comes_when(calls: list[Spent], limit: int) -> None:
    account = Account(Budget(limit_usd=Decimal(limit), limit_tokens=limit))
    seen: list[int] = []
    costs: list[int] = []

    def caller(most: int, percent: int, fails: bool) -> Callable[[], None]:
        need, cost = Estimate(tokens=most, cost_usd=Decimal(most)), most * percent // 100

        def call() -> None:
            try:
                account.reserve(need, purpose="p")
            except BudgetReached:
                return
            now = account.budget
            seen.append(now.spent_tokens + now.reserved_tokens)
            if fails:
                account.release(need)
            else:
                account.settle(need, Decimal(cost), cost)
                costs.append(cost)

        return call

    at_once([caller(*each) for each in calls])

    assert all(amount <= limit for amount in seen)
    assert account.budget == Budget(
        limit_usd=Decimal(limit), limit_tokens=limit, spent_usd=Decimal(sum(costs)), spent_tokens=sum(costs)
    )


class Slow:
    """A provider that answers when every caller has come: with a question, or because it may not ask."""

    def __init__(self) -> None:
        self._everybody = threading.Barrier(CALLERS)

    def come(self) -> None:
        self._everybody.wait(ENDS_WITHIN_S)

    def complete(self, request: ModelRequest) -> ModelReply:
        self.come()
        if request.messages[0].text.endswith("At most 0."):
            raise TryAgainLater("busy")
        usage = Usage(
            input_tokens=1, output_tokens=2, cache_creation_input_tokens=3, cache_read_input_tokens=4
        )
        return ModelReply(text='{"value": 0}', stop_reason="end_turn", usage=usage, model=MODEL)


@pytest.mark.parametrize("is_failing", [False, True], ids=["all-answer", "one-fails"])
def test_thirty_two_callers_of_one_gateway_get_as_many_calls_as_the_budget_holds(is_failing: bool) -> None:
    model = ScriptedModel('{"value": 0}')
    gateway(model).ask("number", {"most": 1}, Number, purpose="p")
    need = upper_bound(model.requests[0])
    room = 5
    budget = Budget(limit_tokens=room * (need.total_input + need.output_tokens))
    records: list[ReplyRecord] = []
    slow = Slow()
    asking = gateway(slow, budget=budget, on_reply=records.append)
    ends: list[type[Exception] | None] = []

    def caller(place: int) -> Callable[[], None]:
        def call() -> None:
            try:
                asking.ask("number", {"most": place if is_failing else 1}, Number, purpose=f"p-{place}")
                ends.append(None)
            except BudgetReached:
                slow.come()
                ends.append(BudgetReached)
            except TryAgainLater:
                ends.append(TryAgainLater)

        return call

    at_once([caller(place) for place in range(1, CALLERS)] + [caller(0 if is_failing else 1)])

    answered = ends.count(None)
    assert answered + ends.count(TryAgainLater) == room
    assert ends.count(BudgetReached) == CALLERS - room
    assert asking.meter.calls == len(records) == answered
    assert asking.budget.spent_tokens == 10 * answered
    assert asking.budget.spent_usd == sum(record.cost_usd for record in records)
    assert (asking.budget.reserved_usd, asking.budget.reserved_tokens) == (Decimal(0), 0)


def gateway(
    model: ScriptedModel | Slow,
    *,
    budget: Budget | None = None,
    on_reply: Callable[[ReplyRecord], None] = lambda _: None,
) -> Gateway:
    return Gateway(
        model,
        shipped_prompts(QUESTION),
        ModelSettings(model=MODEL, max_output_tokens=1000),
        prices=shipped_prices(),
        budget=budget or Budget(),
        on_reply=on_reply,
    )
