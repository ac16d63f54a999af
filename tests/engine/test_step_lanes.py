"""Whole steps of a run on one of the built-in pipelines, on a GitHub in memory."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.engine.consider import Wanted, consider, read_item
from cogworks.engine.tasks import sources_of
from cogworks.errors import ConfigurationError
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.task import Learnt, NodeTask
from cogworks.pipeline.decision import Run, Stop
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.lane_choice import MovedUp
from cogworks.pipeline.limits import max_cost_usd
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.state import SubItem
from cogworks.pipeline.transitions import CRITICAL
from cogworks.vocabulary import NodeId, RunId, SubItemKey
from tests.step_fakes import Runner
from tests.world import ONE_NODE, World

SMALL = "cogworks:lane:small"
BUG: Mapping[str, Any] = {"type": "bug_fix", "pipeline": "default", "safety_affecting": False}
SIMPLE: Mapping[str, Any] = {
    **BUG,
    "affected_modules": ["src/adder.py"],
    "questions": [],
    "says_what_is_right": "It should add.",
    "estimated_scope": {"files": 2, "interfaces": 0, "complexity": "low"},
}
WIDE: Mapping[str, Any] = {
    **SIMPLE,
    "estimated_scope": {"files": 9, "interfaces": 0, "complexity": "low"},
}
BRAKES: Mapping[str, Any] = {**BUG, "safety_affecting": True}


def runner(
    world: World, classification: Mapping[str, Any], told: list[Mapping[str, str]] | None = None
) -> Runner:
    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        if told is not None:
            told.append(task.conventions.pipelines)
        return Succeeded(output=dict(classification), summary="classified")

    return Runner(world, nodes={NodeId("intake"): intake})


def played(*labels: str, config: str = "", classification: Mapping[str, Any] = BUG) -> World:
    """An item of which Intake is done."""
    world = World(pipeline=None)
    world.config += config
    for number, label in enumerate(labels, 2):
        world.set_label(label, f"e{number}")
    runner(world, classification).step()
    return world


def next_node(world: World) -> str:
    seen = consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-9"))
    assert isinstance(seen.decision, Run)
    return seen.decision.instance.node


def test_a_repository_that_asks_for_the_whole_way_goes_it_and_reads_nothing_of_lanes() -> None:
    world = played(config='[pipelines]\nlane = "default"\n', classification=SIMPLE)

    assert (world.state.pipeline, next_node(world)) == ("default", "architecture")
    assert "Lane" not in world.own_comments()[0]


def test_the_repository_says_which_lane_its_items_take() -> None:
    world = played(config='[pipelines]\nlane = "small"\n')

    assert (world.state.pipeline, next_node(world)) == ("small", "code_generation")


AUTO = '[pipelines]\nlane = "auto"\n'


def test_left_to_the_rule_a_simple_bug_moves_to_the_small_lane_with_what_intake_learnt() -> None:
    world = played(config=AUTO, classification=SIMPLE)

    assert (world.state.pipeline, next_node(world)) == ("small", "code_generation")
    assert [(visit.node, visit.is_discarded) for visit in world.state.visits] == [("intake", False)]
    assert "**Lane:** `small`: no specification and no plan, one pull request." in world.own_comments()[0]


def test_left_to_the_rule_by_a_label_it_moves_as_well() -> None:
    world = played("cogworks:lane:auto", classification=SIMPLE)

    assert (world.state.pipeline, next_node(world)) == ("small", "code_generation")


def test_left_to_the_rule_anything_else_goes_the_whole_way_and_the_comment_says_why() -> None:
    world = played(config=AUTO, classification=WIDE)

    assert (world.state.pipeline, next_node(world)) == ("default", "architecture")
    assert (
        "**Lane:** `default`, chosen by what Intake found: `small` is for bug fixes"
        in world.own_comments()[0]
    )


@pytest.mark.parametrize("labels", [(), ("cogworks:safety-critical",)])
def test_left_to_the_rule_safety_critical_work_goes_the_whole_way(labels: tuple[str, ...]) -> None:
    classification = SIMPLE if labels else {**SIMPLE, "safety_affecting": True}
    world = played(*labels, config=AUTO, classification=classification)

    assert (world.state.pipeline, next_node(world)) == ("default", "architecture")
    assert "chosen by what Intake found: the work is safety-critical" in world.own_comments()[0]


def test_a_simple_bug_of_which_nobody_says_anything_goes_the_short_way() -> None:
    world = played(classification=SIMPLE)

    assert (world.state.pipeline, next_node(world)) == ("small", "code_generation")


def test_what_is_no_simple_bug_goes_the_whole_way_where_nobody_says_anything() -> None:
    world = played()

    assert (world.state.pipeline, next_node(world)) == ("default", "architecture")


def test_a_label_chooses_the_lane_which_the_run_keeps_and_the_status_comment_says() -> None:
    world = played(SMALL)
    world.labels.remove(SMALL)

    assert (world.state.pipeline, next_node(world)) == ("small", "code_generation")
    assert "**Lane:** `small`: no specification and no plan, one pull request." in world.own_comments()[0]


def test_intake_is_not_told_of_lanes() -> None:
    told: list[Mapping[str, str]] = []
    world = World(pipeline=None)

    runner(world, BUG, told).step()

    assert told == [{}]


def test_an_item_that_is_labelled_as_safety_critical_never_takes_the_small_lane() -> None:
    world = played(SMALL, "cogworks:safety-critical")

    assert (world.state.pipeline, next_node(world)) == ("default", "architecture")
    assert (
        "- **Lane:** `default`, although `small` was asked for: safety-critical work"
        in world.own_comments()[0]
    )


def test_an_item_that_intake_finds_safety_critical_moves_up_with_what_intake_learnt() -> None:
    world = played(SMALL, classification=BRAKES)

    assert (world.state.pipeline, next_node(world)) == ("default", "architecture")
    assert [(visit.node, visit.is_discarded) for visit in world.state.visits] == [("intake", False)]
    assert (
        "- **Lane:** `default`, although `small` was asked for: safety-critical work"
        in world.own_comments()[0]
    )


NEEDS_MORE = "the change touches 9 files, and `small` is for at most 6"


def coded(task: NodeTask, ports: NodePorts) -> Outcome:
    assert task.conventions.lane_files == 6
    return Succeeded(output={"change": "+x"}, summary="moves up", moves_up=NEEDS_MORE)


def in_the_midst(*labels: str, code: NodeProcedure = coded) -> tuple[World, Runner]:
    """An item on the short way of which Intake is done, and who works on it."""
    world = World(pipeline=None)
    world.set_label(SMALL, "e2")
    for number, label in enumerate(labels, 3):
        world.set_label(label, f"e{number}")
    stepping = runner(world, BUG)
    stepping.step()
    stepping.nodes = {**stepping.nodes, NodeId("code_generation"): code}
    return world, stepping


def test_work_that_needs_more_moves_up_in_the_write_that_records_it_and_says_why() -> None:
    world, stepping = in_the_midst()
    commits = len(world.commits)

    stepping.step()

    assert len(world.commits) == commits + 2  # the claim and the record
    state = world.state
    assert (state.pipeline, state.moved_up) == ("default", MovedUp(why=NEEDS_MORE, after=2))
    assert [(each.node, each.status, each.is_discarded) for each in state.visits] == [
        ("intake", "succeeded", False),
        ("code_generation", "succeeded", True),
    ]
    assert state.marks == {"intake_to_architecture": "taken"}
    assert next_node(world) == "architecture"
    assert (
        f"- **Lane:** `default`, moved up from `small`: {NEEDS_MORE}. Intake still counts"
        in world.own_comments()[0]
    )


def test_the_next_nodes_are_told_what_was_learnt_and_those_of_parts_are_not() -> None:
    world, stepping = in_the_midst()
    told: list[Learnt | None] = []

    def architecture(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task.learnt)
        return Succeeded(output={"markdown": "# It"}, summary="specified")

    stepping.step()
    stepping.nodes = {**stepping.nodes, NodeId("architecture"): architecture}
    stepping.step()

    assert told == [Learnt(why=NEEDS_MORE, output={"change": "+x"})]
    later = world.state
    part = Instance(NodeId("code_generation"), SubItemKey("A"))
    planned = later.model_copy(update={"sub_items": (SubItem(key=SubItemKey("A"), ordinal=1, title="A"),)})
    sources = sources_of(planned, built_in_pipelines().pipelines["default"], part, ordinal=2)
    assert [each.slot for each in sources] == ["classification", "specification"]


def test_an_item_that_is_labelled_as_safety_critical_in_its_midst_moves_up_before_the_next_node() -> None:
    world, stepping = in_the_midst()
    world.set_label("cogworks:safety-critical", "e9")

    assert next_node(world) == "architecture"
    assert world.state.pipeline == "small"
    stepping.nodes = {
        **stepping.nodes,
        NodeId("architecture"): lambda task, ports: Succeeded(output={"markdown": "# It"}, summary="s"),
    }
    stepping.step()

    state = world.state
    assert (state.pipeline, state.moved_up) == ("default", MovedUp(why=CRITICAL, after=1))
    assert [each.node for each in state.visits if not each.is_discarded] == ["intake", "architecture"]
    assert f"moved up from `small`: {CRITICAL}." in world.own_comments()[0]


def test_a_failed_node_on_the_short_way_does_not_fail_the_whole_one() -> None:
    world, stepping = in_the_midst(code=lambda task, ports: Failed(reason="no way", category="escalated"))
    stepping.step()
    world.set_label("cogworks:safety-critical", "e9")

    assert next_node(world) == "architecture"


def test_an_intake_that_failed_is_no_reason_to_go_on() -> None:
    world = World(pipeline=None)
    world.set_label(SMALL, "e2")
    failing = Failed(reason="too thin", category="escalated")
    Runner(world, nodes={NodeId("intake"): lambda task, ports: failing}).step()
    world.set_label("cogworks:safety-critical", "e9")

    seen = consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-9"))

    assert isinstance(seen.decision, Stop)


def test_a_node_that_somebody_works_on_ends_on_the_way_that_it_began_on() -> None:
    world, stepping = in_the_midst()
    seen: list[str] = []

    def code(task: NodeTask, ports: NodePorts) -> Outcome:
        world.set_label("cogworks:safety-critical", "e9")
        seen.append(consider(read_item(stepping), Wanted(), new_run_id=lambda: RunId("run-9")).state.pipeline)
        return Succeeded(output={"change": ""}, summary="coded")

    stepping.nodes = {**stepping.nodes, NodeId("code_generation"): code}
    stepping.step()

    assert seen == ["small"]
    assert (world.state.pipeline, next_node(world)) == ("small", "architecture")


def test_the_small_lane_has_a_budget_that_the_repository_configures() -> None:
    world, stepping = in_the_midst()

    assert "of $3.00" in world.own_comments()[0]
    world.config += "[budgets]\nsmall_max_cost_dollars = 0.05\n"
    seen = consider(read_item(stepping), Wanted(), new_run_id=lambda: RunId("run-9"))
    assert max_cost_usd(seen.facts, seen.pipeline) == 0.05


def test_what_another_pipeline_asks_for_is_not_obeyed() -> None:
    world = World(pipeline=ONE_NODE)
    moving = Succeeded(output={"sub_work_items": []}, summary="planned", moves_up=NEEDS_MORE)
    Runner(world, nodes={NodeId("plan"): lambda task, ports: moving}).step()

    assert (world.state.moved_up, world.state.status) == (None, "done")


def test_a_lane_that_is_asked_for_later_begins_with_a_restart() -> None:
    world = played()
    world.set_label(SMALL, "e2")
    seen = consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-9"))
    world.say("/cogworks restart")
    runner(world, BUG).step()

    assert seen.state.pipeline == "default"
    assert (world.state.run_number, world.state.pipeline, next_node(world)) == (2, "small", "code_generation")


def test_a_lane_beside_pipelines_of_the_repository_is_refused() -> None:
    world = World()
    world.config += '[pipelines]\nlane = "small"\n'

    with pytest.raises(ConfigurationError, match="remove the key, or remove"):
        consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-9"))


def test_the_lane_small_reviews_in_one_question() -> None:
    _, stepping = in_the_midst(code=lambda task, ports: Succeeded(output={"change": "+x"}, summary="made"))
    told: list[bool] = []

    def review(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task.conventions.combined_review)
        return Succeeded(output={"passed": True, "findings": [], "passes": []}, summary="passed")

    stepping.step()
    stepping.nodes = {**stepping.nodes, NodeId("review"): review}
    stepping.step()

    assert told == [True]
