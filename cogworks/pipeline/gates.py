"""Which nodes a person has to pass: a node's own gate, the safety override, and the shift-work boundary."""

from cogworks.pipeline.elements import Gate, Node, WorkClass
from cogworks.pipeline.graph import Pipeline
from cogworks.vocabulary import NodeId

WORK_CLASSES: tuple[WorkClass, ...] = ("safety-critical", "standard", "low-risk")


def work_class(*, safety_critical: bool, complexity: str) -> WorkClass:
    """How closely people look at an item.

    Args:
        complexity: `estimated_scope.complexity` of the classification; empty before there is one.
    """
    if safety_critical:
        return "safety-critical"
    return "low-risk" if complexity == "low" else "standard"


def gate_of(pipeline: Pipeline, node: Node, of: WorkClass) -> Gate:
    """The gate of a node for an item of this class.

    A safety-critical item gates whatever produces code, then a node's own gate counts, then the boundary.
    """
    if of == "safety-critical" and node.produces_code:
        return "human-gated"
    if node.gate is not None:
        return node.gate
    return "human-gated" if node.id in pipeline.up_to_boundary.get(of, ()) else "auto-proceed"


def gated_nodes(pipeline: Pipeline, of: WorkClass) -> frozenset[NodeId]:
    """Every node a person has to pass for an item of this class."""
    return frozenset(node.id for node in pipeline.nodes if gate_of(pipeline, node, of) == "human-gated")


def boundary_line(pipeline: Pipeline, of: WorkClass) -> str:
    """The shift-work boundary in one sentence for people; empty where the pipeline has none."""
    if not pipeline.shift_work:
        return ""
    boundary = pipeline.shift_work.get(of)
    if boundary is None:
        return f"{of}: no boundary; only nodes with a gate of their own wait for people"
    return f"{of}: people look at results up to {pipeline.node(boundary).title}; after it the machine goes on"
