"""The parts of a pipeline graph: nodes, edges, conditions, settings, the limits no file can lift, and places of visits."""

from typing import Annotated, Literal, NamedTuple, NewType

from pydantic import Field

from cogworks.vocabulary import NodeId, SubItemKey, Value

EdgeId = NewType("EdgeId", str)
"""An edge of one pipeline, unique in it, e.g. `review_to_code_generation`."""

MAX_VISITS_PER_RUN = 1_000
"""No run executes more node visits than this, whatever its file says."""
MAX_TRAVERSALS = 20
"""No rework edge is walked more often than this per run and sub-item, whatever the file says."""
# Far beyond what people draw: they keep a file from using up time and memory before it is refused.
MAX_NODES = 2_000
MAX_EDGES = 8_000
MAX_REWORK_EDGES = 200

Scope = Literal["item", "sub-item"]
NodeType = Literal["llm", "deterministic", "spawning"]
Gate = Literal["auto-proceed", "human-gated"]
WorkClass = Literal["safety-critical", "standard", "low-risk"]
"""What a shift-work boundary goes by: derived from the classification, `standard` before there is one."""
Evaluation = Literal["first-matching", "all-matching", "explicit"]
Validation = Literal["none", "domain-service"]
Method = Literal["builtin", "domain_service", "script"]
Overflow = Literal["halt", "escalate", "take-edge"]


class Instance(NamedTuple):
    """One place of a run where a node can be visited: a node, and the sub-item it works for if it is per sub-item."""

    node: NodeId
    sub_item: SubItemKey | None = None


class EdgeRef(NamedTuple):
    """One edge as one source instance decides it; `sub_item` is the sub-item of the *source*."""

    edge: EdgeId
    sub_item: SubItemKey | None = None


class SubItem(Value):
    """A sub-work-item as the scheduler needs it."""

    key: SubItemKey
    depends_on: tuple[SubItemKey, ...] = ()


class ExpressionCondition(Value):
    """True when the expression is, over the JSON view of the run."""

    kind: Literal["expr"] = "expr"
    expr: str
    """In the canonical spelling `conditions.print_expression` gives it."""


class ModelCondition(Value):
    """True when the model says so; `fallback` decides when it gives no usable answer."""

    kind: Literal["llm"] = "llm"
    question: str
    fallback: bool


class AllOf(Value):
    """True when every member is."""

    kind: Literal["all"] = "all"
    conditions: "tuple[Condition, ...]"


class AnyOf(Value):
    """True when at least one member is."""

    kind: Literal["any"] = "any"
    conditions: "tuple[Condition, ...]"


class Negation(Value):
    """True when its condition is not."""

    kind: Literal["not"] = "not"
    condition: "Condition"


Condition = Annotated[
    ExpressionCondition | ModelCondition | AllOf | AnyOf | Negation, Field(discriminator="kind")
]


Fallback = Literal["", "timeout", "api_error", "ambiguous", "unparseable"]


class ConditionAnswer(Value):
    """What became of one question to a model; recorded before it is acted on, and never asked again."""

    question: str
    answer: bool | None
    """None: no usable answer, the condition's fallback decides."""
    fallback: Fallback = ""
    """Why the fallback decides; empty = the model answered."""
    why: str = ""
    """The model's reason, or what went wrong."""
    model_id: str = ""


DIVISION = "division"
"""The built-in node that proposes how to divide an issue, and what it puts out."""
PARTS = "parts"
"""What the node puts out that creates the issues of a division."""


class Node(Value):
    """One kind of work of a pipeline."""

    id: NodeId
    type: NodeType
    scope: Scope = "item"
    """`sub-item`: visited once per sub-work-item."""
    title: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    gate: Gate | None = None
    """None: the pipeline's shift-work boundary decides; without one, auto-proceed."""
    produces_code: bool = False
    """A safety-critical item forces a human gate on such nodes."""
    slug: str | None = None
    """Last part of the branch it publishes to; `-<ordinal>` is added per sub-item."""
    timeout_seconds: int | None = None
    cost_budget_usd: float | None = None
    max_retries: int | None = None
    """Answers of the model beyond the first: those refused before this many are used up are asked for again."""
    combined: bool = False
    """The built-in review: one question about all its sides instead of one about each."""
    validation: Validation = "none"
    """Of the files that a node with a prompt writes."""
    evaluation: Evaluation | None = None
    next_edges: tuple[EdgeId, ...] = ()
    """Explicit evaluation: the edges its output field `next_edges` may name."""
    abort_siblings_on_failure: bool = False
    method: Method | None = None
    """Deterministic nodes (and spawning nodes decided by a script)."""
    call: str | None = None
    """What the method calls: a built-in, a domain-service method, or a script; none = the node's id."""
    prompt: str | None = None
    """A prompt of the repository; none = the built-in procedure named like the node."""
    output_schema: str | None = None
    """The JSON Schema of the output, `schema` in the file."""
    issue_template: str | None = None
    labels: tuple[str, ...] = ()
    link: bool = True
    """Spawned issues refer to the work item."""

    @property
    def is_proposal(self) -> bool:
        """Whether its result is a proposal and nothing else: who rejects it with a reason wants another one."""
        return self.type == "llm" and self.prompt is None and self.id == DIVISION


class Rework(Value):
    """What makes an edge a loop back that ends."""

    max_traversals: int
    """At least 1, at most MAX_TRAVERSALS; counted per run and sub-item, never reset."""
    preserve: tuple[str, ...] = ()
    """Output slots that survive the traversal and are handed to the repeated nodes."""
    overflow: Overflow = "escalate"
    overflow_edge: EdgeId | None = None
    """The edge taken instead when `overflow` is `take-edge`."""


class Edge(Value):
    """A way from one node to another; taken when its condition holds (none = always)."""

    id: EdgeId
    source: NodeId
    target: NodeId
    condition: Condition | None = None
    rework: Rework | None = None


class Settings(Value):
    """Limits of one pipeline."""

    default_timeout_seconds: int | None = None
    default_cost_budget_usd: float | None = None
    max_node_retries: int | None = None
    """For nodes that say nothing of `max_retries` themselves."""
    max_concurrent_llm_calls: int = 3
    cost_budget_usd: float | None = None
    """For the whole run; None = what `config.toml` says."""
    parallel_sub_items: bool = True
    """False: nodes of two sub-items never run at the same time."""


# A routing visit of `review` for sub-item A has the instance `review-routing@A`. No node id of a file holds a '-', so the name
# is free, and it is fit for a folder, a label and a shell.
_ROUTING = "-routing"


def routing_of(place: Instance) -> Instance:
    """The visit that asks a model where this node leads."""
    return Instance(NodeId(place.node + _ROUTING), place.sub_item)


def is_routing(at: Instance) -> bool:
    """Whether it is a visit that decides edges, and none of a node."""
    return at.node.endswith(_ROUTING)


def place_of(at: Instance) -> Instance:
    """The place in the graph a visit belongs to: for a routing visit the node whose edges it decides."""
    return Instance(NodeId(at.node.removesuffix(_ROUTING)), at.sub_item)
