"""Whole steps of runners that work at the same time: siblings that abort one another, shared budgets, model calls."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from cogworks.engine.report import StepReport
from cogworks.errors import BudgetReached
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import document
from tests.step_fakes import Died, Fault, Runner, Said
from tests.world import World

Procedure = Callable[[NodeTask, NodePorts], Outcome]


def split(*nodes: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """`plan` starts all of them at once."""
    plan = {"id": "start", "type": "deterministic", "evaluation": "all-matching"}
    return document(
        [plan, *({"type": "llm", **node} for node in nodes)],
        " ".join(f"start>{node['id']}" for node in nodes),
        **settings,
    )


def done(task: NodeTask, ports: NodePorts) -> Outcome:
    return Succeeded(output={}, summary="done")


def failing(task: NodeTask, ports: NodePorts) -> Outcome:
    return Failed(reason="it cannot be done", category="refused_change")


def runner(world: World, name: str = "one", **nodes: Procedure) -> Runner:
    procedures = {NodeId(node): nodes.get(node, done) for node in ("start", "a", "b", "c", "d")}
    return Runner(world, name=name, nodes=procedures)


def meanwhile(*others: Runner, reports: list[StepReport]) -> Procedure:
    """A node during which the others take a step each."""

    def work(task: NodeTask, ports: NodePorts) -> Outcome:
        reports.extend(other.step() for other in others)
        return Succeeded(output={}, summary="done at last")

    return work


def begun(world: World) -> World:
    assert runner(world).step().node == "start"
    return world


def test_a_failed_sibling_stops_the_visit_of_another_runner_before_it_is_recorded() -> None:
    world = begun(World(pipeline=split({"id": "a"}, {"id": "b", "abort_siblings_on_failure": True})))
    reports: list[StepReport] = []

    report = runner(world, a=meanwhile(runner(world, "two", b=failing), reports=reports)).step()
    after = runner(world).step()

    assert [(each.node, each.outcome) for each in reports] == [("b", "failed")]
    assert report.outcome == "backed_off"
    assert report.message == (
        "a was stopped because a sibling of it failed and aborts its siblings; nothing was published"
    )
    assert [visit.node for visit in world.state.visits] == ["start", "b"]
    assert (world.state.leases, len(world.state.given_back)) == ((), 1)
    assert after.outcome == "failed"


def test_an_aborted_sibling_goes_on_under_its_key_after_a_retry() -> None:
    world = begun(World(pipeline=split({"id": "a"}, {"id": "b", "abort_siblings_on_failure": True})))
    runner(world, a=meanwhile(runner(world, "two", b=failing), reports=[])).step()
    [left] = world.state.given_back
    world.say("/cogworks retry")

    reports = [runner(world).step() for _ in range(2)]

    assert [report.node for report in reports] == ["a", "b"]
    assert reports[0].visit_key == left.visit_key
    assert world.state.status == "done"


def test_without_that_setting_siblings_go_on() -> None:
    world = begun(World(pipeline=split({"id": "a"}, {"id": "b"})))

    report = runner(world, a=meanwhile(runner(world, "two", b=failing), reports=[])).step()

    assert report.outcome == "succeeded"
    assert [(v.node, v.status) for v in world.state.visits[1:]] == [("b", "failed"), ("a", "succeeded")]


def test_nobody_takes_over_a_dead_runner_whose_visit_was_aborted() -> None:
    world = begun(World(pipeline=split({"id": "a"}, {"id": "b", "abort_siblings_on_failure": True})))

    def dies(task: NodeTask, ports: NodePorts) -> Outcome:
        raise Died

    dying = runner(world, "dead", a=dies)
    dying.fault = Fault(at=4, when="before", kind="death")
    with pytest.raises(Died):
        dying.step()
    runner(world, "two", b=failing).step()
    world.now += timedelta(seconds=600)

    report = runner(world).step()

    assert (report.outcome, report.message) == (
        "failed",
        "a: a was stopped because a sibling of it failed and aborts its siblings",
    )


def test_two_claims_never_reserve_more_than_is_left_and_a_cheaper_sibling_goes_on() -> None:
    graph = split(
        {"id": "a", "cost_budget_usd": 80},
        {"id": "b", "cost_budget_usd": 80},
        {"id": "c", "cost_budget_usd": 15},
        cost_budget_usd=100,
    )
    world = begun(World(pipeline=graph))
    reports: list[StepReport] = []
    held: list[float] = []

    def refused(task: NodeTask, ports: NodePorts) -> Outcome:
        held.append(world.state.reserved_usd)
        reports.append(runner(world, "three").step())
        return Succeeded(output={}, summary="cheap")

    runner(world, a=meanwhile(runner(world, "two", c=refused), reports=reports)).step()

    assert held == [95.0]
    assert [(each.node, each.outcome) for each in reports] == [("", "budget_reached"), ("c", "succeeded")]
    assert reports[0].message == (
        "budget: b may need 80.00 USD, and 5.00 are left while other runners hold 95.00. It goes on when they report "
        "what they spent. Or raise `cost_budget_usd` of pipeline 'default' in `.cogworks/pipeline.toml`."
    )
    assert runner(world).step().node == "b"


def test_a_node_may_spend_its_own_budget_and_no_more() -> None:
    world = begun(World(pipeline=split({"id": "a", "cost_budget_usd": 0.3}, cost_budget_usd=100)))
    orders: list[tuple[float, float, int]] = []

    class Watching(Runner):
        def _session(self, order: Any) -> Any:
            [lease] = world.state.leases
            orders.append((order.budget_usd, lease.reserved_usd, lease.reserved_tokens))
            return super()._session(order)

    Watching(world, nodes={NodeId("a"): done}).step()

    assert orders == [(0.3, 0.3, 60_000)]


def test_what_a_capped_visit_has_spent_is_no_longer_reserved() -> None:
    world = begun(World(pipeline=split({"id": "a", "cost_budget_usd": 0.3})))
    world.config += "[ledger]\ncheckpoint_usd = 0.05\n"
    seen: list[tuple[float, float]] = []

    def asks(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.model.ask("any", {}, Said, purpose="a-1")
        [lease] = world.state.leases
        seen.append((lease.spent.cost_usd, lease.reserved_usd))
        return Succeeded(output={}, summary="asked")

    runner(world, a=asks).step()

    assert seen == [(0.1, 0.2)]


def test_no_more_runners_ask_a_model_at_once_than_the_pipeline_allows() -> None:
    graph = split({"id": "a"}, {"id": "b"}, {"id": "c", "type": "deterministic"}, max_concurrent_llm_calls=1)
    world = begun(World(pipeline=graph))
    reports: list[StepReport] = []
    others = [runner(world, "two"), runner(world, "three")]

    runner(world, a=meanwhile(*others, reports=reports)).step()

    assert [(each.node, each.outcome) for each in reports] == [("c", "succeeded"), ("", "backed_off")]
    assert runner(world).step().node == "b"


def test_a_visit_ends_when_others_spent_what_it_counted_on() -> None:
    world = begun(World(pipeline=split({"id": "a"}, {"id": "b"}, cost_budget_usd=0.25)))
    world.config += "[ledger]\ncheckpoint_usd = 0.05\n"
    reports: list[StepReport] = []

    def asks(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.model.ask("any", {}, Said, purpose=f"{task.visit.node}-1")
        if task.visit.node == "a":
            reports.append(runner(world, "two", b=asks).step())
            ports.model.ask("any", {}, Said, purpose="a-2")
        return Succeeded(output={}, summary="asked")

    with pytest.raises(BudgetReached, match=r"0\.30 of 0\.25 USD is spent or reserved"):
        runner(world, a=asks).step()

    # The fake model knows no budget; the ledger alone stops it.
    assert [(v.node, v.status) for v in world.state.visits] == [("start", "succeeded"), ("b", "succeeded")]
