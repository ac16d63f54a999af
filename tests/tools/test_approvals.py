"""A call that needs a person is made for exactly that tool, input and tree, and for nothing else."""

import dataclasses
from typing import Any

import pytest

from cogworks.tools.approvals import Approvals
from cogworks.tools.controller import Controller
from cogworks.tools.plans import ExecutionResult, Goal
from cogworks.tools.registry import Call, ToolRegistry
from tests.tools.tooling import PROFILE, TREE, Handler, World, allowing, reading, strings

GOAL = Goal(text="deploy", inputs={"to": "production"})


def deploying(handler: Handler, *before: Handler) -> ToolRegistry:
    registry = ToolRegistry()
    for each in before:
        reading(registry, "check", each, cost=0.1)
    reading(
        registry, "deploy", handler, effects="external", input_schema=strings("to"), requires_approval=True
    )
    return registry


def asked(goal: Goal = GOAL, tree: str = TREE) -> str:
    world = World(deploying(Handler()), [allowing("deploy")], tree=tree)
    waiting = world.controller.run(goal, PROFILE).waiting_for
    assert waiting is not None
    return waiting.hash


def test_a_run_stops_and_says_what_it_waits_for() -> None:
    handler, check = Handler(), Handler()
    world = World(deploying(handler, check), [allowing("deploy", "check")])

    result = world.controller.run(GOAL.model_copy(update={"text": "check deploy"}), PROFILE)

    assert (result.success, result.code, handler.calls, check.calls) == (False, "waiting", [], [])
    assert result.waiting_for is not None
    assert (result.waiting_for.tool, result.waiting_for.input_redacted) == ("deploy", {"to": "production"})
    assert len(result.waiting_for.hash) == 12
    (waiting,) = world.events("step_waiting")
    assert (waiting.policy_decision, waiting.approval) == ("approval_required", result.waiting_for.hash)


def test_an_approved_call_is_made_with_exactly_that_input() -> None:
    handler = Handler()
    world = World(deploying(handler), [allowing("deploy")], approved=[asked()])

    assert world.controller.run(GOAL, PROFILE).success
    assert handler.inputs == [{"to": "production"}]
    assert world.events("step_started")[0].policy_decision == "approved"


@pytest.mark.parametrize(
    ("goal", "tree"),
    [(GOAL, "u" * 40), (Goal(text="deploy", inputs={"to": "staging"}), TREE)],
    ids=["tree", "input"],
)
def test_an_approval_of_something_else_counts_for_nothing(goal: Goal, tree: str) -> None:
    handler = Handler()
    world = World(deploying(handler), [allowing("deploy")], approved=[asked()], tree=tree)

    assert world.controller.run(goal, PROFILE).code == "waiting"
    assert handler.calls == []


def test_a_rejected_call_is_not_made_though_somebody_approved_it() -> None:
    handler = Handler()
    world = World(deploying(handler), [allowing("deploy")], approved=[asked()], rejected=[asked()])

    result = world.controller.run(GOAL, PROFILE)

    assert (result.code, result.message) == ("rejected", f"a person rejected call {asked()}.")
    assert handler.calls == []
    assert world.events("step_denied")[0].policy_decision == "rejected"


def test_what_a_run_changes_itself_does_not_void_what_was_approved_for_its_beginning() -> None:
    tree = ["before"]

    def writing(given: dict[str, Any], call: Call) -> dict[str, Any]:
        tree[0] = "after"
        return {}

    deploy = Handler()

    def run(*approved: str) -> ExecutionResult:
        registry = deploying(deploy)
        reading(registry, "build", writing, effects="write", cost=0.1)
        world = World(registry, [allowing("build", "deploy")])
        approvals = Approvals(tree=lambda: tree[0], approved=frozenset(approved))
        ports = dataclasses.replace(world.ports, approvals=approvals)
        return Controller(ports, world.trail).run(GOAL.model_copy(update={"text": "build deploy"}), PROFILE)

    waiting = run().waiting_for
    assert waiting is not None
    assert tree == ["before"]
    assert run(waiting.hash).success
    assert (tree, len(deploy.calls)) == (["after"], 1)


def bound(first: Handler, last: Handler, **declared: object) -> ToolRegistry:
    registry = ToolRegistry()
    reading(registry, "pick", first, output_schema=strings("to"), capabilities=(), **declared)
    reading(registry, "deploy", last, effects="external", input_schema=strings("to"), requires_approval=True)
    return registry


def test_an_input_that_is_read_first_is_approved_as_it_was_read() -> None:
    pick, deploy = Handler({"to": "blue"}), Handler()
    waiting = (
        World(bound(pick, deploy), [allowing("pick", "deploy")]).controller.run("deploy", PROFILE).waiting_for
    )
    assert waiting is not None
    assert (waiting.input_redacted, deploy.calls) == ({"to": "blue"}, [])

    again = World(bound(pick, deploy), [allowing("pick", "deploy")], approved=[waiting.hash])
    assert again.controller.run("deploy", PROFILE).success
    changed = World(
        bound(Handler({"to": "green"}), deploy), [allowing("pick", "deploy")], approved=[waiting.hash]
    )
    assert changed.controller.run("deploy", PROFILE).code == "waiting"
    assert deploy.inputs == [{"to": "blue"}]


def test_what_would_act_twice_around_an_approval_is_refused_before_it_acts() -> None:
    pick = Handler({"to": "blue"})
    world = World(bound(pick, Handler(), effects="write"), [allowing("pick", "deploy")])

    assert world.controller.run("deploy", PROFILE).code == "approval_after_effects"
    assert pick.calls == []
