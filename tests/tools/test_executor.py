"""Steps one after another, checked before all and before each, paid for, retried where it does no harm, on record."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import BudgetReached
from cogworks.tools.calling import Budget, Retries
from cogworks.tools.executor import Executor, Means
from cogworks.tools.plans import Goal, PlanStep
from cogworks.tools.policy import Policy, Rule
from cogworks.tools.records import Record, read_records
from cogworks.tools.registry import Call, ToolRegistry
from tests.limits import ENDS_WITHIN_S
from tests.tools.tooling import PROFILE, Handler, World, allowing, failing, reading, strings


def two(first: Handler, second: Handler, **declared: Any) -> ToolRegistry:
    """Two tools, the first before the second."""
    registry = ToolRegistry()
    reading(registry, "a", first, **declared)
    reading(registry, "b", second)
    return registry


def test_steps_begin_and_end_one_after_the_other() -> None:
    world = World(two(Handler(), Handler()), [allowing("a", "b")])

    assert world.controller.run("a b", PROFILE).success
    assert [(r.event, r.tool) for r in world.events("step_started", "step_ended")] == [
        ("step_started", "a"),
        ("step_ended", "a"),
        ("step_started", "b"),
        ("step_ended", "b"),
    ]
    times = [record.at_s for record in world.trail.records]
    assert times == sorted(times)


def test_nothing_runs_when_a_later_step_may_not() -> None:
    handler = Handler()
    registry = ToolRegistry()
    reading(registry, "a", handler)
    reading(registry, "b", Handler(), input_schema={"properties": {"n": {"type": "integer"}}})
    narrow = Policy(
        profile=PROFILE,
        tools={"a": Rule(), "b": Rule(input_schema={"properties": {"n": {"maximum": 3}}})},
    )
    world = World(registry, [narrow])

    result = world.controller.run(Goal(text="a b", inputs={"n": 4}), PROFILE)

    assert (result.success, result.code) == (False, "input_validation_failed")
    assert handler.calls == []
    assert [(record.tool, record.policy_decision) for record in world.events("step_denied")] == [
        ("b", "denied")
    ]
    assert [(step.tool, step.status) for step in result.steps] == [("b", "denied")]


@pytest.mark.parametrize(("tool", "profile"), [("c", PROFILE), ("a", "other")], ids=["tool", "profile"])
def test_a_step_of_a_tool_that_is_not_there_is_refused_and_on_record(tool: str, profile: str) -> None:
    first = Handler()
    world = World(two(first, Handler()), [allowing("a", "b")])
    means = Means(
        view=world.ports.registry.sandbox(PROFILE), enforcer=world.enforcer, trail=world.trail, budget=Budget(9.0),
        approvals=world.approvals, retries=Retries(), sleep=world.pauses.append,
    )  # fmt: skip
    steps = [
        PlanStep(name="1", tool="a", profile=PROFILE, input={}),
        PlanStep(name="2", tool=tool, profile=profile, input={}),
    ]

    executed = Executor(means).execute(steps, metadata={}, known={})

    assert [(step.step, step.status) for step in executed.steps] == [("2", "denied")]
    assert [record.code for record in world.trail.records] == ["unknown_tool"]
    assert first.calls == []


def test_a_missing_input_is_found_before_any_step_ran() -> None:
    first = Handler()
    registry = two(first, Handler())
    needy = World(
        registry, [Policy(profile=PROFILE, tools={"a": Rule(), "b": Rule(input_schema=strings("text"))})]
    )

    result = needy.controller.run("a b", PROFILE)

    assert (
        result.message
        == "tool 'b' of profile 'local': the input does not fit: $: 'text' is wanted and missing."
    )
    assert first.calls == []


def test_an_input_from_an_earlier_step_is_checked_when_it_is_there() -> None:
    registry = ToolRegistry()
    reading(
        registry, "give", Handler({"text": "much too long"}), output_schema=strings("text"), capabilities=()
    )
    taker = Handler()
    reading(registry, "take", taker, input_schema=strings("text"))
    narrow = Rule(input_schema={"properties": {"text": {"maxLength": 3}}})
    world = World(registry, [Policy(profile=PROFILE, tools={"give": Rule(), "take": narrow})])

    result = world.controller.run("take", PROFILE)

    assert (result.code, taker.calls) == ("input_validation_failed", [])
    assert result.outputs == {"1:give": {"text": "much too long"}}


def test_an_exception_ends_the_plan_and_what_came_before_it_is_kept() -> None:
    third = Handler()
    registry = two(Handler({"n": 1}), Handler(KeyError("token ghp_" + "x" * 30)))
    reading(registry, "c", third)
    world = World(registry, [allowing("a", "b", "c")])

    result = world.controller.run("a b c", PROFILE)

    assert (result.success, result.code, third.calls) == (False, "handler_error", [])
    assert result.outputs == {"1:a": {"n": 1}}
    assert result.steps[1].error is not None
    assert (result.steps[1].error.type, result.steps[1].error.message_redacted) == ("KeyError", "'token ***'")
    end = world.events("step_ended")[1]
    assert (end.status, end.error, end.message, end.code) == (
        "error",
        "KeyError",
        "'token ***'",
        "handler_error",
    )


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(3), BudgetReached("no money")], ids=repr)
def test_a_stop_of_the_visit_or_the_program_goes_on_when_it_is_on_record(stop: BaseException) -> None:
    world = World(two(Handler(stop), Handler()), [allowing("a", "b")])

    with pytest.raises(type(stop)):
        world.controller.run("a b", PROFILE)

    (end,) = world.events("step_ended")
    assert (end.status, end.code, end.error) == ("error", "interrupted", type(stop).__name__)


def test_a_handler_gets_copies_and_cannot_change_what_is_on_record() -> None:
    def vandal(given: dict[str, Any], call: Call) -> dict[str, Any]:
        given["list"].append("forged")
        call.config["deep"].clear()
        call.metadata["who"] = "forged"  # type: ignore[index]  # a handler may try
        return {"seen": given["list"]}

    registry = ToolRegistry()
    reading(registry, "a", vandal, config={"deep": {"x": 1}}, input_schema={"properties": {"list": {}}})
    world = World(registry, [allowing("a")])
    metadata = {"who": "me"}

    for _ in range(2):
        result = world.controller.run(Goal(text="a", inputs={"list": ["x"]}), PROFILE, metadata=metadata)
        assert result.output == {"seen": ["x", "forged"]}

    assert metadata == {"who": "me"}
    assert [record.input_redacted for record in world.events("step_started")] == [{"list": ["x"]}] * 2
    assert registry.sandbox(PROFILE).resolve(PROFILE, "a").config == {"deep": {"x": 1}}


def test_a_handler_is_told_profile_scope_metadata_and_time() -> None:
    handler = Handler()
    registry = ToolRegistry()
    reading(registry, "a", handler, timeout_s=30.0, scope_schema=strings("branch"))
    rule = Rule(scope={"branch": "main"}, timeout_s=5.0)
    world = World(registry, [Policy(profile=PROFILE, tools={"a": rule})])

    world.controller.run("a", PROFILE, metadata={"request_id": "7"})

    assert handler.calls == [
        Call(profile=PROFILE, step="1:a", config={}, scope={"branch": "main"}, metadata={"request_id": "7"}, timeout_s=5.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ({"n": "1"}, "$.n: wanted integer, got string of 1 characters"),
        ({"n": True}, "$.n: wanted integer, got boolean true"),
        ([1], "wanted an object, got list"),
        (None, "wanted an object, got NoneType"),
        ({"n": {1, 2}}, "not JSON: Object of type set is not JSON serializable"),
    ],
    ids=str,
)
def test_an_output_that_does_not_fit_is_a_failure(output: Any, problem: str) -> None:
    registry = ToolRegistry()
    reading(
        registry, "a", lambda given, call: output, output_schema={"properties": {"n": {"type": "integer"}}}
    )
    world = World(registry, [allowing("a")])

    result = world.controller.run("a", PROFILE)

    assert result.code == "output_validation_failed"
    assert result.message == f"tool 'a': its output does not fit: {problem}."


def test_what_only_reads_is_tried_again_with_growing_pauses() -> None:
    handler = Handler(failing(), failing("timeout"), {"n": 1})
    world = World(two(handler, Handler()), [allowing("a", "b")])

    result = world.controller.run("a", PROFILE)

    step = result.steps[0]
    assert (step.status, step.attempts, len(handler.calls)) == ("success", 3, 3)
    assert step.delays_s == tuple(world.pauses) == tuple(r.delay_s for r in world.events("step_started")[1:])
    assert 0.25 <= world.pauses[0] <= 0.5 <= world.pauses[1] <= 1.0
    assert [record.attempt for record in world.events("step_started")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("declared", "end", "attempts"),
    [
        ({}, failing("unavailable"), 3),
        ({}, failing("rate_limited"), 3),
        ({}, failing("exit_code"), 1),
        ({}, ValueError("x"), 1),
        ({"idempotent": False}, failing(), 1),
        ({"effects": "write"}, failing(), 1),
        ({"effects": "external"}, failing("timeout"), 1),
    ],
    ids=["unavailable", "limited", "final", "exception", "not-idempotent", "write", "external"],
)
def test_only_what_may_help_and_does_no_harm_is_tried_again(
    declared: dict[str, Any], end: Exception, attempts: int
) -> None:
    handler = Handler(end)
    world = World(two(handler, Handler(), **declared), [allowing("a", "b")])

    result = world.controller.run("a", PROFILE)

    assert (result.success, len(handler.calls), result.steps[0].attempts) == (False, attempts, attempts)


def test_pauses_follow_from_the_seed_and_are_capped() -> None:
    retries = Retries(seed="one", max_attempts=20)

    delays = [retries.delay_s("1:a", attempt) for attempt in range(1, 20)]

    assert delays == [retries.delay_s("1:a", attempt) for attempt in range(1, 20)]
    assert delays[0] == 0
    assert max(delays) <= retries.cap_s
    assert delays[1:] != [Retries(seed="two").delay_s("1:a", attempt) for attempt in range(2, 20)]


def substitutable(first: Handler, second: Handler, third: Handler, **of_second: Any) -> World:
    registry = ToolRegistry()
    reading(registry, "a", first, capabilities=("search",))
    reading(registry, "b", second, capabilities=("search",), cost=2.0, **of_second)
    reading(registry, "c", third, capabilities=("search",), cost=3.0)
    return World(registry, [allowing("a", "b", "c")])


def test_another_tool_of_the_same_capability_stands_in_once() -> None:
    first, second, third = Handler(ValueError("x")), Handler({"n": 2}), Handler()
    world = substitutable(first, second, third)

    result = world.controller.run("search", PROFILE)

    (step,) = result.steps
    assert (step.status, step.tool, step.substitute_for, step.attempts) == ("success", "b", "a", 2)
    assert result.outputs == {"1:a": {"n": 2}}
    assert third.calls == []


def test_a_substitute_that_fails_is_the_end() -> None:
    third = Handler()
    world = substitutable(Handler(ValueError("x")), Handler(ValueError("y")), third)

    result = world.controller.run("search", PROFILE)

    assert (result.success, result.steps[0].substitute_for, third.calls) == (False, "a", [])


def test_nothing_that_writes_stands_in() -> None:
    second, third = Handler(), Handler({"n": 3})
    world = substitutable(Handler(ValueError("x")), second, third, effects="write")

    result = world.controller.run("search", PROFILE)

    assert (result.steps[0].tool, second.calls) == ("c", [])


def test_nothing_stands_in_for_what_writes() -> None:
    other = Handler()
    registry = ToolRegistry()
    reading(registry, "a", Handler(ValueError("x")), effects="write", capabilities=("save",))
    reading(registry, "b", other, capabilities=("save",), cost=5.0)
    world = World(registry, [allowing("a", "b")])

    assert not world.controller.run("save", PROFILE).success
    assert other.calls == []


def test_a_call_that_would_overdraw_the_budget_is_not_made() -> None:
    second = Handler()
    world = World(two(Handler(), second), [allowing("a", "b", max_cost=1.5)])

    result = world.controller.run("a b", PROFILE)

    assert (result.success, result.code, result.cost, second.calls) == (False, "budget_exceeded", 1.0, [])
    assert world.events("step_denied")[0].message == "the call costs 1 and 0.5 of 1.5 is left"


def test_every_attempt_is_paid() -> None:
    world = World(two(Handler(failing()), Handler()), [allowing("a", "b", max_cost=2.0)])

    result = world.controller.run("a", PROFILE)

    assert (result.code, result.cost) == ("budget_exceeded", 2.0)
    assert (result.steps[0].status, result.steps[0].attempts) == ("denied", 2)


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), max_size=20), st.floats(0, 50))
def test_a_budget_is_never_overdrawn_by_what_was_reserved(
    calls: list[tuple[float, float]], limit: float
) -> None:
    budget = Budget(limit)
    for cost, share in calls:
        before = budget.left
        if budget.reserve(cost) is None:
            assert cost <= before + 1e-6
            budget.settle(cost, spent=min(cost, share))

    assert budget.spent <= limit + 1e-6
    assert budget.left == pytest.approx(max(0.0, limit - budget.spent), abs=1e-6)


def test_a_call_is_on_record_before_it_is_made() -> None:
    kept: list[Record] = []
    seen: list[str] = []

    def looking(given: dict[str, Any], call: Call) -> dict[str, Any]:
        seen.extend(record.event for record in kept)
        return {}

    registry = ToolRegistry()
    reading(registry, "a", looking)
    world = World(registry, [allowing("a")], keep=kept.append)
    world.controller.run("a", PROFILE)

    assert seen[-1] == "step_started"


KILLED = """
import os, signal, sys
from tests.tools.tooling import *
from cogworks.tools.records import line_of
registry = ToolRegistry()
reading(registry, "a", lambda given, call: os.kill(os.getpid(), signal.SIGKILL))
file = open(sys.argv[1], "w")
def keep(record):
    file.write(line_of(record) + "\\n")
    file.flush()
World(registry, [allowing("a")], keep=keep).controller.run("a", PROFILE)
"""


def test_a_process_that_is_killed_in_a_call_leaves_its_beginning_on_record(tmp_path: Path) -> None:
    file = tmp_path / "audit.ndjson"

    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(file)],
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "."},
        timeout=ENDS_WITHIN_S,
    )

    assert done.returncode == -signal.SIGKILL
    assert read_records(file.read_text())[-1].event == "step_started"
