from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.decision import BackOff, Run, Stop, decide
from cogworks.pipeline.elements import MAX_TRAVERSALS, MAX_VISITS_PER_RUN, EdgeId, EdgeRef, routing_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.limits import (
    ROOM_TOKENS,
    Grant,
    budget_key,
    grant,
    max_cost_usd,
    session_budget,
    share_spent,
    shortage,
)
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.position import Standing
from cogworks.pipeline.routing import out_edges_after
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from tests.pipeline.graphs import document, edge, parse, pipeline
from tests.pipeline.runs import at, facts, finished, lease, new_run, visit


def fan(*nodes: dict[str, Any], **settings: Any) -> Pipeline:
    """`start` leads to all of them at once."""
    start = {"id": "start", "type": "deterministic", "evaluation": "all-matching"}
    tables = [start, *({"type": "llm", **node} for node in nodes)]
    return parse(document(tables, [edge(f"start>{node['id']}") for node in nodes], **settings))


def begun(graph: Pipeline) -> RunState:
    return finished(new_run(graph), "start", pipeline=graph)


def leased(state: RunState, name: str, **changes: Any) -> RunState:
    return state.with_lease(lease(state, name, **changes), identity=1)


def alive(state: RunState) -> dict[str, Any]:
    return {"lease_ages_s": {held.visit_key: 1.0 for held in state.leases}}


def test_the_budget_of_the_pipeline_wins_over_that_of_the_repository() -> None:
    assert max_cost_usd(facts(max_cost_usd=10), fan({"id": "a"})) == 10
    assert max_cost_usd(facts(max_cost_usd=10), fan({"id": "a"}, cost_budget_usd=40)) == 40


SMALL = built_in_pipelines().pipelines["small"]


@pytest.mark.parametrize(
    ("lane", "max_usd", "limit_usd", "key"),
    [
        ("small", 10.0, 2.0, "small_max_cost_dollars"),
        ("auto", 10.0, 2.0, "small_max_cost_dollars"),
        ("small", 1.5, 1.5, "pipeline_max_cost_dollars"),
        ("", 10.0, 10.0, "pipeline_max_cost_dollars"),
    ],
    ids=["small", "by-the-rule", "less-for-every-item", "no-lane"],
)
def test_the_lane_small_has_a_limit_of_its_own_where_that_is_less(
    lane: str, max_usd: float, limit_usd: float, key: str
) -> None:
    known = facts(lane=lane, max_cost_usd=max_usd)

    assert max_cost_usd(known, SMALL) == limit_usd
    assert budget_key(known, SMALL) == f"`budgets.{key}` in `.cogworks/config.toml`"


def spending(graph: Pipeline, **usd: float) -> RunState:
    """A run whose nodes have cost so much."""
    state = new_run(graph)
    for name, cost_usd in usd.items():
        state = state.recorded(visit(state, name, spend=Spend(cost_usd=cost_usd)))
    return state


@pytest.mark.parametrize(
    ("cost_usd", "share"), [(0.99, 0), (1.0, 50), (1.49, 50), (1.5, 75), (1.8, 90), (2.5, 90)]
)
def test_people_are_told_at_a_half_three_quarters_and_nine_tenths(cost_usd: float, share: int) -> None:
    assert share_spent(spending(SMALL, intake=cost_usd), facts(lane="small"), SMALL) == share


def test_tokens_count_as_well_as_money() -> None:
    state = new_run(SMALL)
    state = state.recorded(visit(state, "intake", spend=Spend(input_tokens=300_000, output_tokens=75_000)))

    assert share_spent(state, facts(max_tokens=500_000), SMALL) == 75


def test_a_node_reserves_its_own_budget_else_what_it_may_spend_unsaid() -> None:
    graph = fan({"id": "a", "cost_budget_usd": 4}, {"id": "b"})
    state = begun(graph)

    own = grant(state, facts(), graph, at("a"), window_usd=0.5)
    other = grant(state, facts(), graph, at("b"), window_usd=0.5)

    assert own == Grant(usd=4.0, tokens=200_000, is_capped=True)
    assert other == Grant(usd=0.5, tokens=ROOM_TOKENS, is_capped=False)


def test_the_default_of_the_pipeline_is_a_budget_of_every_node() -> None:
    graph = fan({"id": "a"}, default_cost_budget_usd=3)

    assert grant(begun(graph), facts(), graph, at("a"), window_usd=0.5).usd == 3.0


def test_a_dead_runner_has_spent_what_it_reserved() -> None:
    graph = fan({"id": "a", "cost_budget_usd": 4})
    state = leased(begun(graph), "a", reserved_usd=3.0, reserved_tokens=100)

    taken_over = state.with_lease(lease(state, "a", attempt=2), identity=1)

    assert grant(state, facts(), graph, at("a"), window_usd=0.5).usd == 1.0
    booked = Spend(cost_usd=3.0, input_tokens=100, unconfirmed_usd=3.0, unconfirmed_tokens=100)
    assert taken_over.leases[0].spent == booked


