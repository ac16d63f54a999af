"""Random graphs with random outcomes, compared with a reference that reads the file's plain values and nothing else."""

import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cogworks.pipeline.elements import EdgeId
from cogworks.pipeline.frontier import (
    EdgeMark,
    EdgeRef,
    Frontier,
    Instance,
    InstanceStatus,
    frontier,
    instances,
    out_edges_after,
    reopened_by,
)
from cogworks.pipeline.graph import Pipeline, SubItem
from tests.exhaustive import examples
from tests.pipeline.graphs import parse
from tests.pipeline.random_graphs import Table, random_document, random_output, random_sub_items
from tests.pipeline.reference import Reference, reference_choice


@dataclass
class Run:
    """One run in memory: what a ledger would hold."""

    chance: random.Random
    raw: Table
    pipeline: Pipeline
    sub_items: list[SubItem]
    planned: bool = False
    marks: dict[EdgeRef, EdgeMark] = field(default_factory=dict)
    status: dict[Instance, InstanceStatus] = field(default_factory=dict)
    traversals: dict[EdgeRef, int] = field(default_factory=dict)
    visits: int = 0
    dead_ends: set[Instance] = field(default_factory=set)

    def look(self) -> Frontier:
        return frontier(self.pipeline, self.marks, self.status, self.sub_items if self.planned else None)

    def start(self, at: Instance) -> None:
        assert at not in self.status
        self.status[at] = InstanceStatus.RUNNING
        self.visits += 1

    def go_on(self, at: Instance) -> bool:
        """Finish a running instance or pass a gate; True when a loop was walked."""
        if self.status[at] is InstanceStatus.RUNNING and self.chance.random() < 0.2:
            self.status[at] = InstanceStatus.WAITING_GATE
            return False
        if self.chance.random() < 0.04:
            self.status[at] = InstanceStatus.FAILED
            return False
        return self._succeed(at)

    def _succeed(self, at: Instance) -> bool:
        output = random_output(self.chance, self.raw, at.node)
        view = {f"o{at.node[1:]}": output}
        verdict = out_edges_after(self.pipeline, at, view, self.traversals)
        if verdict.overflow in {"halt", "escalate"}:
            self.status[at] = InstanceStatus.FAILED
            return False
        self.status[at] = InstanceStatus.SUCCEEDED
        self.marks |= verdict.marks
        if verdict.dead_end:
            self.dead_ends.add(at)
        if verdict.rework is None:
            assert dict(verdict.marks) == {
                EdgeRef(EdgeId(edge), at.sub_item): EdgeMark.TAKEN if held else EdgeMark.NOT_TAKEN
                for edge, held in reference_choice(self.raw, at.node, output).items()
            }
            return False
        self._reopen(at, verdict.rework)
        return True

    def _reopen(self, at: Instance, rework: Any) -> None:
        counted = EdgeRef(rework, at.sub_item)
        self.traversals[counted] = self.traversals.get(counted, 0) + 1
        declared = next(edge["rework"] for edge in self.raw["edges"] if edge["id"] == rework)
        assert self.traversals[counted] <= declared["max_traversals"]
        undone = reopened_by(self.pipeline, rework, at.sub_item)
        assert at in undone.instances
        for each in undone.instances:
            self.dead_ends.discard(each)
            known = self.status.pop(each, None)
            assert known in {None, InstanceStatus.SUCCEEDED}, (
                "nothing in a loop runs while its last node finishes"
            )
        for ref in undone.edges:
            self.marks.pop(ref, None)

    def reference(self) -> Reference:
        return Reference(
            self.raw,
            status={(at.node, at.sub_item): str(known) for at, known in self.status.items()},
            taken={(ref.edge, ref.sub_item): mark is EdgeMark.TAKEN for ref, mark in self.marks.items()},
            depends_on={item.key: item.depends_on for item in self.sub_items} if self.planned else None,
        )


def _check(run: Run, found: Frontier) -> None:
    reference = run.reference()
    ready = reference.found("ready")
    order = instances(run.pipeline, run.sub_items if run.planned else None)
    assert list(found.ready) == [at for at in order if at in set(found.ready)]
    assert found.skipped == reference.found("skipped")
    assert set(found.blocked) == reference.found("blocked")
    assert all(run.status[culprit] is InstanceStatus.FAILED for culprit in found.blocked.values())
    assert set(found.dead_ends) == run.dead_ends
    assert found.finished == (reference.is_finished() and not run.dead_ends)
    if run.pipeline.settings.parallel_sub_items:
        assert set(found.ready) == ready
    else:
        running = {at.sub_item for at, known in run.status.items() if known is InstanceStatus.RUNNING}
        at_work = running | {at.sub_item for at in found.ready}
        assert set(found.ready) <= ready
        assert len(at_work - {None}) <= 1
        assert found.ready or not ready or running


def _most_visits(run: Run) -> int:
    """Every place once, and again whatever the loops allow, nested or not."""
    places = len(instances(run.pipeline, run.sub_items))
    keys = max(1, len(run.sub_items))
    traversals = sum(edge.rework.max_traversals for edge in run.pipeline.edges if edge.rework) * keys
    return places * (1 + traversals)


@settings(max_examples=examples(150))
@given(st.integers(0, 2**32))
@example(87701).via("a loop led back over a node that another loop had made ready since")
@example(392810331).via("the same, where the node had been skipped before")
def test_random_runs_end_within_their_caps_starve_nobody_and_join_when_they_should(seed: int) -> None:
    chance = random.Random(seed)
    content = random_document(chance)
    run = Run(chance, content["pipelines"]["default"], parse(content), random_sub_items(chance))
    limit = _most_visits(run)
    was_ready: set[Instance] = set()
    while True:
        found = run.look()
        _check(run, found)
        active = [
            at
            for at, known in run.status.items()
            if known in {InstanceStatus.RUNNING, InstanceStatus.WAITING_GATE}
        ]
        if run.pipeline.settings.parallel_sub_items:
            assert was_ready <= set(found.ready) | set(run.status), "a ready node stays ready until it starts"
        if not found.ready and not active and run.planned:
            break
        was_ready = set(found.ready)
        if not run.planned and (chance.random() < 0.3 or not (found.ready or active)):
            run.planned = True
        elif found.ready and (not active or chance.random() < 0.5):
            run.start(chance.choice(found.ready))
        elif active and run.go_on(chance.choice(active)):
            was_ready = set()
        assert run.visits <= limit

    failed = [at for at, known in run.status.items() if known is InstanceStatus.FAILED]
    assert found.finished or failed or run.dead_ends
    assert bool(found.blocked) <= bool(failed)


@settings(max_examples=examples(50))
@given(st.integers(0, 2**32))
def test_the_same_graph_read_twice_has_the_same_hash(seed: int) -> None:
    content = random_document(random.Random(seed))

    assert parse(content).graph_hash == parse(random_document(random.Random(seed))).graph_hash
