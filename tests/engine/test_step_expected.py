"""A step says what its item is expected to cost before it asks its first question, on a GitHub in memory."""

from typing import Literal

import pytest

from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.expected import cost_in
from cogworks.pipeline.spend import ItemCost, Sum
from cogworks.vocabulary import NodeId
from tests.step_fakes import NODES, Died, Fault, Runner, until_done
from tests.world import World

NAME = "default"


def dear(round_usd: float, pipeline: str = NAME) -> ItemCost:
    """An item that ended here and had a round of rework."""
    return ItemCost(
        pipeline=pipeline, whole=Sum(usd=4.0, tokens=40_000), round=Sum(usd=round_usd, tokens=10_000)
    )


def test_the_estimate_is_in_the_ledger_before_the_node_runs_and_in_the_first_comment() -> None:
    world = World()
    world.item_costs = [dear(1.0)]
    before: list[float] = []

    def spec(task: NodeTask, ports: NodePorts) -> Outcome:
        before.extend(each.whole.usd for each in world.state.expected)
        return NODES[NodeId("spec")](task, ports)

    Runner(world, nodes={**NODES, NodeId("spec"): spec}).step()

    assert before == [4.0]
    assert (
        f"**Expected cost:** about $4.00 and 40,000 tokens, as the one item that has ended on `{NAME}` here."
        in (world.own_comments()[0])
    )


def test_other_items_are_looked_at_once_in_a_run() -> None:
    world = World()
    first = Runner(world)
    first.step()
    world.merge(world.pulls[0].number)
    second = Runner(world)
    second.step()

    assert (first.calls.count("item_costs"), second.calls.count("item_costs")) == (1, 0)


def test_a_repository_without_history_says_that_it_has_none() -> None:
    world = World()
    Runner(world).step()

    (expected,) = world.state.expected
    assert (expected.items, expected.questions > 0, expected.whole.usd > 0) == (0, True, True)
    assert f"No item has ended on `{NAME}` here yet" in world.own_comments()[0]


def test_where_a_round_fits_the_comment_comes_with_the_first_result() -> None:
    world = World()
    world.item_costs = [dear(1.0)]
    runner = Runner(world)

    runner.step()

    assert runner.calls.index("publish commit_files") < runner.calls.index("publish post_comment")


def test_where_a_round_does_not_fit_the_item_says_so_before_its_first_question() -> None:
    world = World()
    world.item_costs = [dear(8.0)]
    shown: list[str] = []

    def spec(task: NodeTask, ports: NodePorts) -> Outcome:
        shown.extend(world.own_comments())
        return NODES[NodeId("spec")](task, ports)

    runner = Runner(world, nodes={**NODES, NodeId("spec"): spec})
    runner.step()

    (comment,) = shown
    assert (
        "a round of rework may cost $8.00, and $6.00 is left beside what the item is expected to cost; raise"
        in comment
    )
    assert runner.calls[:6] == [
        "read",
        "permissions",
        "item_costs",
        "create_root",
        "create",
        "publish post_comment",
    ]
    assert len(world.own_comments()) == 1
    until_done(world)
    assert len(world.own_comments()) == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", [6, 7])
def test_a_runner_that_dies_as_it_forewarns_leaves_one_comment(
    at: int, when: Literal["before", "after"]
) -> None:
    world = World()
    world.item_costs = [dear(8.0)]
    runner = Runner(world)
    runner.fault = Fault(at=at, when=when, kind="death")
    with pytest.raises(Died):
        runner.step()
    world.now = world.now.replace(year=world.now.year + 1)

    until_done(world)

    assert len(world.own_comments()) == 1
    assert world.state.status == "done"


def test_an_item_that_is_done_tells_the_next_ones_what_it_came_to() -> None:
    world = World()
    until_done(world)

    told = cost_in(world.commits[-1].message)

    assert told == world.state.came_to
    assert told is not None
    assert (told.pipeline, told.whole.usd) == (world.state.pipeline, world.state.spent.cost_usd)
    assert all(cost_in(commit.message) is None for commit in world.commits[:-1])
