"""Random graphs with random outcomes, compared with a reference that reads the file's plain values and nothing else."""

import itertools
import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

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
from tests.pipeline.graphs import parse

Table = dict[str, Any]
Place = tuple[str, str | None]


def random_document(chance: random.Random) -> Table:
    """A valid file: per-item nodes, per-sub-item nodes, per-item nodes that join them, loops on one side each."""
    sizes = chance.randint(1, 4), chance.randint(0, 4), chance.randint(0, 3)
    scopes = [
        scope for scope, size in zip(("item", "sub-item", "item"), sizes, strict=True) for _ in range(size)
    ]
    nodes: list[Table] = [
        {"id": f"n{at}", "type": "llm", "scope": scope, "outputs": [f"o{at}"]}
        for at, scope in enumerate(scopes)
    ]
    edges: list[Table] = []
    for target in range(1, len(nodes)):
        # A later per-item node must not lead back into the sub-items, and an early one must not come from them.
        sources = [at for at in range(target) if target >= sizes[0] or at < sizes[0]]
        chosen = {chance.choice(sources), *(at for at in sources if chance.random() < 0.25)}
        edges += [_edge(f"n{source}", f"n{target}") for source in sorted(chosen)]
    edges += _loops(chance, nodes, edges)
    chance.shuffle(edges)
    for node in nodes:
        _declare_evaluation(chance, node, [edge for edge in edges if edge["source"] == node["id"]])
    pipeline = {"start": "n0", "nodes": nodes, "edges": edges}
    pipeline["settings"] = {"parallel_sub_items": chance.random() < 0.7}
    return {"pipelines": {"default": pipeline}}


def _edge(source: str, target: str) -> Table:
    return {"id": f"{source}_{target}", "source": source, "target": target}


def _loops(chance: random.Random, nodes: list[Table], edges: list[Table]) -> list[Table]:
    scope = {node["id"]: node["scope"] for node in nodes}
    found: dict[tuple[str, str], set[str]] = {}
    for source, target in itertools.product(scope, scope):
        between = {at for at in scope if _leads(edges, target, at) and _leads(edges, at, source)}
        crosses = any(
            between & other and not _leads(edges, source, end) and not _leads(edges, end, source)
            for (end, _), other in found.items()
        )
        if between and not crosses and len({scope[at] for at in between}) == 1 and chance.random() < 0.3:
            found[source, target] = between
    return [_loop(chance, source, target, edges) for source, target in found]


def _loop(chance: random.Random, source: str, target: str, edges: list[Table]) -> Table:
    onward = [edge["id"] for edge in edges if edge["source"] == source]
    rework: Table = {"max_traversals": chance.randint(1, 3), "overflow": chance.choice(["halt", "escalate"])}
    if onward and chance.random() < 0.5:
        rework |= {"overflow": "take-edge", "overflow_edge": chance.choice(onward)}
    return {"id": f"back_{source}_{target}", "source": source, "target": target, "rework": rework}


def _leads(edges: list[Table], source: str, target: str) -> bool:
    return source == target or any(
        _leads(edges, edge["target"], target) for edge in edges if edge["source"] == source
    )


def _declare_evaluation(chance: random.Random, node: Table, leaving: list[Table]) -> None:
    if len(leaving) > 1:
        node["evaluation"] = chance.choice(["first-matching", "all-matching", "all-matching", "explicit"])
    if node.get("evaluation") == "explicit":
        node["next_edges"] = [edge["id"] for edge in leaving]
        return
    for edge in leaving:
        if "rework" in edge or chance.random() < 0.5:
            edge["condition"] = {"expr": f"{edge['id']} == true"}


def random_sub_items(chance: random.Random) -> list[SubItem]:
    keys = "ABC"[: chance.randint(0, 3)]
    found = []
    for at, key in enumerate(keys):
        depends_on = tuple(earlier for earlier in keys[:at] if chance.random() < 0.4)
        found.append(SubItem(key=key, depends_on=depends_on))
    chance.shuffle(found)
    return found


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
        leaving = [edge for edge in self.raw["edges"] if edge["source"] == at.node]
        view: Table = {edge["id"]: self.chance.random() < 0.7 for edge in leaving}
        chosen = [edge["id"] for edge in leaving if self.chance.random() < 0.6]
        view[f"o{at.node[1:]}"] = {"next_edges": chosen}
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
                EdgeRef(edge["id"], at.sub_item): EdgeMark.TAKEN if held else EdgeMark.NOT_TAKEN
                for edge, held in reference_choice(self.raw, at.node, view, verdict.overflowed)
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


