"""A visit that stopped at its budget is left alone until somebody changed something."""

import pytest

from cogworks.errors import BudgetReached
from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import Login, NodeId
from tests.step_fakes import NODES, Runner, after, until_done
from tests.world import World

LIMIT = "[budgets]\npipeline_max_cost_dollars = {}\n"


def dear(task: NodeTask, ports: NodePorts) -> Outcome:
    """A node whose next call may cost 0.25 dollars."""
    raise BudgetReached("budget: this call needs up to 0.25", needs_usd=0.25, needs_tokens=1_000)


def stopped(limit_usd: float = 0.3) -> World:
    """An item whose second node stopped at its budget, 0.10 dollars spent."""
    world = after(1)
    for pull in world.pulls:
        world.merge(pull.number)
    world.config += LIMIT.format(limit_usd)
    with pytest.raises(
        BudgetReached, match=r"0\.10 of .* USD is spent or reserved, and the next call of plan"
    ):
        Runner(world, nodes={**NODES, NodeId("plan"): dear}).step()
    return world


def test_the_next_steps_read_once_and_write_nothing() -> None:
    world = stopped()
    before = world.oid
    runner = Runner(world)

    report = runner.step()

    assert report.outcome == "budget_reached"
    assert report.message == (
        "budget: 0.10 of 0.30 USD is spent or reserved, and the next call of plan needs up to 0.2500; raise "
        "`budgets.pipeline_max_cost_dollars` in `.cogworks/config.toml`, or comment `/cogworks retry` where the call "
        "has become cheaper, or split the issue."
    )
    assert (runner.calls, world.oid) == (["read"], before)


def test_the_status_comment_says_why_and_who_can_do_what() -> None:
    shown = stopped().comments[0].body

    assert "### cogworks · stopped at its budget" in shown
    assert "**Stopped:** budget: 0.10 of 0.30 USD is spent" in shown
    assert "Who: anyone who may merge to the default branch raises the limit" in shown


@pytest.mark.parametrize("limit_usd", [0.35, 2.0], ids=["just-enough", "plenty"])
def test_a_raised_budget_lets_the_visit_go_on_under_its_key(limit_usd: float) -> None:
    world = stopped()
    (left,) = world.state.given_back
    world.config = world.config.replace(LIMIT.format(0.3), LIMIT.format(limit_usd))

    report = Runner(world).step()

    assert (report.outcome, report.visit_key) == ("succeeded", left.visit_key)
    assert world.state.given_back == ()
    assert world.state.visits[-1].attempt == 1


def test_a_budget_that_was_raised_too_little_changes_only_what_is_shown() -> None:
    world = stopped()
    world.config = world.config.replace(LIMIT.format(0.3), LIMIT.format(0.34))
    runner, again = Runner(world), Runner(world)

    assert (runner.step().outcome, runner.calls) == ("budget_reached", ["read", "show"])
    assert (again.step().outcome, again.calls) == ("budget_reached", ["read"])
    assert "0.10 of 0.34 USD" in world.comments[0].body


@pytest.mark.parametrize("command", ["/cogworks retry", "/cogworks run", "/cogworks restart"])
def test_people_may_have_it_tried_again(command: str) -> None:
    world = stopped()
    world.permissions[Login("ann")] = "write"
    world.say(command)

    report = Runner(world, run_id="run-2").step()

    assert report.outcome == "succeeded"


def test_an_item_that_was_stopped_at_its_budget_ends_like_any_other() -> None:
    world = stopped()
    world.config = world.config.replace(LIMIT.format(0.3), "")

    until_done(world)

    assert world.state.status == "done"


def test_a_limit_that_is_not_ours_is_tried_again_by_every_step() -> None:
    def refused(task: NodeTask, ports: NodePorts) -> Outcome:
        raise BudgetReached("the provider's own limit")

    world = after(1)
    for pull in world.pulls:
        world.merge(pull.number)
    with pytest.raises(BudgetReached):
        Runner(world, nodes={**NODES, NodeId("plan"): refused}).step()

    assert Runner(world).step().outcome == "succeeded"


def test_tokens_have_a_limit_of_their_own() -> None:
    world = after(1)
    for pull in world.pulls:
        world.merge(pull.number)
    world.config += "[budgets]\npipeline_max_tokens = 100\n"

    report = Runner(world).step()

    assert report.outcome == "budget_reached"
    assert "tokens" in report.message
