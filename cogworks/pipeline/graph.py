"""What a pipeline is, and the questions a run asks about its shape.

The hash of a graph as a ledger keeps it, also where an earlier cogworks wrote it.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator

from cogworks.canonical import canonical, sha256
from cogworks.errors import UsageError
from cogworks.pipeline.elements import (
    MAX_EDGES,
    MAX_NODES,
    MAX_REWORK_EDGES,
    MAX_TRAVERSALS,
    MAX_VISITS_PER_RUN,
    AllOf,
    AnyOf,
    Condition,
    Edge,
    EdgeId,
    EdgeRef,
    Evaluation,
    ExpressionCondition,
    Gate,
    Instance,
    Method,
    ModelCondition,
    Negation,
    Node,
    NodeType,
    Overflow,
    Rework,
    Scope,
    Settings,
    SubItem,
    Validation,
    WorkClass,
)
from cogworks.vocabulary import NodeId

# The parts come from `elements`; code that works with a graph finds them beside it.
__all__ = [
    "MAX_EDGES",
    "MAX_NODES",
    "MAX_REWORK_EDGES",
    "MAX_TRAVERSALS",
    "MAX_VISITS_PER_RUN",
    "AllOf",
    "AnyOf",
    "Condition",
    "Edge",
    "EdgeId",
    "EdgeRef",
    "Evaluation",
    "ExpressionCondition",
    "Gate",
    "Instance",
    "Method",
    "ModelCondition",
    "Negation",
    "Node",
    "NodeType",
    "Overflow",
    "Pipeline",
    "PipelineConfiguration",
    "Rework",
    "Scope",
    "Settings",
    "SubItem",
    "Validation",
    "WorkClass",
    "topological_order",
]


@dataclass(frozen=True)
class Pipeline:
    """A checked graph; every method answers for forward edges only unless it says otherwise."""

    name: str
    start: NodeId
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    settings: Settings = field(default_factory=Settings)
    description: str = ""
    shift_work: Mapping[WorkClass, NodeId] = field(default_factory=dict)
    """Class of item -> the last node whose result people look at where it declares no gate of its own."""

    def node(self, node_id: NodeId) -> Node:
        """The node of that id; KeyError when the graph has none."""
        return self._nodes[node_id]

    def edge(self, edge_id: EdgeId) -> Edge:
        """The edge of that id, rework edges included; KeyError when the graph has none."""
        return self._edges[edge_id]

    def title_of(self, node_id: NodeId) -> str:
        """What people call a node; its id where the graph has no such node."""
        node = self._nodes.get(node_id)
        return node_id if node is None else node.title

    def has(self, node_id: NodeId) -> bool:
        """Whether the graph has a node of that id."""
        return node_id in self._nodes

    def edges_from(self, node_id: NodeId) -> tuple[Edge, ...]:
        """All edges that leave a node, rework edges included, in declared order."""
        return self._leaving.get(node_id, ())

    def forward_from(self, node_id: NodeId) -> tuple[Edge, ...]:
        """The edges that lead on from a node, in declared order; none makes it terminal."""
        return self._forward_leaving.get(node_id, ())

    def forward_to(self, node_id: NodeId) -> tuple[Edge, ...]:
        """The edges a node waits for, in declared order."""
        return self._entering.get(node_id, ())

    def is_sub_item(self, node_id: NodeId) -> bool:
        """Whether the node is visited once per sub-item."""
        return self._nodes[node_id].scope == "sub-item"

    def downstream_of(self, node_id: NodeId) -> frozenset[NodeId]:
        """Every node a path leads to from here, without the node itself."""
        return frozenset(_reachable(node_id, lambda at: (edge.target for edge in self.forward_from(at))))

    def upstream_of(self, node_id: NodeId) -> frozenset[NodeId]:
        """Every node from which a path leads here, without the node itself."""
        return frozenset(_reachable(node_id, lambda at: (edge.source for edge in self.forward_to(at))))

    def span_of(self, rework: Edge) -> tuple[NodeId, ...]:
        """The nodes a rework edge repeats, in topological order: its target, its source and all between them."""
        # In topological order nothing of the loop stands outside of the stretch between its two ends.
        first, last = self._position[rework.target], self._position[rework.source]
        between = self._downstream[rework.target] & self._upstream[rework.source]
        window = enumerate(self.topological_order[first : last + 1], first)
        return tuple(node_id for at, node_id in window if between >> at & 1)

    def leads_to(self, source: NodeId, target: NodeId) -> bool:
        """Whether a path leads from one node to another; every node leads to itself."""
        return bool(self._upstream[target] >> self._position[source] & 1)

    def required_inputs(self, node_id: NodeId) -> tuple[str, ...]:
        """The declared inputs that must be there at the first visit.

        The others come only from nodes further down a rework loop: absent at first, present on rework.
        """
        return tuple(slot for slot in self.node(node_id).inputs if self.can_read(node_id, slot))

    def can_read(self, node_id: NodeId, slot: str) -> bool:
        """Whether a node upstream of this one puts out the slot."""
        position = self._slots.get(slot)
        return position is not None and bool(self._slots_upstream[node_id] >> position & 1)

    def timeout_seconds(self, node_id: NodeId) -> int | None:
        """The node's own time-out, else the pipeline's default."""
        own = self.node(node_id).timeout_seconds
        return self.settings.default_timeout_seconds if own is None else own

    def cost_budget_usd(self, node_id: NodeId) -> float | None:
        """The node's own budget, else the pipeline's default."""
        own = self.node(node_id).cost_budget_usd
        return self.settings.default_cost_budget_usd if own is None else own

    def max_retries(self, node_id: NodeId) -> int | None:
        """How many answers beyond the first the node says, else the pipeline; None = neither says anything."""
        own = self.node(node_id).max_retries
        return self.settings.max_node_retries if own is None else own

    @cached_property
    def topological_order(self) -> tuple[NodeId, ...]:
        """Every node after all it waits for; declared order where that leaves a choice."""
        return topological_order(
            (node.id for node in self.nodes), (e for e in self.edges if e.rework is None)
        )

    @cached_property
    def sub_item_exits(self) -> tuple[NodeId, ...]:
        """The per-sub-item nodes with no further per-sub-item node after them: a sub-item is done when they are."""
        return tuple(
            node.id
            for node in self.nodes
            if node.scope == "sub-item"
            and not any(self.is_sub_item(edge.target) for edge in self.forward_from(node.id))
        )

    @cached_property
    def after_sub_items(self) -> frozenset[NodeId]:
        """The per-item nodes that wait, directly or not, for per-sub-item nodes."""
        later: set[NodeId] = set()
        for node_id in self.topological_order:
            sources = [edge.source for edge in self.forward_to(node_id)]
            if not self.is_sub_item(node_id) and any(s in later or self.is_sub_item(s) for s in sources):
                later.add(node_id)
        return frozenset(later)

    @cached_property
    def repeats(self) -> Mapping[NodeId, tuple[NodeId, ...]]:
        """Node from which loops lead back -> the other nodes that they repeat, in topological order."""
        spans: dict[NodeId, set[NodeId]] = {}
        for edge in self.edges:
            if edge.rework is not None:
                spans.setdefault(edge.source, set()).update(self.span_of(edge))
        return {
            source: tuple(at for at in self.topological_order if at in span and at != source)
            for source, span in spans.items()
        }

    @cached_property
    def up_to_boundary(self) -> Mapping[WorkClass, frozenset[NodeId]]:
        """Class of item -> its shift-work boundary and every node before that."""
        return {of: self.upstream_of(last) | {last} for of, last in self.shift_work.items()}

    @cached_property
    def graph_hash(self) -> str:
        """64 hex digits: the same for graphs that behave alike, however the file was written.

        Titles, descriptions, the pipeline's name, budgets and time limits, which may be raised while it runs, and how a review is asked for do not count; the order of
        nodes and edges does, because it breaks ties.
        """
        document = self.as_json()
        for ignored in ("name", "description"):
            del document[ignored]
        for limit in ("cost_budget_usd", "default_cost_budget_usd", "default_timeout_seconds"):
            del document["settings"][limit]
        for node in document["nodes"]:
            del node["title"], node["cost_budget_usd"], node["timeout_seconds"], node["combined"]
        if not self.shift_work:
            # Where nothing else decides, an undeclared gate is an open one.
            del document["shift_work"]
            for node in document["nodes"]:
                node["gate"] = node["gate"] or "auto-proceed"
        return sha256(canonical(document))

    def as_json(self) -> dict[str, Any]:
        """The whole graph as plain JSON values, defaults filled in."""
        return {
            "name": self.name,
            "description": self.description,
            "start": self.start,
            "settings": self.settings.model_dump(mode="json"),
            "shift_work": dict(self.shift_work),
            "nodes": [node.model_dump(mode="json") for node in self.nodes],
            "edges": [edge.model_dump(mode="json") for edge in self.edges],
        }

    @cached_property
    def _position(self) -> dict[NodeId, int]:
        return {node_id: at for at, node_id in enumerate(self.topological_order)}

    # Bit sets by position: as sets of names, a thousand nodes in a row would hold half a million entries.

    @cached_property
    def _upstream(self) -> dict[NodeId, int]:
        """Every node a path leads from, and the node itself."""
        sets: dict[NodeId, int] = {}
        for at, node_id in enumerate(self.topological_order):
            sets[node_id] = 1 << at
            for edge in self.forward_to(node_id):
                sets[node_id] |= sets[edge.source]
        return sets

    @cached_property
    def _downstream(self) -> dict[NodeId, int]:
        """Every node a path leads to, and the node itself."""
        sets: dict[NodeId, int] = {}
        for node_id in reversed(self.topological_order):
            sets[node_id] = 1 << self._position[node_id]
            for edge in self.forward_from(node_id):
                sets[node_id] |= sets[edge.target]
        return sets

    @cached_property
    def _slots(self) -> dict[str, int]:
        names = dict.fromkeys(slot for node in self.nodes for slot in node.outputs)
        return {slot: position for position, slot in enumerate(names)}

    @cached_property
    def _slots_upstream(self) -> dict[NodeId, int]:
        available: dict[NodeId, int] = {}
        for node_id in self.topological_order:
            available[node_id] = 0
            for edge in self.forward_to(node_id):
                available[node_id] |= available[edge.source]
                for slot in self.node(edge.source).outputs:
                    available[node_id] |= 1 << self._slots[slot]
        return available

    @cached_property
    def _nodes(self) -> dict[NodeId, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def _edges(self) -> dict[EdgeId, Edge]:
        return {edge.id: edge for edge in self.edges}

    @cached_property
    def _leaving(self) -> dict[NodeId, tuple[Edge, ...]]:
        return _grouped((edge.source, edge) for edge in self.edges)

    @cached_property
    def _forward_leaving(self) -> dict[NodeId, tuple[Edge, ...]]:
        return _grouped((edge.source, edge) for edge in self.edges if edge.rework is None)

    @cached_property
    def _entering(self) -> dict[NodeId, tuple[Edge, ...]]:
        return _grouped((edge.target, edge) for edge in self.edges if edge.rework is None)


@dataclass(frozen=True)
class PipelineConfiguration:
    """Every pipeline of one file."""

    source: str
    """What the file is called in messages."""
    pipelines: Mapping[str, Pipeline]
    default: str
    """The pipeline that runs until a node's output names another."""
    warnings: tuple[str, ...] = ()
    """Not errors, but probably not meant; `graph check` shows them."""
    are_lanes: bool = False
    """They are the built-in ones: people choose among them, and what the first node puts out names none."""

    def choose(self, name: str | None = None) -> Pipeline:
        """The pipeline of that name (None: the default).

        Raises:
            UsageError: there is none; the text lists those that exist.
        """
        chosen = self.default if name is None else name
        if chosen not in self.pipelines:
            known = ", ".join(repr(known) for known in self.pipelines)
            raise UsageError(
                f"{self.source} has no pipeline {chosen!r}; it has {known}. Name one of them or add it."
            )
        return self.pipelines[chosen]