def reference_choice(raw: Table, node: str, view: Table, overflowed: str | None) -> list[tuple[Table, bool]]:
    """Every forward edge that leaves the node and whether it is taken, when no loop is walked."""
    evaluation = next(each for each in raw["nodes"] if each["id"] == node).get("evaluation", "all-matching")
    leaving = [edge for edge in raw["edges"] if edge["source"] == node]
    instead = next((edge["rework"]["overflow_edge"] for edge in leaving if edge["id"] == overflowed), None)
    taken: list[str] = [] if instead is None else [instead]
    for edge in leaving:
        held = view[edge["id"]] if "condition" in edge else True
        if evaluation == "explicit":
            held = edge["id"] in view[f"o{node[1:]}"]["next_edges"]
        if held:
            taken.append(edge["id"])
            if evaluation == "first-matching":
                break
    return [(edge, edge["id"] in taken) for edge in leaving if "rework" not in edge]


class Reference:
    """The rules of the frontier over one flat graph of places, by exhaustive search backwards."""

    def __init__(self, run: Run) -> None:
        raw = run.raw
        self.status = {(at.node, at.sub_item): str(known) for at, known in run.status.items()}
        self.taken = {(ref.edge, ref.sub_item): mark is EdgeMark.TAKEN for ref, mark in run.marks.items()}
        self.planned = run.planned
        self.scope = {node["id"]: node["scope"] for node in raw["nodes"]}
        self.depends_on = {item.key: item.depends_on for item in run.sub_items} if run.planned else {}
        self.keys: list[str | None] = list(self.depends_on) or [None]
        forward = [edge for edge in raw["edges"] if "rework" not in edge]
        inner = {
            e["source"] for e in forward if self.scope[e["source"]] == self.scope[e["target"]] == "sub-item"
        }
        self.exits = [node for node, scope in self.scope.items() if scope == "sub-item" and node not in inner]
        self.arrows = [
            (edge["id"], source, target)
            for edge in forward
            for source in self.places(edge["source"])
            for target in self.places(edge["target"])
            if source[1] == target[1] or self.scope[source[0]] != self.scope[target[0]]
        ]

    def places(self, node: str) -> list[Place]:
        return [(node, key) for key in (self.keys if self.scope[node] == "sub-item" else [None])]

    def all_places(self) -> list[Place]:
        return [place for node in self.scope for place in self.places(node)]

    def is_ghost(self, place: Place) -> bool:
        return place[1] is None and self.scope[place[0]] == "sub-item"

    def arrow(self, edge: str, source: Place) -> str:
        """taken, refused, open or broken."""
        known = self.status.get(source)
        if known is None:
            kind = self.kind(source)
            return {"skipped": "refused", "empty": "taken", "blocked": "broken"}.get(kind, "open")
        if known == "failed":
            return "broken"
        if known != "succeeded" or (edge, source[1]) not in self.taken:
            return "open"
        return "taken" if self.taken[edge, source[1]] else "refused"

    def kind(self, place: Place) -> str:
        """What an unstarted place is: ready, skipped, blocked, pending or (for no sub-items) empty."""
        into = [self.arrow(edge, source) for edge, source, target in self.arrows if target == place]
        if "broken" in into:
            return "blocked"
        if "open" in into:
            return "pending"
        if "taken" not in into and place[0] != "n0":
            return "skipped"
        if self.is_ghost(place):
            return "empty" if self.planned else "pending"
        waits = [(node, key) for key in self.depends_on.get(place[1] or "", ()) for node in self.exits]
        ends = [self.status.get(each) or self.kind(each) for each in waits]
        if "failed" in ends or "blocked" in ends:
            return "blocked"
        return "ready" if set(ends) <= {"succeeded", "skipped"} else "pending"

    def found(self, kind: str) -> set[Place]:
        return {
            place
            for place in self.all_places()
            if place not in self.status and not self.is_ghost(place) and self.kind(place) == kind
        }

    def is_finished(self) -> bool:
        kinds = {self.status.get(place) or self.kind(place) for place in self.all_places()}
        return kinds <= {"succeeded", "skipped", "empty"}


def _check(run: Run, found: Frontier) -> None:
    reference = Reference(run)
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


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32))
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


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32))
def test_the_same_graph_read_twice_has_the_same_hash(seed: int) -> None:
    content = random_document(random.Random(seed))

    assert parse(content).graph_hash == parse(random_document(random.Random(seed))).graph_hash
