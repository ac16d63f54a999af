"""Follow-up issues over whole steps: whatever dies, each is created once, and nothing waits for it."""

from typing import Any

import pytest

from cogworks.forge.effects import CreateIssue
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import document
from tests.step_fakes import Died, Fault, Runner
from tests.world import World

NODES: dict[NodeId, Any] = {}


def due(task: NodeTask, ports: NodePorts) -> Outcome:
    ports.say("deciding")
    effects = tuple(
        CreateIssue(key=f"issue-{number}", title=f"Later {number}", body="x", visit_key=task.visit.visit_key)
        for number in (1, 2)
    )
    return Succeeded(output={"issues": []}, effects=effects, summary="2 to create")


def after(task: NodeTask, ports: NodePorts) -> Outcome:
    del task, ports
    return Succeeded(output={}, summary="went on")


NODES = {NodeId("due"): due, NodeId("after"): after}
PIPELINE = document([{"id": "due", "type": "llm"}, {"id": "after", "type": "llm"}], "due>after")


def test_the_record_of_the_visit_names_what_was_created() -> None:
    runner = Runner(World(pipeline=PIPELINE), nodes=NODES)

    runner.step()

    numbers = [issue.number for issue in runner.world.issues]
    assert runner.world.state.visits[0].summary == f"follow-up issues created: #{numbers[0]}, #{numbers[1]}"
    assert f'"number": {numbers[0]}' in runner.world.files["visits/0001-due/output.json"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, 10))
def test_a_death_at_any_call_creates_no_issue_twice(at: int, when: Any) -> None:
    world = World(pipeline=PIPELINE)
    dying = Runner(world, name="first", nodes=NODES, fault=Fault(at=at, when=when, kind="death"))
    try:
        for _ in range(4):
            dying.step()
    except Died:
        pass
    for _ in range(30):
        heir = Runner(world, name="second", nodes=NODES)
        world.now = world.now.replace(hour=world.now.hour + 1) if world.now.hour < 22 else world.now
        if heir.step().outcome == "done":
            break

    assert world.twice() == []
    assert [issue.title for issue in world.issues] == ["Later 1", "Later 2"]
    assert world.state.status == "done"