def test_a_visit_may_spend_the_rest_of_its_node_or_of_the_run_whichever_is_less() -> None:
    graph = fan({"id": "a", "cost_budget_usd": 4}, {"id": "b"})
    capped = leased(begun(graph), "a", reserved_usd=4.0, is_capped=True)
    free = leased(begun(graph), "b", reserved_usd=0.5)

    assert session_budget(capped, facts(), graph, at("a"))[0] == 4.0
    assert session_budget(capped, facts(max_cost_usd=3), graph, at("a"))[0] == 2.9
    assert session_budget(free, facts(), graph, at("b"))[0] == 9.9


def test_a_visit_that_used_up_its_node_does_not_go_on() -> None:
    graph = fan({"id": "a", "cost_budget_usd": 4})
    state = begun(graph)
    held = lease(state, "a")
    left = state.with_lease(held, identity=1).released(held, Spend(cost_usd=4.0))

    assert shortage(left, facts(), graph, at("a")) == (
        "budget: this visit of a has 0.00 left of the 4.00 USD of its node; raise `cost_budget_usd` of the node in "
        "`.cogworks/pipeline.toml` or split the issue."
    )


@given(
    limit=st.integers(1, 200),
    budgets=st.lists(st.integers(1, 120), min_size=2, max_size=5),
    spent=st.integers(0, 50),
)
def test_claims_at_the_same_time_never_reserve_more_than_there_is(
    limit: int, budgets: list[int], spent: int
) -> None:
    nodes = [{"id": f"n{number}", "cost_budget_usd": usd} for number, usd in enumerate(budgets)]
    graph = fan(*nodes, cost_budget_usd=limit)
    state = new_run(graph)
    state = state.recorded(visit(state, "start", spend=Spend(cost_usd=float(spent))))
    state = state.model_copy(update={"marks": {f"start_to_{node['id']}": "taken" for node in nodes}})

    for _ in budgets:
        decision = decide(Standing(state, facts(**alive(state)), graph))
        if not isinstance(decision, Run):
            assert isinstance(decision, Stop | BackOff)
            break
        granted = grant(state, facts(), graph, decision.instance, window_usd=0.5)
        name = str(decision.instance.node)
        state = leased(state, name, reserved_usd=granted.usd, reserved_tokens=granted.tokens, is_capped=True)
        assert granted.usd > 0

    assert state.spent.cost_usd + state.reserved_usd <= max(limit, spent)
    assert state.reserved_tokens <= facts().max_tokens


def test_no_run_makes_more_visits_than_the_cap() -> None:
    graph = pipeline("a b", "a>b")
    state = finished(new_run(graph), "a", pipeline=graph)
    many = state.visits * MAX_VISITS_PER_RUN
    rich = facts(max_cost_usd=1_000.0)

    decision = decide(Standing(state.model_copy(update={"visits": many}), rich, graph))
    before = decide(Standing(state.model_copy(update={"visits": many[1:]}), rich, graph))

    assert isinstance(decision, Stop)
    assert decision.outcome == "failed"
    assert "1000 visits, and no run may make more than 1000, whatever" in decision.reason
    assert "`/cogworks restart`" in decision.reason
    assert isinstance(before, Run)


def test_no_loop_is_walked_more_often_than_the_cap_whatever_the_graph_says() -> None:
    graph = pipeline(
        "a &b", [edge("a>b"), edge("b>a", rework={"max_traversals": 1}, condition={"expr": "again"})]
    )
    generous = graph.edge(EdgeId("b_to_a")).rework
    assert generous is not None
    object.__setattr__(generous, "max_traversals", 1_000)

    last = out_edges_after(graph, at("b"), {"again": True}, {EdgeRef(EdgeId("b_to_a")): MAX_TRAVERSALS - 1})
    over = out_edges_after(graph, at("b"), {"again": True}, {EdgeRef(EdgeId("b_to_a")): MAX_TRAVERSALS})

    assert (last.rework, over.overflow) == ("b_to_a", "escalate")


def test_the_limit_of_model_calls_counts_live_runners_and_routing_visits() -> None:
    graph = fan({"id": "a"}, {"id": "b"}, {"id": "c", "type": "deterministic"}, max_concurrent_llm_calls=1)
    state = leased(begun(graph), "a")

    beside = decide(Standing(state, facts(**alive(state)), graph))
    picked = decide(Standing(state, facts(wanted=at("b"), **alive(state)), graph))
    routing = leased(begun(graph), routing_of(Instance(at("a").node)).node)
    while_routing = decide(Standing(routing, facts(**alive(routing)), graph))

    assert isinstance(beside, Run)
    assert beside.instance == at("c")
    assert isinstance(picked, BackOff)
    assert isinstance(while_routing, Run)
    assert while_routing.instance == at("c")


def test_a_budget_may_be_raised_while_the_run_goes_on() -> None:
    small = fan({"id": "a", "cost_budget_usd": 1}, cost_budget_usd=5, default_cost_budget_usd=2)
    large = fan({"id": "a", "cost_budget_usd": 9}, cost_budget_usd=50, default_cost_budget_usd=20)

    assert small.graph_hash == large.graph_hash
