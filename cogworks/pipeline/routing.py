"""Where a finished node leads: which of its edges are taken, which loop is walked again, and what that clears."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cogworks.pipeline.conditions import Ask, evaluate
from cogworks.pipeline.elements import MAX_TRAVERSALS, Edge, EdgeId, EdgeRef, Instance, Node, Overflow
from cogworks.pipeline.graph import Pipeline
from cogworks.vocabulary import NodeId, SubItemKey


class EdgeMark(StrEnum):
    """What became of a forward edge."""

    TAKEN = "taken"
    NOT_TAKEN = "not_taken"
    DEAD = "dead"
    """Its source was skipped. Dead marks need not be kept: the frontier derives them."""


@dataclass(frozen=True)
class EdgeVerdict:
    """What follows from one finished visit."""

    marks: Mapping[EdgeRef, EdgeMark] = field(default_factory=dict)
    """Every forward edge that leaves the node; empty for a terminal node and when a loop is walked or overflows."""
    rework: EdgeId | None = None
    """The rework edge to walk now; count the traversal and clear what `reopened_by` names."""
    overflow: Overflow | None = None
    """A rework edge had no traversal left. `take-edge`: `marks` says where it went instead."""
    overflowed: EdgeId | None = None
    """The rework edge that had none left."""
    dead_end: bool = False
    """Edges lead on from the node and none of them is taken: the run cannot go on."""
    evaluations: Mapping[EdgeId, bool] = field(default_factory=dict)
    """The conditions that were looked at, in order, for the audit trail."""


@dataclass(frozen=True)
class Reopened:
    """What one traversal of a rework edge undoes."""

    instances: tuple[Instance, ...]
    """These are visited again, in this order at the earliest."""
    edges: tuple[EdgeRef, ...]
    """The marks of these are forgotten."""


def out_edges_after(
    pipeline: Pipeline,
    instance: Instance,
    view: Mapping[str, Any],
    traversals: Mapping[EdgeRef, int],
    *,
    ask: Ask | None = None,
) -> EdgeVerdict:
    """Decide the edges of an instance whose node succeeded and whose gate is passed.

    A rework edge that holds wins over every forward edge that holds with it, because its source is going to be
    visited again. With `explicit` evaluation the node's own output chooses: the list `next_edges` in the first of
    its output slots that has one.

    Args:
        view: output slot -> output JSON, and `retry_count`; what the expressions read.
        traversals: how often each rework edge was walked in this run and sub-item so far; missing = never.
        ask: answers model-evaluated conditions.

    Raises:
        Undecided: a model-evaluated condition has to be decided and `ask` is None.
    """
    node = pipeline.node(instance.node)
    evaluations = evaluate_edges(pipeline, node.id, view, ask=ask)
    held = [edge for edge in pipeline.edges_from(node.id) if evaluations.get(edge.id)]
    # Going back wins: what leads on from here will be decided anew when this node has run again.
    loop = next((edge for edge in held if edge.rework is not None), None)
    taken = {edge.id for edge in held if edge.rework is None}
    if loop is None or loop.rework is None:
        return _onward(pipeline, instance, taken, evaluations)
    # A file may ask for fewer rounds than every run is allowed, never for more.
    limit = min(loop.rework.max_traversals, MAX_TRAVERSALS)
    if traversals.get(EdgeRef(loop.id, instance.sub_item), 0) < limit:
        return EdgeVerdict(rework=loop.id, evaluations=evaluations)
    marks: Mapping[EdgeRef, EdgeMark] = {}
    if loop.rework.overflow == "take-edge" and loop.rework.overflow_edge is not None:
        marks = _marks(pipeline, instance, taken | {loop.rework.overflow_edge})
    return EdgeVerdict(
        marks=marks, overflow=loop.rework.overflow, overflowed=loop.id, evaluations=evaluations
    )


def reopened_by(pipeline: Pipeline, rework_edge: EdgeId, sub_item: SubItemKey | None) -> Reopened:
    """What walking a rework edge clears: its target, its source and every node on a path between them.

    A branch that left the loop keeps its result; the edges into it are decided again when the loop comes by.
    Traversal counts are never cleared, so that every run ends.

    Raises:
        KeyError: the graph has no such edge.
    """
    span = pipeline.span_of(pipeline.edge(rework_edge))
    # Also those that leave the loop: what is behind them waits until the node was visited again.
    edges = (EdgeRef(edge.id, sub_item) for node_id in span for edge in pipeline.forward_from(node_id))
    return Reopened(instances=tuple(Instance(node_id, sub_item) for node_id in span), edges=tuple(edges))


def evaluate_edges(
    pipeline: Pipeline, node_id: NodeId, view: Mapping[str, Any], *, ask: Ask | None = None
) -> dict[EdgeId, bool]:
    """The edges of a node that were looked at, in declared order, and whether each holds.

    With `first-matching` nothing is looked at behind the first that holds.

    Raises:
        Undecided: as `out_edges_after`.
    """
    node = pipeline.node(node_id)
    edges = pipeline.edges_from(node.id)
    if node.evaluation == "explicit":
        chosen = _choice(node, view)
        return {edge.id: edge.id in chosen and edge.id in node.next_edges for edge in edges}
    results: dict[EdgeId, bool] = {}
    for edge in edges:
        results[edge.id] = evaluate(edge.condition, view, ask)
        if results[edge.id] and node.evaluation == "first-matching":
            break
    return results


def _choice(node: Node, view: Mapping[str, Any]) -> frozenset[str]:
    for slot in node.outputs:
        output = view.get(slot)
        named = output.get("next_edges") if isinstance(output, Mapping) else None
        # The first slot that names edges counts; a model may put anything into the others.
        if isinstance(named, list | tuple):
            return frozenset(name for name in named if isinstance(name, str))
    return frozenset()


def _onward(
    pipeline: Pipeline, instance: Instance, taken: set[EdgeId], evaluations: Mapping[EdgeId, bool]
) -> EdgeVerdict:
    dead_end = bool(pipeline.forward_from(instance.node)) and not taken
    return EdgeVerdict(marks=_marks(pipeline, instance, taken), dead_end=dead_end, evaluations=evaluations)


def _marks(pipeline: Pipeline, instance: Instance, taken: set[EdgeId]) -> dict[EdgeRef, EdgeMark]:
    edges: tuple[Edge, ...] = pipeline.forward_from(instance.node)
    return {
        EdgeRef(edge.id, instance.sub_item): EdgeMark.TAKEN if edge.id in taken else EdgeMark.NOT_TAKEN
        for edge in edges
    }
