"""Random graphs worked on by two or three runners in any order of their calls; then the ledger alone tells it again."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cogworks.forge.effects import CreateSubIssue
from cogworks.ledger.record import Change, read_state
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.frontier import in_dependency_order
from cogworks.pipeline.graph import SubItem
from cogworks.vocabulary import CommitOid, NodeId
from tests.engine.test_step_races import Race
from tests.exhaustive import examples
from tests.pipeline.graphs import parse
from tests.pipeline.random_graphs import Table, random_document, random_output, random_sub_items
from tests.replaying import Committed, replayed
from tests.step_fakes import Runner
from tests.world import World

MAX_ROUNDS = 400


@dataclass
class Remembering(World):
    """A world that keeps every state its ledger ever held."""

    told: list[Committed] = field(default_factory=list)

    def commit(self, oid: CommitOid, change: Change) -> None:
        super().commit(oid, change)
        text = f"{change.headline}\n\n{change.body}"
        self.told.append(Committed(text, self.now, read_state(self.files["state.json"], branch="ledger")))


def procedures(raw: Table, items: tuple[SubItem, ...]) -> Mapping[NodeId, NodeProcedure]:
    """What the nodes do: the same in every attempt of a visit, something else in every visit."""

    def planning() -> Table:
        return {
            "sub_work_items": [
                {"key": item.key, "title": item.key, "depends_on": list(item.depends_on)} for item in items
            ]
        }

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.say("at work")
        chance = random.Random(task.visit.visit_key)
        output = random_output(chance, raw, task.visit.node)
        if chance.random() < 0.03:
            return Failed(reason="bad luck", category="escalated")
        if task.visit.node != "n0":
            return Succeeded(output=output, summary="done")
        effects = [
            CreateSubIssue(key=item.key, title=item.key, body="Do it.", visit_key=task.visit.visit_key)
            for item in items
        ]
        return Succeeded(output={"o0": output, "plan": planning()}, effects=tuple(effects), summary="planned")

    return {NodeId(node["id"]): run for node in raw["nodes"]}


def worked_on(seed: int) -> Remembering:
    """The world after runners, some of which died, have come to the item's end."""
    chance = random.Random(seed)
    content = random_document(chance, is_planned_once=True)
    items = in_dependency_order(random_sub_items(chance))
    world = Remembering(pipeline=content)
    nodes = procedures(content["pipelines"]["default"], items)
    for number in range(MAX_ROUNDS):
        names = [f"{number}-{name}" for name in "abc"[: chance.randint(2, 3)]]
        crashes = int(chance.random() < 0.2)
        Race(world, names, chance.randrange, crashes=crashes, nodes=nodes).run()
        assert world.twice() == []
        report = Runner(world, name=f"{number}-last", nodes=nodes).step()
        if report.outcome == "backed_off":
            world.now += timedelta(seconds=300)
        elif report.outcome in ("done", "failed") and not world.state.leases:
            last = Runner(world, name=f"{number}-look", nodes=nodes).step()
            if last.outcome == report.outcome:
                return world
    raise AssertionError(f"not at an end after {MAX_ROUNDS} rounds")


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32))
@example(3_221_225_534)
def test_runners_in_any_order_bring_every_graph_to_its_end_and_the_ledger_replays(seed: int) -> None:
    world = worked_on(seed)

    keys = [visit.visit_key for visit in world.state.visits]
    assert len(keys) == len(set(keys))
    # Runs that are long enough fold visits that no longer count into sums.
    folded = [index for each in world.state.folded for index in each.indices]
    indices = sorted([*(visit.index for visit in world.state.visits), *folded])
    assert indices == list(range(1, len(indices) + 1))
    assert (world.state.leases, world.state.given_back) == ((), ())
    assert world.twice() == []
    assert world.pipeline is not None
    graph = parse(world.pipeline)
    assert replayed(world.told, graph, pulls={}, read=world.files.__getitem__) == []
