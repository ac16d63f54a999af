"""Runners of one item, one ledger: what they spend and have under way together never passes the limits."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.engine.visit_limits import Purse
from cogworks.errors import BudgetReached
from cogworks.ledger.lease import RELEASED, Entry, VisitLease
from cogworks.llm.budget import Account, Budget, Estimate
from cogworks.pipeline.limits import ROOM_TOKENS, grant, session_budget, shortage, tokens_of
from cogworks.pipeline.spend import Spend
from tests.exhaustive import examples
from tests.ledger.scripted import MemoryStore
from tests.pipeline.graphs import document, edge, parse
from tests.pipeline.runs import at, facts, lease, new_run

NAMES = ("a", "b", "c")
GRAPH = parse(
    document(
        [
            {"id": "start", "type": "deterministic", "evaluation": "all-matching"},
            {"id": "a", "type": "llm"},
            {"id": "b", "type": "llm"},
            {"id": "c", "type": "llm", "cost_budget_usd": 40},
        ],
        [edge(f"start>{name}") for name in NAMES],
    )
)
LIMIT_USD, LIMIT_TOKENS = 100, 400_000
FACTS = facts(max_cost_usd=LIMIT_USD, max_tokens=LIMIT_TOKENS)
WINDOW_USD = 10.0


class Runner:
    """One process: its own view of the ledger, its own account."""

    def __init__(self, store: MemoryStore, name: str) -> None:
        granted = grant(store.state, FACTS, GRAPH, at(name), window_usd=WINDOW_USD)
        held = lease(
            store.state,
            name,
            reserved_usd=granted.usd,
            reserved_tokens=granted.tokens,
            is_capped=granted.is_capped,
        )
        state = store.state.with_lease(held, identity=1)
        store.elsewhere(state)
        self.lease = VisitLease(store, state=state, tip=store.oid, lease=state.leases[-1])
        self.purse = Purse(self.lease, FACTS, GRAPH, window_usd=WINDOW_USD, stop_labels=frozenset())
        usd, tokens = session_budget(state, FACTS, GRAPH, at(name))
        budget = Budget(limit_usd=Decimal(str(usd)), limit_tokens=tokens)
        self.account = Account(budget, secure=self.purse.secure)
        self.calls: list[Estimate] = []
        self.paid = Spend()

    def call(self, usd: int, tokens: int) -> bool:
        """Whether it may be made."""
        need = Estimate(cost_usd=Decimal(usd), tokens=tokens)
        try:
            self.account.reserve(need, purpose="p")
        except BudgetReached:
            return False
        self.calls.append(need)
        return True

    def answered(self, percent: int) -> None:
        """The oldest call under way comes to its end."""
        need = self.calls.pop(0)
        usd, tokens = need.cost_usd * percent / 100, need.tokens * percent // 100
        spent = Spend(cost_usd=float(usd), input_tokens=tokens, model_calls=1)
        self.account.settle(need, usd, tokens)
        self.paid = self.paid + spent
        if self.lease.spend(spent, {}).cost_usd >= WINDOW_USD:
            self.purse.renew()

    def end(self) -> None:
        """It gives the visit back with nothing under way."""
        while self.calls:
            self.answered(100)
        self.lease.finish(
            lambda state: Entry(state=state.released(self.lease.lease, self.lease.spent), verb=RELEASED)
        )

    @property
    def committed(self) -> Spend:
        """What it has spent and what its calls under way may cost."""
        usd = sum((each.cost_usd for each in self.calls), Decimal(0))
        return self.paid + Spend(cost_usd=float(usd), input_tokens=sum(each.tokens for each in self.calls))


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("call"), st.sampled_from(NAMES), st.integers(0, 60), st.integers(0, 150_000)),
        st.tuples(st.just("answered"), st.sampled_from(NAMES), st.integers(0, 100), st.just(0)),
        st.tuples(st.just("renew"), st.sampled_from(NAMES), st.just(0), st.just(0)),
        st.tuples(st.just("end"), st.sampled_from(NAMES), st.just(0), st.just(0)),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=examples(150))
@given(MOVES)
def test_no_budget_is_oversold_by_runners_of_one_item_whoever_comes_when(
    moves: list[tuple[str, str, int, int]],
) -> None:
    store = MemoryStore(new_run(GRAPH))
    running: dict[str, Runner] = {}
    gone: list[Runner] = []

    for what, name, first, second in moves:
        runner = running.get(name)
        if runner is None:
            if not shortage(store.state, FACTS, GRAPH, at(name)):
                running[name] = Runner(store, name)
        elif what == "call":
            runner.call(first, second)
        elif what == "renew":
            runner.purse.renew()
        elif what == "end":
            gone.append(running.pop(name))
            gone[-1].end()
        elif runner.calls:
            runner.answered(first)

        together = sum((each.committed for each in (*running.values(), *gone)), Spend())
        assert together.cost_usd <= LIMIT_USD
        assert tokens_of(together) <= LIMIT_TOKENS
        told = store.state
        assert round(told.spent.cost_usd + told.reserved_usd, 9) <= LIMIT_USD
        assert tokens_of(told.spent) + told.reserved_tokens <= LIMIT_TOKENS


def test_what_its_reservation_holds_costs_no_commit_and_more_costs_one() -> None:
    store = MemoryStore(new_run(GRAPH))
    runner = Runner(store, "a")

    assert runner.call(6, 20_000)
    assert runner.call(4, ROOM_TOKENS - 20_000)
    assert store.changes == []
    assert runner.call(1, 1)
    [change] = store.changes

    assert "a checkpoint" in change.message
    [held] = store.state.leases
    assert (held.reserved_usd, held.reserved_tokens) == (11.0, ROOM_TOKENS + 1)


def test_what_was_answered_is_told_with_the_next_reservation_and_room_is_made_again() -> None:
    store = MemoryStore(new_run(GRAPH))
    runner = Runner(store, "a")

    assert runner.call(9, 10)
    runner.answered(100)
    assert runner.call(9, 10)

    [held] = store.state.leases
    assert (held.spent.cost_usd, held.reserved_usd) == (9.0, 10.0)
    assert len(store.changes) == 1


def test_what_others_hold_is_looked_up_anew_before_a_call_is_refused() -> None:
    store = MemoryStore(new_run(GRAPH))
    other, runner = Runner(store, "b"), Runner(store, "a")
    assert other.call(60, 10)
    with pytest.raises(
        BudgetReached, match=r"Other runners of this item hold 60\.00 USD and 60000 tokens"
    ) as refused:
        runner.account.reserve(Estimate(cost_usd=Decimal(50), tokens=10), purpose="p")

    other.answered(1)
    other.end()

    assert (refused.value.needs_usd, refused.value.needs_tokens) == (50.0, 10)
    assert runner.account.budget.reserved_usd == 0
    assert runner.call(50, 10)


def test_a_call_that_was_refused_leaves_the_reservation_as_it_was() -> None:
    store = MemoryStore(new_run(GRAPH))
    other, runner = Runner(store, "b"), Runner(store, "a")
    assert other.call(60, 10)
    before = store.state

    assert not runner.call(50, 10)

    assert store.state == before
    assert runner.call(10, 10)
    assert store.state == before


def test_what_a_call_did_not_cost_is_for_others_from_the_next_renewal_on() -> None:
    store = MemoryStore(new_run(GRAPH))
    runner = Runner(store, "a")
    assert runner.call(60, 10_000)
    assert runner.lease.held.reserved_usd == 60

    runner.answered(1)
    runner.purse.renew()

    assert runner.lease.held.reserved_usd == WINDOW_USD


@pytest.mark.parametrize("name", ["a", "c"])
def test_tokens_that_a_call_did_not_need_are_for_others_as_well(name: str) -> None:
    store = MemoryStore(new_run(GRAPH))
    runner = Runner(store, name)
    claimed = runner.lease.held.reserved_tokens
    assert runner.call(1, claimed + 100_000)
    assert runner.lease.held.reserved_tokens == claimed + 100_000

    runner.answered(1)
    runner.purse.renew()

    # The share of the money that the visit has set aside, as for a claim.
    share = LIMIT_TOKENS * runner.lease.held.reserved_usd / LIMIT_USD
    assert runner.lease.held.reserved_tokens == max(ROOM_TOKENS, share) < claimed + 100_000
