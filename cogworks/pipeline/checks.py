"""Which graphs cannot run: every rule a pipeline is checked against before anything starts.

Every node has a path to a terminal node once no cycle is left, so that rule needs no check of its own. Where names do
not resolve, or a cycle is left, the checks that would only guess (reachability, inputs, loops) are not made.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet

from cogworks.pipeline.elements import MAX_EDGES, MAX_NODES, MAX_REWORK_EDGES, Edge, Node, Rework
from cogworks.pipeline.graph import Pipeline, topological_order
from cogworks.toml_text import meant
from cogworks.vocabulary import NodeId

CLASSIFICATION = "classification"
"""The output slot whose field `pipeline` names the pipeline that the run goes on with."""


def problems_of(pipeline: Pipeline) -> tuple[str, ...]:
    """Everything that keeps a graph from running, in the order of the rules; none = it can run.

    Takes graphs that name unknown nodes or repeat an id: that is what it is for.
    """
    if not pipeline.nodes:
        return ("has no nodes; declare at least one with [[…nodes]]",)
    # Before all other rules: they walk the whole graph.
    if too_big := tuple(_sizes(pipeline)):
        return too_big
    problems = [problem for rule in _NAMES for problem in rule(pipeline)]
    # Cycles are looked for also where names are wrong: both are reported at once.
    cycles = list(_cycles(pipeline))
    problems += _orphans(pipeline)
    problems += cycles
    problems += [problem for rule in _LOCAL for problem in rule(pipeline)]
    if not problems:
        problems = [problem for rule in _WHOLE for problem in rule(pipeline)]
    return tuple(problems)


def choice_problems(pipelines: Mapping[str, Pipeline], default: str) -> tuple[str, ...]:
    """Why the first node of the default pipeline may not choose among these: they have to begin with that very node.

    None where it chooses none, because there is one pipeline or its output has no `classification`.
    """
    first = pipelines[default]
    start = first.node(first.start)
    if len(pipelines) == 1 or CLASSIFICATION not in start.outputs:
        return ()
    # The first node has run by the time it chooses: what begins otherwise would have to run another one.
    required = f"the {start.id!r} of pipeline {default!r}, whose output {CLASSIFICATION!r} chooses among the pipelines"
    problems: list[str] = []
    for name, pipeline in pipelines.items():
        if pipeline.start != first.start:
            problems.append(f"pipelines.{name}: `start` is {pipeline.start!r}, wanted {required}")
        elif pipeline.node(pipeline.start).outputs != start.outputs:
            outputs = ", ".join(pipeline.node(pipeline.start).outputs) or "none"
            problems.append(
                f"pipelines.{name}: `outputs` of its start {pipeline.start!r} are {outputs}, wanted "
                f"{', '.join(start.outputs)} as of {required}"
            )
    return tuple(problems)


def warnings_of(pipeline: Pipeline) -> tuple[str, ...]:
    """What can run but was probably not meant; only for a graph without problems."""
    warnings: list[str] = []
    for node in pipeline.nodes:
        edges = pipeline.edges_from(node.id)
        # Only there an edge without a condition keeps later ones from ever being looked at.
        if node.evaluation != "first-matching":
            continue
        always = next((index for index, edge in enumerate(edges) if edge.condition is None), len(edges))
        warnings += (
            f"edge {edge.id!r}: never taken, because {edges[always].id!r} before it has no condition; "
            f"move it up or give that one a `condition`"
            for edge in edges[always + 1 :]
        )
    return tuple(warnings)


def _sizes(pipeline: Pipeline) -> Iterable[str]:
    if len(pipeline.nodes) > MAX_NODES:
        yield f"has {len(pipeline.nodes)} nodes, at most {MAX_NODES} are allowed; split it into several pipelines"
    if len(pipeline.edges) > MAX_EDGES:
        yield f"has {len(pipeline.edges)} edges, at most {MAX_EDGES} are allowed; split it into several pipelines"

    loops = sum(edge.rework is not None for edge in pipeline.edges)
    if loops > MAX_REWORK_EDGES:
        yield f"has {loops} rework edges, at most {MAX_REWORK_EDGES} are allowed; split it into several pipelines"


def _repeated_nodes(pipeline: Pipeline) -> Iterable[str]:
    for node_id, count in Counter(node.id for node in pipeline.nodes).items():
        if count > 1:
            yield f"node {node_id!r} is declared {count} times; give each its own `id`"


def _repeated_edges(pipeline: Pipeline) -> Iterable[str]:
    for edge_id, count in Counter(edge.id for edge in pipeline.edges).items():
        if count > 1:
            yield f"edge {edge_id!r} is declared {count} times; give each its own `id`"


def _unknown_nodes(pipeline: Pipeline) -> Iterable[str]:
    known = {str(node.id): None for node in pipeline.nodes}
    if pipeline.start not in known:
        yield f"`start` is {pipeline.start!r}, which is not a node{meant(pipeline.start, known)}"
    for edge in pipeline.edges:
        for key, node_id in (("source", edge.source), ("target", edge.target)):
            if node_id not in known:
                yield f"edge {edge.id!r}: `{key}` is {node_id!r}, which is not a node{meant(node_id, known)}"


def _orphans(pipeline: Pipeline) -> Iterable[str]:
    if len(pipeline.nodes) == 1:
        return
    used = {node_id for edge in pipeline.edges for node_id in (edge.source, edge.target)}
    for node_id in dict.fromkeys(node.id for node in pipeline.nodes):
        if node_id not in used:
            yield f"node {node_id!r} has no edges; connect it or remove it"


def _cycles(pipeline: Pipeline) -> Iterable[str]:
    known = dict.fromkeys(node.id for node in pipeline.nodes)
    forward = [
        edge
        for edge in pipeline.edges
        if edge.rework is None and edge.source in known and edge.target in known
    ]
    # Cycle by cycle: one that hangs on a cycle already reported would only be reported twice.
    while looping := _left_over(list(known), forward):
        # Reversed: of several edges a dict keeps the last, and the report goes by the first in the file.
        following = {
            edge.source: edge.target for edge in reversed(forward) if {edge.source, edge.target} <= looping
        }
        reported: set[NodeId] = set()
        for start in (node_id for node_id in known if node_id in looping):
            cycle = () if start in reported else _cycle_from(start, following, reported)
            if cycle:
                shown = " -> ".join([*cycle, cycle[0]])
                yield f"cycle {shown} never ends; give the edge that goes back `rework = {{ max_traversals = … }}`"
                reported.update(cycle)
        forward = [edge for edge in forward if edge.source not in reported and edge.target not in reported]


def _cycle_from(
    start: NodeId, following: Mapping[NodeId, NodeId], reported: AbstractSet[NodeId]
) -> tuple[NodeId, ...]:
    """The cycle that the way from here runs into; none where it is one that was reported already."""
    path = {start: None}
    at = following[start]
    while at not in path:
        if at in reported:
            return ()
        path[at] = None
        at = following[at]
    return tuple(itertools.dropwhile(lambda node_id: node_id != at, path))


def _left_over(node_ids: list[NodeId], forward: list[Edge]) -> frozenset[NodeId]:
    """The nodes on a cycle or between two."""
    behind = set(node_ids) - set(topological_order(node_ids, forward))
    if not behind:
        return frozenset()
    # Sorted from the other end as well: what only hangs behind a cycle is then in order.
    turned = [edge.model_copy(update={"source": edge.target, "target": edge.source}) for edge in forward]
    return frozenset(behind - set(topological_order(node_ids, turned)))


def _evaluations(pipeline: Pipeline) -> Iterable[str]:
    # That an id is declared twice is reported already.
    for node in {node.id: node for node in pipeline.nodes}.values():
        edges = pipeline.edges_from(node.id)
        if len(edges) > 1 and node.evaluation is None:
            yield (
                f"node {node.id!r}: `evaluation` is missing, and {len(edges)} edges leave the node; "
                "say first-matching, all-matching or explicit"
            )
        if node.evaluation == "explicit":
            yield from _explicit(node, edges)
        elif node.next_edges:
            yield f'node {node.id!r}: `next_edges` is for evaluation = "explicit" only; remove it'


def _explicit(node: Node, edges: tuple[Edge, ...]) -> Iterable[str]:
    leaving = [str(edge.id) for edge in edges]
    if not node.next_edges:
        yield f"node {node.id!r}: `next_edges` is missing; list the edges its output may choose from"
    for edge_id in node.next_edges:
        if edge_id not in leaving:
            yield (
                f"node {node.id!r}: `next_edges` holds {edge_id!r}, which does not leave the node"
                f"{meant(edge_id, leaving)}"
            )
    for edge in edges:
        if edge.condition is not None:
            yield f"edge {edge.id!r}: `condition` has no say, because node {node.id!r} chooses explicitly; remove it"


def _shift_work(pipeline: Pipeline) -> Iterable[str]:
    known = [str(node.id) for node in pipeline.nodes]
    for of, node_id in pipeline.shift_work.items():
        if node_id not in known:
            yield f"`shift_work.{of}` is {node_id!r}, which is not a node{meant(node_id, known)}"


def _start_scope(pipeline: Pipeline) -> Iterable[str]:
    if pipeline.is_sub_item(pipeline.start):
        yield f"`start` is {pipeline.start!r}, a per-sub-item node; start with a node that runs once and plans them"


def _unreachable(pipeline: Pipeline) -> Iterable[str]:
    reached = pipeline.downstream_of(pipeline.start) | {pipeline.start}
    for node in pipeline.nodes:
        if node.id not in reached:
            yield f"node {node.id!r} cannot be reached from {pipeline.start!r}; add an edge to it or remove it"


def _scopes(pipeline: Pipeline) -> Iterable[str]:
    for edge in pipeline.edges:
        if (
            edge.rework is None
            and edge.source in pipeline.after_sub_items
            and pipeline.is_sub_item(edge.target)
        ):
            yield (
                f"edge {edge.id!r} leads from {edge.source!r}, which joins the sub-items, back into them; "
                f'give {edge.target!r} scope = "item" or {edge.source!r} scope = "sub-item"'
            )


def _loops(pipeline: Pipeline) -> Iterable[str]:
    for edge in pipeline.edges:
        if edge.rework is not None:
            yield from _loop(pipeline, edge, edge.rework)


def _loop(pipeline: Pipeline, edge: Edge, rework: Rework) -> Iterable[str]:
    span = pipeline.span_of(edge)
    if not span:
        yield (
            f"edge {edge.id!r}: `rework` is for edges that go back, and no path leads from {edge.target!r} to "
            f"{edge.source!r}; remove `rework`"
        )
        return
    if len({pipeline.node(node_id).scope for node_id in span}) > 1:
        yield (
            f"edge {edge.id!r}: the loop {' -> '.join(span)} crosses between per-item and per-sub-item nodes; "
            "go back to a node of the same scope"
        )
    slots = [slot for node_id in span for slot in pipeline.node(node_id).outputs]
    for slot in rework.preserve:
        if slot not in slots:
            yield f"edge {edge.id!r}: `preserve` holds {slot!r}, which no node of the loop puts out{meant(slot, slots)}"
    yield from _overflow(pipeline, edge, rework)


def _crossing_loops(pipeline: Pipeline) -> Iterable[str]:
    """Two loops that share a node are walked one at a time only if one's source waits for the other's."""
    loops = [(edge, pipeline.span_of(edge)) for edge in pipeline.edges if edge.rework is not None]
    for (one, inside), (other, others) in itertools.combinations(loops, 2):
        if pipeline.leads_to(one.source, other.source) or pipeline.leads_to(other.source, one.source):
            continue
        shared = next((node_id for node_id in inside if node_id in others), None)
        if shared is not None:
            yield (
                f"edges {one.id!r} and {other.id!r} both go back over {shared!r} and could do so at the same time; "
                f"lead {one.source!r} and {other.source!r} to one node that goes back"
            )


def _overflow(pipeline: Pipeline, edge: Edge, rework: Rework) -> Iterable[str]:
    onward = [str(forward.id) for forward in pipeline.forward_from(edge.source)]
    if rework.overflow != "take-edge":
        if rework.overflow_edge is not None:
            yield f'edge {edge.id!r}: `overflow_edge` is for overflow = "take-edge" only; remove it'
    elif rework.overflow_edge is None:
        yield f"edge {edge.id!r}: `overflow_edge` is missing; name the edge to take when the loop is used up"
    elif rework.overflow_edge not in onward:
        yield (
            f"edge {edge.id!r}: `overflow_edge` is {rework.overflow_edge!r}, wanted an edge that leads on from "
            f"{edge.source!r}{meant(rework.overflow_edge, onward)}"
        )


def _inputs(pipeline: Pipeline) -> Iterable[str]:
    spans = [frozenset(pipeline.span_of(edge)) for edge in pipeline.edges if edge.rework is not None]
    producers: dict[str, set[NodeId]] = {}
    for node in pipeline.nodes:
        for slot in node.outputs:
            producers.setdefault(slot, set()).add(node.id)
    for node in pipeline.nodes:
        for slot in node.inputs:
            made_by = producers.get(slot, set())
            if pipeline.can_read(node.id, slot):
                continue
            # What comes from further down a loop is there on rework; that is meant so.
            if not any(node.id in span and not span.isdisjoint(made_by) for span in spans):
                hint = "" if made_by else meant(slot, producers)
                yield f"node {node.id!r}: `inputs` holds {slot!r}, which no node before it puts out{hint}"


_Rule = Callable[[Pipeline], Iterable[str]]
_NAMES: tuple[_Rule, ...] = (_repeated_nodes, _repeated_edges, _unknown_nodes)
_LOCAL: tuple[_Rule, ...] = (_evaluations, _shift_work)
_WHOLE: tuple[_Rule, ...] = (_start_scope, _unreachable, _scopes, _loops, _crossing_loops, _inputs)
