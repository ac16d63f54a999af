"""The cheapest cover of what a goal needs, in the order of its data; the same plan every time."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.tools.planner import plan, score
from cogworks.tools.plans import Binding, Goal, Plan, PlanStep, Preferences
from cogworks.tools.policy import Enforcer, Policy
from cogworks.tools.registry import ToolRegistry
from tests.exhaustive import examples
from tests.tools.tooling import PROFILE, Handler, allowing, reading, strings


def planned(
    registry: ToolRegistry,
    goal: Goal | str,
    *policies: Policy,
    profiles: tuple[str, ...] = (PROFILE,),
    **preferences: Any,
) -> Plan:
    wanted = goal if isinstance(goal, Goal) else Goal(text=goal)
    view = registry.sandbox(*profiles)
    rules = policies or [allowing(*(tool.name for tool in view))]
    return plan(wanted, view, Enforcer(rules), profile=PROFILE, preferences=Preferences(**preferences))


def names(made: Plan) -> list[str]:
    assert made.denial is None
    return [step.tool for step in made.steps]


@pytest.mark.parametrize(
    ("optimise", "expected"), [("balanced", 3.0), ("cost", 2.4), ("latency", 4.2)], ids=str
)
def test_a_score_is_made_of_cost_and_latency(optimise: str, expected: float) -> None:
    tool = ToolRegistry().register("p", "t", handler=Handler(), cost=2.0, latency=4.0)

    assert score(tool, optimise) == pytest.approx(expected)


def priced() -> ToolRegistry:
    registry = ToolRegistry()
    reading(registry, "slow", capabilities=("search",), cost=0.1, latency=9.0)
    reading(registry, "dear", capabilities=("search",), cost=9.0, latency=0.1)
    reading(registry, "even", capabilities=("search",), cost=3.0, latency=3.0)
    return registry


@pytest.mark.parametrize(
    ("optimise", "chosen"), [("cost", "slow"), ("latency", "dear"), ("balanced", "even")]
)
def test_what_is_wanted_of_a_plan_changes_the_choice(optimise: str, chosen: str) -> None:
    assert names(planned(priced(), "search", optimise=optimise)) == [chosen]


def test_equal_scores_are_decided_by_name() -> None:
    registry = ToolRegistry()
    for name in ("b", "a", "c"):
        reading(registry, name, capabilities=("search",))

    assert names(planned(registry, "search")) == ["a"]


def test_other_needs_choose_other_tools() -> None:
    registry = ToolRegistry()
    for name in ("lint", "test"):
        reading(registry, name)

    assert names(planned(registry, Goal(text="x", needs=("lint",)))) == ["lint"]
    assert names(planned(registry, Goal(text="x", needs=("test",)))) == ["test"]
    assert names(planned(registry, "please lint, then test it all")) == ["lint", "test"]


def test_the_cheapest_set_and_not_every_tool_is_taken() -> None:
    registry = ToolRegistry()
    reading(registry, "both", capabilities=("lint", "test"), cost=1.5, latency=1.5)
    reading(registry, "lint")
    reading(registry, "test")

    assert names(planned(registry, "lint and test")) == ["both"]
    assert names(planned(registry, "lint")) == ["lint"]


def test_a_need_that_nothing_serves_is_told_with_the_nearest_names() -> None:
    registry = ToolRegistry()
    reading(registry, "format")

    made = planned(registry, Goal(text="x", needs=("formatt",)))

    assert made.steps == ()
    assert made.denial is not None
    assert (made.denial.code, made.denial.details) == ("no_tool_for_capability", ("format",))


def test_a_goal_that_names_no_capability_gets_no_plan() -> None:
    registry = ToolRegistry()
    reading(registry, "lint")

    made = planned(registry, "make me happy")

    assert made.denial is not None
    assert (
        made.denial.message == "no usable tool of profile 'local' serves 'make me happy'; near it are lint."
    )


def chained() -> ToolRegistry:
    registry = ToolRegistry()
    reading(registry, "a_report", input_schema=strings("numbers"), capabilities=("report",))
    reading(
        registry, "b_count", input_schema=strings("text"), output_schema=strings("numbers"), capabilities=()
    )
    reading(registry, "c_fetch", input_schema=strings("url"), output_schema=strings("text"), capabilities=())
    reading(
        registry,
        "d_fetch",
        input_schema=strings("url"),
        output_schema=strings("text"),
        capabilities=(),
        cost=0.1,
    )
    return registry


def test_what_a_tool_wants_and_nobody_gave_comes_from_other_tools() -> None:
    made = planned(chained(), Goal(text="report", inputs={"url": "http://x"}))

    assert made.steps == (
        PlanStep(name="1:d_fetch", tool="d_fetch", profile=PROFILE, input={"url": "http://x"}),
        PlanStep(
            name="2:b_count", tool="b_count", profile=PROFILE, input={}, bindings=(Binding(key="text", step="1:d_fetch"),)
        ),
        PlanStep(
            name="3:a_report",
            tool="a_report",
            profile=PROFILE,
            input={},
            bindings=(Binding(key="numbers", step="2:b_count"),),
            serves=("report",),
        ),
    )  # fmt: skip


def test_what_was_given_needs_no_tool_to_give_it() -> None:
    assert names(planned(chained(), Goal(text="report", inputs={"numbers": "1 2"}))) == ["a_report"]


def test_a_tool_whose_input_nobody_gives_is_left_out_and_the_reason_told() -> None:
    made = planned(chained(), "report")

    assert made.denial is not None
    assert {each.tool: each.excluded for each in made.considered} == {
        "a_report": "nobody gives its input numbers",
        "b_count": "nobody gives its input text",
        "c_fetch": "nobody gives its input url",
        "d_fetch": "nobody gives its input url",
    }


def test_a_tool_that_the_given_values_do_not_fit_is_left_out() -> None:
    registry = ToolRegistry()
    reading(registry, "cheap", capabilities=("x",), input_schema={"properties": {"n": {"type": "integer"}}})
    reading(registry, "dear", capabilities=("x",), cost=9.0)

    made = planned(registry, Goal(text="x", inputs={"n": "seven"}))

    assert names(made) == ["dear"]
    assert made.considered[0].excluded == (
        "its input would not fit: $.n: wanted integer, got string of 5 characters"
    )


def test_every_tool_that_was_looked_at_has_a_score_or_a_reason() -> None:
    registry = priced()
    made = planned(registry, "search", allowing("slow", "even"))

    assert [(each.tool, each.score) for each in made.considered] == [
        ("dear", 4.55),
        ("even", 3.0),
        ("slow", 4.55),
    ]
    assert made.considered[0].excluded.startswith("tool_not_allowed: ")
    assert [each.excluded for each in made.considered[1:]] == ["", ""]


def test_steps_of_two_profiles_are_pinned_to_theirs() -> None:
    registry = ToolRegistry()
    reading(registry, "lint")
    reading(registry, "test", profile="other")

    made = planned(
        registry,
        "lint test",
        allowing("lint"),
        allowing("test", profile="other"),
        profiles=(PROFILE, "other"),
    )

    assert [(step.tool, step.profile) for step in made.steps] == [("lint", PROFILE), ("test", "other")]


def test_a_tool_of_a_profile_that_forbids_it_is_left_out() -> None:
    registry = ToolRegistry()
    reading(registry, "lint")
    reading(registry, "other_lint", capabilities=("lint",), profile="other", cost=0.0, latency=0.0)

    made = planned(registry, "lint", allowing("lint"), allowing(profile="other"), profiles=(PROFILE, "other"))

    assert names(made) == ["lint"]


@pytest.mark.parametrize("max_steps", [0, -1, 51])
def test_a_limit_of_steps_that_makes_no_sense_is_refused(max_steps: int) -> None:
    with pytest.raises(ValueError, match="max_steps"):
        Preferences(max_steps=max_steps)


def test_a_plan_longer_than_wanted_is_refused_and_not_cut() -> None:
    made = planned(chained(), Goal(text="report", inputs={"url": "http://x"}), max_steps=2)

    assert made.steps == ()
    assert made.denial is not None
    assert made.denial.code == "too_many_steps"


def test_a_goal_shares_nothing_with_what_it_was_made_of() -> None:
    inputs = {"deep": ["a"]}
    goal = Goal(text="x", inputs=inputs)

    inputs["deep"].append("b")

    assert goal.inputs == {"deep": ["a"]}


KEYS = st.sampled_from("abcd")
TOOLS = st.lists(
    st.tuples(
        st.frozensets(KEYS, max_size=2),
        st.frozensets(KEYS, max_size=2),
        st.frozensets(st.sampled_from(["x", "y", "z"]), max_size=2),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=7,
)


@settings(deadline=None, max_examples=examples(40))
@given(TOOLS, st.frozensets(KEYS), st.frozensets(st.sampled_from(["x", "y", "z"]), min_size=1))
def test_a_plan_serves_every_need_once_each_input_is_there_in_time_and_the_order_of_tools_changes_nothing(
    tools: list[tuple[frozenset[str], frozenset[str], frozenset[str], int]],
    given_keys: frozenset[str],
    needs: frozenset[str],
) -> None:
    def registered(order: list[int]) -> ToolRegistry:
        registry = ToolRegistry()
        for number in order:
            wants, gives, serves, cost = tools[number]
            reading(
                registry,
                f"t{number}",
                input_schema=strings(*sorted(wants)),
                output_schema=strings(*sorted(gives)),
                capabilities=tuple(sorted(serves)),
                cost=cost,
            )
        return registry

    goal = Goal(text="g", needs=tuple(needs), inputs=dict.fromkeys(given_keys, "v"))
    numbers = list(range(len(tools)))
    made = planned(registered(numbers), goal)

    assert planned(registered(numbers[::-1]), goal) == made
    assert (made.denial is None) == bool(made.steps)
    served = [need for step in made.steps for need in step.serves]
    assert sorted(served) == (sorted(needs) if made.steps else [])
    done: dict[str, frozenset[str]] = {}
    for step in made.steps:
        wants, gives, _, _ = tools[int(step.tool[1:])]
        assert step.input.keys() | step.pending >= wants
        assert all(binding.key in done[binding.step] for binding in step.bindings)
        assert step.name not in done
        done[step.name] = gives
