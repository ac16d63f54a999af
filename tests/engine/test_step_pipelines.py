"""Whole steps of a run whose first node chooses the pipeline, on a GitHub in memory."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import pytest

from cogworks.engine.consider import Wanted, consider, read_item
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.pipeline.decision import Run, Wait
from cogworks.settings.sections import ASKED_ABOUT, ProbeConfig
from cogworks.vocabulary import NodeId, RunId
from tests.pipeline.graphs import document
from tests.step_fakes import Runner
from tests.world import World

INTAKE = {"id": "intake", "type": "llm", "outputs": ["classification"]}
FEATURE = document([INTAKE, {"id": "design", "type": "llm"}], "intake>design")["pipelines"]["default"]
BUGFIX = document([INTAKE, {"id": "fix", "type": "llm"}], "intake>fix", cost_budget_usd=2.5)["pipelines"][
    "default"
]
BOTH = {
    "default": "feature",
    "pipelines": {
        "feature": {"description": "Something new.", **FEATURE},
        "bugfix": {"description": "Something broken.", **BUGFIX},
    },
}


def runner(world: World, choice: Mapping[str, Any], seen: list[Mapping[str, str]] | None = None) -> Runner:
    """A runner whose intake says `choice`."""

    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        if seen is not None:
            seen.append(task.conventions.pipelines)
        return Succeeded(output=dict(choice), summary="classified")

    def work(task: NodeTask, ports: NodePorts) -> Outcome:
        return Succeeded(output={}, summary="worked")

    return Runner(world, nodes={NodeId("intake"): intake, NodeId("design"): work, NodeId("fix"): work})


def test_the_classification_names_the_pipeline_that_the_run_goes_on_with() -> None:
    world = World(pipeline=BOTH)
    seen: list[Mapping[str, str]] = []

    first = runner(world, {"type": "bug_fix", "pipeline": "bugfix"}, seen).step()
    comment = world.own_comments()[0]
    second = runner(world, {}).step()

    assert seen == [{"feature": "Something new.", "bugfix": "Something broken."}]
    assert (first.outcome, world.state.pipeline, world.state.marks) == (
        "succeeded",
        "bugfix",
        {"intake_to_fix": "taken"},
    )
    assert "next: fix" in comment
    assert "of $2.50" in comment
    assert (second.outcome, second.node) == ("done", "fix")


def test_a_node_is_told_who_writes_the_tests_and_whether_suspects_are_probed() -> None:
    world = World(pipeline=BOTH)
    world.config += '[tests]\nwriter = "none"\nwarn_only = ["TEST_NOT_RED"]\n'
    world.config += "[codegen.search]\ninvestigations_enabled = true\nprobe_pool = 2\n"
    told: list[Conventions] = []

    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task.conventions)
        return Succeeded(output={}, summary="classified")

    Runner(world, nodes={NodeId("intake"): intake}).step()

    assert [(each.test_writer, each.test_warnings) for each in told] == [("none", ("TEST_NOT_RED",))]
    assert [each.probes for each in told] == [ProbeConfig(investigations_enabled=True, probe_pool=2)]


@pytest.mark.parametrize(
    ("node", "settings", "answers", "retries"),
    [
        ({}, {}, 3, 7),
        ({}, {"max_node_retries": 1}, 2, 1),
        ({"max_retries": 0}, {"max_node_retries": 1}, 1, 0),
    ],
    ids=["configuration", "pipeline", "node"],
)
def test_how_often_a_model_is_asked_again_is_said_by_the_node_else_the_pipeline_else_the_configuration(
    node: Mapping[str, int], settings: Mapping[str, int], answers: int, retries: int
) -> None:
    world = World(pipeline=document([{**INTAKE, **node}], (), **settings))
    world.config += "[budgets]\nsub_work_item_max_retries = 7\n"
    told: list[Conventions] = []

    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task.conventions)
        return Succeeded(output={}, summary="classified")

    Runner(world, nodes={NodeId("intake"): intake}).step()

    assert [(each.max_answers, each.max_retries) for each in told] == [(answers, retries)]


@pytest.mark.parametrize(
    ("table", "said", "name", "value"),
    [
        ("paths", 'specs = "design"', "specs", ("design",)),
        ("labels", 'sub_work_item = "part"', "sub_item_label", "part"),
        ("dependencies", 'changes = "allow"', "manifests", ()),
        ("dependencies", 'manifests = ["deps.txt"]', "manifests", (*ASKED_ABOUT, "deps.txt")),
        ("tests", 'baseline = "none"', "baseline", "none"),
        ("tests", 'writer = "none"', "test_writer", "none"),
        ("tests", 'warn_only = ["TEST_EMPTY"]', "test_warnings", ("TEST_EMPTY",)),
        ("tests", "semantic_check = true", "test_judge", True),
        ("codegen.limits", "max_loc_changes = 7", "change_limits.max_loc_changes", 7),
        ("codegen.limits", "max_files_per_diff = 2", "change_limits.max_files_per_diff", 2),
        ("codegen.limits", "max_files_beyond_plan = 1", "change_limits.max_files_beyond_plan", 1),
        ("codegen.limits", "max_total_churn = 9.0", "change_limits.max_total_churn", 9.0),
        ("sight", "first_view_tokens = 2000", "sight.first_view_tokens", 2_000),
        ("codegen.search", "probe_seconds = 3.0", "probes.probe_seconds", 3.0),
        ("paths", 'specs = "design"', "merges_specs", True),
        ("pull_requests", "remarks_at_lines = false", "remarks_at_lines", False),
    ],
    ids=lambda value: value if isinstance(value, str) and "=" in value else "",
)
def test_what_the_repository_configured_reaches_every_node(
    table: str, said: str, name: str, value: object
) -> None:
    told: list[Conventions] = []

    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task.conventions)
        return Succeeded(output={}, summary="classified")

    for more in ("", f"[{table}]\n{said}\n"):
        world = World(pipeline=BOTH)
        world.config += more
        Runner(world, nodes={NodeId("intake"): intake}).step()

    before, after = map(attrgetter(name), told)
    assert after == value
    assert before != value


@pytest.mark.parametrize("choice", [{}, {"pipeline": ""}, {"pipeline": "default"}, {"pipeline": "feature"}])
def test_without_a_choice_the_default_pipeline_goes_on(choice: Mapping[str, str]) -> None:
    world = World(pipeline=BOTH)

    runner(world, choice).step()

    assert world.state.pipeline == "feature"
    assert runner(world, {}).step().node == "design"


def test_an_unknown_pipeline_fails_the_node_and_lists_those_that_there_are() -> None:
    world = World(pipeline=BOTH)

    report = runner(world, {"pipeline": "hotfix"}).step()
    later = runner(world, {"pipeline": "bugfix"}).step()

    assert report.outcome == "failed"
    assert "asked for the pipeline `hotfix`" in report.message
    assert "Available are `feature`, `bugfix`" in report.message
    assert "Available are `feature`, `bugfix`" in world.own_comments()[0]
    assert later.outcome == "failed"
    assert [visit.node for visit in world.state.visits] == ["intake"]


def test_a_restart_begins_with_the_default_pipeline_again() -> None:
    world = World(pipeline=BOTH)
    runner(world, {"pipeline": "bugfix"}).step()
    world.say("/cogworks restart")

    report = runner(world, {"pipeline": ""}).step()

    assert (report.node, world.state.run_number, world.state.pipeline) == ("intake", 2, "feature")


def test_a_classification_made_anew_leaves_the_old_graph_behind() -> None:
    world = World(pipeline=BOTH)
    runner(world, {"pipeline": "bugfix"}).step()
    world.say("/cogworks reject intake it is something new")
    runner(world, {}).step()
    world.say("/cogworks retry")

    report = runner(world, {"pipeline": "feature"}).step()

    assert (report.node, world.state.pipeline) == ("intake", "feature")
    assert world.state.marks == {"intake_to_design": "taken"}
    assert [visit.is_discarded for visit in world.state.visits] == [True, False]
    assert runner(world, {}).step().node == "design"


def test_a_node_is_not_told_of_a_single_pipeline() -> None:
    world = World(pipeline={"pipelines": {"feature": FEATURE}})
    seen: list[Mapping[str, str]] = []

    runner(world, {"pipeline": "default"}, seen).step()

    assert (seen, world.state.pipeline) == ([{}], "feature")


GATED = document(
    [
        {
            "id": "design",
            "type": "llm",
            "outputs": ["interfaces"],
            "gate": "human-gated",
            "slug": "interfaces",
            "produces_code": True,
        },
        {"id": "plan", "type": "llm", "inputs": ["interfaces"], "outputs": ["plan"]},
    ],
    "design>plan",
)


@pytest.mark.parametrize(
    ("is_empty", "labels", "next_move"),
    [(True, (), Run), (False, (), Wait), (True, ("cogworks:safety-critical",), Wait)],
    ids=["nothing-to-pass", "something-to-pass", "safety-critical"],
)
def test_a_gate_is_not_opened_where_there_was_nothing_to_do(
    is_empty: bool, labels: tuple[str, ...], next_move: type[Run | Wait]
) -> None:
    world = World(pipeline=GATED)
    for number, label in enumerate(labels, 2):
        world.set_label(label, f"e{number}")

    def design(task: NodeTask, ports: NodePorts) -> Outcome:
        return Succeeded(output={"interfaces": []}, summary="nothing changes", is_empty=is_empty)

    Runner(world, nodes={NodeId("design"): design}).step()

    seen = consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-9"))
    assert isinstance(seen.decision, next_move)
    assert world.pulls == []