def topological_order(node_ids: Iterable[NodeId], forward: Iterable[Edge]) -> tuple[NodeId, ...]:
    """Every node after the sources of its edges, ties in the order given; nodes on or behind a cycle are left out."""
    position = {node_id: index for index, node_id in enumerate(node_ids)}
    waiting = dict.fromkeys(position, 0)
    targets: dict[NodeId, list[NodeId]] = {}
    for edge in forward:
        waiting[edge.target] += 1
        targets.setdefault(edge.source, []).append(edge.target)
    # A heap by place in the file: the given order stays wherever the edges leave a choice.
    free = [(index, node_id) for node_id, index in position.items() if not waiting[node_id]]
    ordered: list[NodeId] = []
    while free:
        _, node_id = heapq.heappop(free)
        ordered.append(node_id)
        for target in targets.get(node_id, ()):
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(free, (position[target], target))
    return tuple(ordered)


def _grouped(pairs: Iterable[tuple[NodeId, Edge]]) -> dict[NodeId, tuple[Edge, ...]]:
    groups: dict[NodeId, list[Edge]] = {}
    for node_id, edge in pairs:
        groups.setdefault(node_id, []).append(edge)
    return {node_id: tuple(edges) for node_id, edges in groups.items()}


def _reachable(start: NodeId, neighbours: Callable[[NodeId], Iterable[NodeId]]) -> set[NodeId]:
    reached: set[NodeId] = set()
    # No recursion: a row of `MAX_NODES` nodes is deeper than Python goes.
    waiting = [start]
    while waiting:
        for neighbour in neighbours(waiting.pop()):
            if neighbour not in reached:
                reached.add(neighbour)
                waiting.append(neighbour)
    return reached


_DEFAULT = "04f66570c2f9d592b2d650649393d7b03afe103d398d18f1060513c1e87af587"
_SMALL = "66d48ff728082bcf6a38c2d8b15045022c80074cdad3e6875ccd2f0f93069d1e"
_SAME_GRAPHS: Mapping[str, str] = {
    # `default` before the keys that nothing obeyed were taken out of it: a run that began with it goes on.
    "1e5513acf5547710e687a37644458d0842fa1af2386397e0d65ef88e54ecd552": _DEFAULT,
    # Both before a review could send a change back for a fix that it gives: what it said till then sends nothing back.
    "37c289d3b25bd30fc8ebfc23f123a18f04ef2acd4b3d736b0d6e35df6074334c": _DEFAULT,
    "5932b285fa04b92030eb20567809b8198d2f5334bb2832d3f10712ac6b646328": _SMALL,
}


def as_today(graph_hash: str) -> str:
    """What `Pipeline.graph_hash` says today of the graph that had this hash when the ledger was written."""
    return _SAME_GRAPHS.get(graph_hash, graph_hash)


GraphHash = Annotated[str, AfterValidator(as_today)]
