"""Work that leaves its bounds, step by step: each of the four codes has a consequence of its own, and shows where people look."""

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from cogworks.cli.reporting import EXIT_CODES, Style, Tally, conclude
from cogworks.engine.report import StepReport
from cogworks.errors import ApprovalNeeded
from cogworks.nodes.asking import reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.gates import KEEP_TEST
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import document
from tests.step_fakes import NODES, Runner, after
from tests.world import World

CALL = "0123456789ab"


def refused(*paths: str, missing: str = "") -> Failed:
    found = reason_for_a_person(
        "code_generation",
        paths,
        missing_capability=missing,
        bounds="specification and interfaces do",
        remedy="Extend the specification, docs/specs/7.md, merge it",
    )
    assert found is not None
    return found


def needs_more(task: NodeTask, ports: NodePorts) -> Outcome:
    del task, ports
    return refused(missing="The price list is on another host, so the network is needed.")


def touches_ci(task: NodeTask, ports: NodePorts) -> Outcome:
    del task, ports
    return refused(".github/workflows/ci.yml")


def insists(task: NodeTask, ports: NodePorts) -> Outcome:
    del task, ports
    return Failed(
        reason="SCOPE_VIOLATION: code_generation: A was not solved.",
        category="retry_exhausted",
        code="SCOPE_VIOLATION",
    )


def succeeds(task: NodeTask, ports: NodePorts) -> Outcome:
    del task, ports
    return Succeeded(output={"done": True}, effects=(), summary="done")


def reads_it_twice(task: NodeTask, ports: NodePorts) -> Outcome:
    del ports
    if CALL in task.approved_calls:
        return Succeeded(output={"done": True}, effects=(), summary="the test stays")
    said = "SCOPE_AMBIGUOUS: A: the test test_sum is disputed"
    raise ApprovalNeeded(
        said, tool=KEEP_TEST, call_hash=CALL, shown='{"test_id":"test_sum"}', code="SCOPE_AMBIGUOUS"
    )


def stepped(node: Callable[[NodeTask, NodePorts], Outcome]) -> tuple[World, Runner, StepReport]:
    world = after(2)
    runner = Runner(world, nodes={**NODES, NodeId("code"): node})
    return world, runner, runner.step()


def as_json(report: StepReport) -> dict[str, object]:
    """What `cogworks process --json` prints of it."""
    import click

    @click.command()
    def told() -> None:
        conclude("https://github.com/o/r/issues/7", Tally(), lambda: report, Style(as_json=True))

    found: dict[str, object] = json.loads(CliRunner().invoke(told).stdout)
    return found


def test_what_specification_does_not_allow_waits_for_people_and_is_no_failure() -> None:
    world, runner, report = stepped(needs_more)

    [wait] = report.waiting_for
    comment = world.own_comments()[0]
    assert (report.outcome, EXIT_CODES[report.outcome]) == ("waiting", 0)
    assert (wait.kind, wait.node, wait.code) == ("retry", "code", "SCOPE_UNDERSPECIFIED")
    assert "### cogworks · waiting for a person" in comment
    assert (
        "- **Waiting (SCOPE_UNDERSPECIFIED):** code_generation needs what specification and interfaces do not allow: The price list is "
        "on another host, so the network is needed. Extend the specification, docs/specs/7.md, merge it, then remove the trigger label "
        "and set it again. Who: anyone with write permission. Or comment: `/cogworks retry`"
    ) in comment
    assert "to retry what failed" not in comment
    assert "cogworks:awaiting-review" in world.labels
    assert "cogworks:node:failed" not in world.labels

    again = runner.step()

    assert (again.outcome, runner.calls[-1]) == ("waiting", "read")


def test_it_goes_on_when_somebody_says_that_the_specification_allows_it() -> None:
    world, _, _ = stepped(needs_more)
    world.say("/cogworks retry")

    report = Runner(world).step()

    assert (report.node, report.outcome, report.codes) == ("code@A", "succeeded", ())
    assert [visit.ordinal for visit in world.state.visits if visit.node == "code"] == [1, 2]


def test_work_beside_it_goes_on_meanwhile() -> None:
    nodes = [
        {"id": "plan", "type": "llm", "outputs": ["plan"], "evaluation": "all-matching"},
        {"id": "code", "type": "llm", "inputs": ["plan"], "outputs": ["code"]},
        {"id": "other", "type": "llm", "inputs": ["plan"], "outputs": ["other"]},
    ]
    world = World(pipeline=document(nodes, "plan>code plan>other"))
    runner = Runner(
        world, nodes={NodeId("plan"): succeeds, NodeId("code"): needs_more, NodeId("other"): succeeds}
    )
    reports = [runner.step() for _ in range(4)]

    assert [(each.node, each.outcome) for each in reports] == [
        ("plan", "succeeded"),
        ("code", "succeeded"),
        ("other", "succeeded"),
        ("", "waiting"),
    ]


def test_two_readings_wait_for_an_answer_and_the_visit_goes_on_with_it() -> None:
    world, runner, report = stepped(reads_it_twice)

    [wait] = report.waiting_for
    assert (report.outcome, wait.kind, wait.code) == ("waiting", "approval", "SCOPE_AMBIGUOUS")
    assert (
        "- **Waiting (SCOPE_AMBIGUOUS):** code@A asks whether a disputed test stays"
        in world.own_comments()[0]
    )
    assert world.state.visits[-1].node == "plan"

    world.say(wait.paste)
    answered = runner.step()

    assert (answered.node, answered.outcome, answered.codes) == ("code@A", "succeeded", ())
    assert [visit.ordinal for visit in world.state.visits if visit.node == "code"] == [1]


@pytest.mark.parametrize(
    ("node", "code"), [(touches_ci, "PROTECTED_PATH_VIOLATION"), (insists, "SCOPE_VIOLATION")]
)
def test_a_protected_path_and_a_coder_that_insists_fail_the_node(
    node: Callable[[NodeTask, NodePorts], Outcome], code: str
) -> None:
    world, runner, report = stepped(node)

    comment = world.own_comments()[0]
    assert (report.outcome, EXIT_CODES[report.outcome], report.waiting_for) == ("failed", 1, ())
    assert f"- **code@A:** {code}: " in comment
    assert "### cogworks · stopped: a node failed" in comment
    assert "cogworks:node:failed" in world.labels
    again = runner.step()
    assert again.outcome == "failed"
    assert "cogworks/7/swi-1" not in [pull.head for pull in world.pulls]
    assert "swi-1" not in again.urls


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (needs_more, "SCOPE_UNDERSPECIFIED"),
        (reads_it_twice, "SCOPE_AMBIGUOUS"),
        (touches_ci, "PROTECTED_PATH_VIOLATION"),
        (insists, "SCOPE_VIOLATION"),
    ],
)
def test_the_code_stands_in_the_object_for_programs_after_the_step_and_later(
    node: Callable[[NodeTask, NodePorts], Outcome], code: str
) -> None:
    _, runner, report = stepped(node)

    assert as_json(report)["codes"] == [code]
    assert as_json(runner.step())["codes"] == [code]
