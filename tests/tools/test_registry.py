"""Tools by profile and name: frozen entries, views that cannot be changed, and no conflict that goes unnoticed."""

import math
from threading import Lock
from typing import Any

import pytest

from cogworks.tools.plans import Goal
from cogworks.tools.registry import Call, Tool, ToolConflict, ToolNotFound, ToolRegistry
from tests.tools.tooling import Handler, World, allowing, reading, strings


def search_handler(given: dict[str, Any], call: Call) -> dict[str, Any]:
    return {"found": [given["text"]]}


def test_the_example_of_the_seed_works() -> None:
    registry = ToolRegistry()
    registry.register("demo_power", "search_web", handler=search_handler, cost=0.5, latency=0.5)
    sandboxed = registry.sandbox("demo_power")

    found = sandboxed.resolve("demo_power", "search_web")

    assert (found.handler, found.config, found.cost, found.latency) == (search_handler, {}, 0.5, 0.5)


def test_everything_that_was_declared_is_on_the_entry() -> None:
    declared: dict[str, Any] = {
        "description": "Looks.", "config": {"depth": 2}, "input_schema": {"type": "object", "required": ["text"]},
        "output_schema": {"type": "object"}, "scope_schema": {"type": "object"}, "cost": 2.0, "latency": 3.0,
        "capabilities": ("search",), "effects": "external", "idempotent": True, "timeout_s": 5.0, "requires_approval": True,
    }  # fmt: skip
    tool = ToolRegistry().register("p", "search", handler=search_handler, **declared)

    assert tool.model_dump() == {"profile": "p", "name": "search", **declared}


def test_what_is_not_declared_is_taken_as_the_more_dangerous() -> None:
    tool = ToolRegistry().register("p", "t", handler=search_handler)

    assert (tool.effects, tool.idempotent, tool.may_repeat) == ("write", False, False)


def test_a_plain_function_is_registered_and_run() -> None:
    registry = ToolRegistry()
    reading(registry, "search", search_handler, input_schema=strings("text"))
    world = World(registry, [allowing("search")])

    result = world.controller.run(Goal(text="search", inputs={"text": "gears"}), "local")

    assert result.output == {"found": ["gears"]}


def test_a_config_that_somebody_changes_is_changed_for_nobody_else() -> None:
    given = {"deep": {"list": [1]}}
    registry = ToolRegistry()
    registry.register("p", "t", handler=search_handler, config=given)

    given["deep"]["list"].append(2)
    registry.sandbox("p").resolve("p", "t").config["deep"]["list"].append(3)

    assert registry.sandbox("p").resolve("p", "t").config == {"deep": {"list": [1]}}


def test_an_entry_cannot_be_changed() -> None:
    tool = ToolRegistry().register("p", "t", handler=search_handler)

    with pytest.raises(ValueError, match="frozen"):
        tool.cost = 0.0  # type: ignore[misc]  # what is tried here is forbidden by the type as well


class Counter:
    """A handler with a memory and a lock, which no copy would survive."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = Lock()

    def __call__(self, given: dict[str, Any], call: Call) -> dict[str, Any]:
        with self.lock:
            self.count += 1
        return {"count": self.count}


def test_a_handler_with_a_memory_and_a_lock_is_shared_and_not_copied() -> None:
    registry, counter = ToolRegistry(), Counter()
    reading(registry, "count", counter)
    world = World(registry, [allowing("count")])

    for _ in range(3):
        assert world.controller.run("count", "local").success

    assert counter.count == 3


def test_the_tools_of_other_profiles_are_invisible() -> None:
    registry = ToolRegistry()
    registry.register("a", "one", handler=search_handler)
    registry.register("b", "two", handler=search_handler)
    view = registry.sandbox("a")

    assert [tool.name for tool in view] == ["one"]
    assert view.find("two") is None
    for profile in ("a", "b"):
        with pytest.raises(ToolNotFound, match=f"profile '{profile}' has no tool 'two' here"):
            view.resolve(profile, "two")


def test_a_view_does_not_see_what_is_registered_after_it() -> None:
    registry = ToolRegistry()
    registry.register("a", "one", handler=search_handler)
    view = registry.sandbox("a")
    registry.register("a", "late", handler=search_handler)

    assert len(view) == 1
    assert len(registry.sandbox("a")) == 2


def test_a_profile_without_a_tool_has_no_view() -> None:
    with pytest.raises(LookupError, match="there is no tool for profile 'a'; there are tools for none"):
        ToolRegistry().sandbox("a")


def test_a_name_is_registered_once_in_a_profile() -> None:
    registry = ToolRegistry()
    registry.register("a", "one", handler=search_handler)
    registry.register("b", "one", handler=search_handler)

    with pytest.raises(ValueError, match="tool 'one' is already registered for profile 'a'"):
        registry.register("a", "one", handler=search_handler)


def test_merging_names_a_conflict_and_leaves_both_as_they_were() -> None:
    left, right, third = ToolRegistry(), ToolRegistry(), ToolRegistry()
    left.register("a", "one", handler=search_handler)
    right.register("a", "two", handler=search_handler)
    third.register("a", "one", handler=search_handler)

    merged = left.merge(right)

    assert [tool.name for tool in merged.sandbox("a")] == ["one", "two"]
    with pytest.raises(ValueError, match="tool 'one' is already registered for profile 'a'"):
        left.merge(third)
    assert [[tool.name for tool in each.sandbox("a")] for each in (left, right, third)] == [
        ["one"],
        ["two"],
        ["one"],
    ]


def test_a_view_of_two_profiles_refuses_a_name_that_both_have() -> None:
    registry = ToolRegistry()
    registry.register("a", "one", handler=search_handler)
    registry.register("b", "one", handler=search_handler)

    with pytest.raises(ToolConflict, match="tool 'one' is in profile 'a' and in profile 'b'"):
        registry.sandbox("a", "b")


def test_two_registries_know_nothing_of_each_other() -> None:
    one, other = ToolRegistry(), ToolRegistry()
    one.register("a", "one", handler=search_handler)

    assert other.profiles == ()
    assert one.profiles == ("a",)


@pytest.mark.parametrize(
    "declared",
    [
        {"cost": math.nan}, {"cost": -1.0}, {"latency": math.inf}, {"latency": -0.1}, {"timeout_s": 0},
        {"input_schema": {"type": "nothing"}}, {"config": {"x": math.nan}}, {"config": {"x": object()}}, {"colour": "red"},
    ],
    ids=["nan-cost", "negative-cost", "endless-latency", "negative-latency", "no-time", "schema", "nan-config", "no-json", "key"],
)  # fmt: skip
def test_a_declaration_that_makes_no_sense_is_refused(declared: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ToolRegistry().register("p", "t", handler=search_handler, **declared)


@pytest.mark.parametrize("profile", ["", "..", "a/b", "A", "-a", "a" * 65, "a\n"])
def test_a_profile_has_a_name_that_can_be_a_file(profile: str) -> None:
    with pytest.raises(ValueError, match="String should match pattern"):
        Tool(profile=profile, name="t", handler=Handler())
