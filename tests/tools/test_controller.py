"""From goal to result: refusals are results with a code, and one typed trace tells of everything in its order."""

import builtins
import dataclasses
import inspect
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.tools.controller import Controller
from cogworks.tools.plans import ExecutionResult, Goal, Preferences
from cogworks.tools.policy import Denial, Enforcer, Policy, Rule
from cogworks.tools.records import Record
from cogworks.tools.registry import Tool, ToolRegistry
from tests.tools.tooling import PROFILE, Handler, World, allowing, reading, strings


def lint(handler: Handler | None = None) -> ToolRegistry:
    registry = ToolRegistry()
    reading(registry, "lint", handler or Handler({"findings": 0}))
    return registry


def test_a_run_takes_a_goal_and_a_profile_and_leaves_the_rest_open() -> None:
    parameters = inspect.signature(Controller.run).parameters

    assert {name: parameter.default for name, parameter in parameters.items() if name != "self"} == {
        "goal": inspect.Parameter.empty,
        "profile": inspect.Parameter.empty,
        "metadata": None,
        "preferences": None,
    }


def test_a_result_holds_what_document_and_code_of_the_seed_name() -> None:
    result = World(lint(), [allowing("lint")]).controller.run("lint", PROFILE)

    told = result.model_dump(mode="json")
    assert (told["success"], told["outputs"], result.output) == (
        True,
        {"1:lint": {"findings": 0}},
        {"findings": 0},
    )
    assert told["steps"] == [
        {
            "step": "1:lint", "tool": "lint", "profile": PROFILE, "status": "success", "attempts": 1, "delays_s": [],
            "substitute_for": "", "output": {"findings": 0}, "error": None,
        }
    ]  # fmt: skip
    assert all(isinstance(each, str) for each in told["logs"])
    assert ExecutionResult.model_validate_json(result.model_dump_json()) == result


def test_the_trace_is_controller_then_planner_then_steps_in_one_format() -> None:
    result = World(lint(), [allowing("lint")]).controller.run("lint", PROFILE)

    assert all(isinstance(record, Record) for record in result.trace)
    assert [record.event for record in result.trace] == [
        "controller_run", "plan_considered", "plan_step", "step_started", "step_ended", "controller_end",
    ]  # fmt: skip
    assert len(result.logs) == len(result.trace)
    assert result.logs[1:3] == ("plan_considered lint score 1.00", "plan_step 1:lint serves lint")


@pytest.mark.parametrize(
    ("profile", "policies", "code"),
    [
        ("nobody", [allowing("lint", profile="nobody")], "unknown_profile"),
        (PROFILE, [], "policy_not_found"),
        ("../etc", [], "policy_not_found"),
        (PROFILE, [allowing("other")], "no_tool_for_capability"),
    ],
    ids=["no-tools", "no-policy", "path", "not-allowed"],
)
def test_a_profile_that_may_not_is_a_result_with_a_code(
    profile: str, policies: list[Policy], code: str
) -> None:
    handler = Handler()

    result = World(lint(handler), policies).controller.run("lint", profile)

    assert (result.success, result.code, result.steps, handler.calls) == (False, code, (), [])
    assert result.trace[-1].event == "controller_end"


def test_wrong_metadata_ends_a_run_before_a_plan_is_made() -> None:
    policy = Policy(profile=PROFILE, tools={"lint": Rule()}, metadata_schema=strings("request_id"))
    world = World(lint(), [policy])

    result = world.controller.run("lint", PROFILE, metadata={"request_id": 7})

    assert result.code == "metadata_validation_failed"
    assert [(r.event, r.policy_decision) for r in world.trail.records] == [
        ("controller_run", "denied"),
        ("controller_end", None),
    ]


def test_metadata_reaches_the_handler_and_preferences_the_plan() -> None:
    handler = Handler()
    registry = lint(handler)
    reading(registry, "fast", capabilities=("lint",), cost=5.0, latency=0.0)
    world = World(registry, [allowing("lint", "fast")])

    world.controller.run("lint", PROFILE, metadata={"request_id": "7"})
    hasty = world.controller.run("lint", PROFILE, preferences=Preferences(optimise="latency"))

    assert handler.calls[0].metadata == {"request_id": "7"}
    assert hasty.steps[0].tool == "fast"


def test_the_policy_limits_the_steps_whatever_is_preferred() -> None:
    registry = lint()
    reading(registry, "test")
    world = World(registry, [allowing("lint", "test", max_steps=1)])

    assert (
        world.controller.run("lint test", PROFILE, preferences=Preferences(max_steps=9)).code
        == "too_many_steps"
    )


class Asked(Enforcer):
    """Remembers what it was asked."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        super().__init__(policies)
        self.questions: list[str] = []

    def metadata_denial(self, profile: str, metadata: Mapping[str, Any]) -> Denial | None:
        self.questions.append("metadata")
        return super().metadata_denial(profile, metadata)

    def call_denial(self, tool: Tool, parameters: Mapping[str, Any], **more: Any) -> Denial | None:
        self.questions.append(f"call of {tool.name}")
        return super().call_denial(tool, parameters, **more)


def test_controller_and_executor_ask_the_same_rules() -> None:
    enforcer = Asked([allowing("lint")])
    world = World(lint(), [])

    result = Controller(dataclasses.replace(world.ports, enforcer=enforcer), world.trail).run("lint", PROFILE)

    assert result.success
    # Once for the whole plan, once right before the call.
    assert enforcer.questions == ["metadata", "call of lint", "call of lint"]


def test_two_profiles_work_together_or_say_why_not() -> None:
    registry = lint()
    reading(registry, "test", profile="other")
    policies = [allowing("lint"), allowing("test", profile="other")]
    goal = Goal(text="lint test", profiles=("other",))

    both = World(registry, policies).controller.run(goal, PROFILE)
    reading(registry, "lint", profile="other")
    conflict = World(registry, policies).controller.run(goal, PROFILE)

    assert [(step.tool, step.profile) for step in both.steps] == [("lint", PROFILE), ("test", "other")]
    assert (conflict.success, conflict.code) == (False, "tool_conflict")


def test_a_run_opens_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(lint(), [allowing("lint")])

    def refused(*arguments: Any, **more: Any) -> Any:
        raise AssertionError(f"opened {arguments[0]}")

    for module in (builtins, io):
        monkeypatch.setattr(module, "open", refused)
    monkeypatch.setattr(Path, "open", refused)
    result = world.controller.run("lint", PROFILE)

    assert result.success


def test_equal_runs_give_equal_results_but_for_the_clock() -> None:
    def run() -> dict[str, Any]:
        result = World(lint(), [allowing("lint")]).controller.run("lint", PROFILE)
        return result.model_dump(mode="json", exclude={"trace"})

    assert run() == run()


def test_metadata_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON"):
        World(lint(), [allowing("lint")]).controller.run("lint", PROFILE, metadata={"x": object()})
