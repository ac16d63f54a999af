"""A recorded plan is made and carried out again from its audit alone; no handler is called."""

from collections.abc import Callable
from typing import Any

import pytest

from cogworks.tools.handoff import Handoff
from cogworks.tools.plans import Goal
from cogworks.tools.policy import Enforcer
from cogworks.tools.records import Record
from cogworks.tools.registry import ToolFailed, ToolRegistry
from cogworks.tools.replay import replay
from tests.tools.tooling import PROFILE, Handler, World, allowing, artifact, failing, reading, strings


class Untouchable:
    """A handler that nobody may call."""

    def __call__(self, given: object, call: object) -> Any:
        raise AssertionError("a handler was called")


def registry(first: Any, second: Any, **declared: Any) -> ToolRegistry:
    made = ToolRegistry()
    reading(made, "fetch", first, input_schema=strings("url"), output_schema=strings("text"), **declared)
    reading(made, "count", second, input_schema=strings("text"), capabilities=("count",))
    reading(made, "counter", second, input_schema=strings("text"), capabilities=("count",), cost=4.0)
    return made


POLICY = allowing("fetch", "count", "counter")
GOAL = Goal(text="count", inputs={"url": "http://x"})
TEXT = {"text": "a b"}


def run(first: Any, second: Any, **around: Any) -> World:
    world = World(registry(first, second), [POLICY], **around)
    try:
        world.controller.run(GOAL, PROFILE, metadata={"who": "me"})
    except KeyboardInterrupt:
        return world
    return world


def again(records: tuple[Record, ...], **declared: Any) -> Any:
    tools = list(registry(Untouchable(), Untouchable(), **declared).sandbox(PROFILE))
    return replay(records, tools, Enforcer([POLICY]))


RUNS: dict[str, Callable[[], World]] = {
    "success": lambda: run(Handler(TEXT), Handler({"n": 2})),
    "retried": lambda: run(Handler(failing(), failing(), TEXT), Handler({"n": 2})),
    "exception": lambda: run(Handler(TEXT), Handler(KeyError("x"), ZeroDivisionError("y"))),
    "substituted": lambda: run(Handler(TEXT), Handler(KeyError("x"), {"n": 1})),
    "bad-output": lambda: run(Handler({"text": 1}), Handler()),
    "interrupted": lambda: run(Handler(TEXT), Handler(KeyboardInterrupt())),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_comes_out_the_same_and_no_handler_is_called(name: str) -> None:
    records = RUNS[name]().trail.records

    replayed = again(records)

    assert (replayed.problem, replayed.outcome, replayed.records) == ("", "identical", len(records))
    assert replayed.is_complete == (name != "interrupted")


def test_an_audit_that_breaks_off_is_replayed_as_far_as_it_goes() -> None:
    records = RUNS["success"]().trail.records

    for count in range(1, len(records)):
        replayed = again(records[:count])
        assert (replayed.outcome, replayed.is_complete) == ("identical", False)


def test_a_tool_that_is_declared_otherwise_now_is_named_with_both_sides() -> None:
    replayed = again(RUNS["success"]().trail.records, cost=2.0)

    assert (replayed.outcome, replayed.line) == ("diverged", 4)
    assert replayed.problem == "`message` is 'score 1.00' in the audit, 'score 1.50' when replayed"


def test_an_approved_call_is_replayed_with_the_recorded_answer() -> None:
    def deploying(handler: Any) -> ToolRegistry:
        made = ToolRegistry()
        reading(made, "deploy", handler, requires_approval=True)
        return made

    asking = World(deploying(Handler()), [allowing("deploy")])
    waiting = asking.controller.run("deploy", PROFILE).waiting_for
    assert waiting is not None
    worlds = [
        asking,
        World(deploying(Handler()), [allowing("deploy")], approved=[waiting.hash]),
        World(deploying(Handler()), [allowing("deploy")], rejected=[waiting.hash]),
    ]
    for world in worlds[1:]:
        world.controller.run("deploy", PROFILE)

    tools = list(deploying(Untouchable()).sandbox(PROFILE))
    for world in worlds:
        assert replay(world.trail.records, tools, world.enforcer).problem == ""


def test_what_is_not_kept_cannot_be_replayed_and_is_said() -> None:
    secret = run(Handler({"text": "x", "token": "y"}), Handler())

    replayed = again(secret.trail.records)

    assert replayed.outcome == "not_kept"
    assert secret.trail.records[replayed.line - 1].event == "step_ended"


def test_records_without_a_goal_are_no_plan() -> None:
    records = RUNS["success"]().trail.records

    assert again(records[1:]).problem == "the audit does not begin with a plan's goal"
    refused = World(registry(Handler(), Handler()), [POLICY])
    work = Handoff(from_role="a", to_role=PROFILE, goal="g", artifacts=(artifact("x", "x", b""),))
    refused.controller.accept(work, read=lambda path: None, goal=GOAL)
    assert again(refused.trail.records).outcome == "not_kept"


def test_a_failure_keeps_its_code() -> None:
    world = run(Handler(ToolFailed("exit_code", "ended with 3")), Handler())

    assert world.events("controller_end")[0].code == "exit_code"
    assert again(world.trail.records).outcome == "identical"
