"""How one edge is read from its table: condition, rework and all.

How one node is read from its table.

Keys of a pipeline file that are known by name and refused: a setting that is accepted is obeyed.

Each reason completes the sentence "`<key>` …" and ends with what to do instead.
"""

import re
from collections.abc import Mapping
from typing import Any, get_args

from cogworks.pipeline.elements import (
    MAX_TRAVERSALS,
    AllOf,
    AnyOf,
    Condition,
    Edge,
    EdgeId,
    Evaluation,
    ExpressionCondition,
    Gate,
    Method,
    ModelCondition,
    Negation,
    Node,
    NodeType,
    Overflow,
    Rework,
    Scope,
    Validation,
)
from cogworks.pipeline.expressions import ExpressionError, parse_expression, print_expression
from cogworks.toml_text import Shape, Table, shown
from cogworks.vocabulary import NodeId

_PROFILES = (
    "is not obeyed: cogworks 0.2 is to bring tool profiles for nodes; remove it. "
    "What Code Generation may do is limited by `.cogworks/policies/coding.toml`"
)

NOT_OBEYED_BY_FILES: Mapping[str, str] = {"tool_profiles": _PROFILES}
NOT_OBEYED_BY_PIPELINES: Mapping[str, str] = {
    "tool_profiles": _PROFILES,
    "default_tool_profile": _PROFILES,
}
NOT_OBEYED_BY_NODES: Mapping[str, str] = {
    "tool_profile": _PROFILES,
    "tool_overrides": _PROFILES,
    "alignment": (
        "is not obeyed: cogworks 0.2 is to compare a node's output with what was asked; remove it. "
        "Until then a human gate or Review does"
    ),
}
NOT_OBEYED_BY_REWORK: Mapping[str, str] = {
    "semantics": "says nothing that `preserve` does not say: a retry preserves nothing; remove it",
    "counter": "says nothing: every loop counts its own traversals up to `max_traversals`; remove it",
}


MAX_SECONDS = 7 * 24 * 3_600
MAX_USD = 10_000.0
MAX_RETRIES = 20

RESERVED = ("failed", "inputs", "sub_work_item")
"""Names that the program uses where a node's would stand: a label, the lease under which people are answered, a failure."""

# The label `cogworks:node:<id>` has at most 50 characters.
_NODE_ID = Shape(re.compile(r"[a-z][a-z0-9_]{0,35}"), "snake_case, at most 36 characters")
SLOT = Shape(
    re.compile(r"(?!retry_count$)[a-z][a-z0-9_]{0,39}"),
    "snake_case, at most 40 characters, not 'retry_count'",
)
_SLUG = Shape(re.compile(r"[a-z][a-z0-9-]{0,29}"), "small letters, digits and '-', at most 30 characters")
_CALL = Shape(
    re.compile(r"(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./-]{0,119}"), "a name or a relative path without '..'"
)
_FILE = Shape(re.compile(r"(?!.*\.\.)[A-Za-z0-9._][A-Za-z0-9._/-]{0,199}"), "a relative path without '..'")
_LABEL = Shape(re.compile(r"[^\s,][^,\r\n]{0,49}"), "a label of at most 50 characters without commas")


_ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "combined": ("llm",),
    "max_retries": ("llm", "spawning"),
    "prompt": ("llm", "spawning"),
    "schema": ("llm", "spawning"),
    "method": ("deterministic", "spawning"),
    "issue_template": ("spawning",),
    "labels": ("deterministic", "spawning"),
    "link": ("spawning",),
}


def read_node(table: Table, *, built_in: bool) -> Node:
    """The node a `[[…nodes]]` table declares; `built_in` files may run scripts."""
    table.need("id")
    node_id = table.text("id", _NODE_ID) or f"unnamed {table.where}"
    table.where += f" ({shown(node_id)[1:-1]})"
    if node_id in RESERVED:
        table.refuse("id", f"is {node_id!r}, which cogworks uses for itself; give the node another id")
    table.need("type")
    node_type: NodeType | None = table.choice("type", get_args(NodeType))
    node = Node(
        id=NodeId(node_id),
        type=node_type or "llm",
        scope=table.choice("scope", get_args(Scope)) or "item",
        title=table.text("title") or node_id.replace("_", " ").capitalize(),
        inputs=table.texts("inputs", SLOT),
        outputs=table.texts("outputs", SLOT),
        gate=table.choice("gate", get_args(Gate)),
        produces_code=table.boolean("produces_code") or False,
        slug=table.text("slug", _SLUG),
        timeout_seconds=table.integer("timeout_seconds", minimum=1, maximum=MAX_SECONDS),
        cost_budget_usd=table.number("cost_budget_usd", minimum=0, maximum=MAX_USD),
        max_retries=table.integer("max_retries", minimum=0, maximum=MAX_RETRIES),
        combined=table.boolean("combined") or False,
        validation=table.choice("validation", get_args(Validation)) or "none",
        evaluation=table.choice("evaluation", get_args(Evaluation)),
        next_edges=tuple(EdgeId(each) for each in table.texts("next_edges")),
        abort_siblings_on_failure=table.boolean("abort_siblings_on_failure") or False,
        **_work(table, node_type),
    )
    table.refuse_all(NOT_OBEYED_BY_NODES)
    table.close()
    if node.method == "script" and not built_in:
        table.refuse(
            "method", "is 'script', which only built-in pipelines may use; call a domain service instead"
        )
    return node


def _work(table: Table, node_type: NodeType | None) -> dict[str, Any]:
    """The keys that say what a node does, which differ by type."""
    for key, types in _ONLY_FOR.items():
        if key in table and node_type is not None and node_type not in types:
            table.refuse(
                key, f"is for {' and '.join(types)} nodes only, and this one is {node_type}; remove it"
            )
    link = table.boolean("link")
    work = {
        "method": table.choice("method", get_args(Method)),
        "call": table.text("call", _CALL),
        "prompt": table.text("prompt", _FILE),
        "output_schema": table.text("schema", _FILE),
        "issue_template": table.text("issue_template", _FILE),
        "labels": table.texts("labels", _LABEL),
        "link": True if link is None else link,
    }
    if node_type == "deterministic" and work["method"] is None:
        work["method"] = "builtin"
    if node_type == "spawning" and "prompt" not in table and work["method"] != "script":
        table.need("prompt")
    return work


MAX_CONDITION_DEPTH = 8

_EDGE_ID = Shape(re.compile(r"[a-z][a-z0-9_]{0,79}"), "snake_case, at most 80 characters")


def read_edge(table: Table) -> Edge:
    """The edge a `[[…edges]]` table declares, which may name nodes that do not exist."""
    table.need("source")
    table.need("target")
    source, target = table.text("source") or "", table.text("target") or ""
    edge_id = table.text("id", _EDGE_ID) or f"{source}_to_{target}"
    table.where += f" ({shown(edge_id)[1:-1]})"
    condition = table.table("condition")
    rework = table.table("rework")
    edge = Edge(
        id=EdgeId(edge_id),
        source=NodeId(source),
        target=NodeId(target),
        condition=None if condition is None else _condition(condition, 1),
        rework=None if rework is None else _rework(rework),
    )
    table.close()
    return edge


def _rework(table: Table) -> Rework:
    table.need("max_traversals")
    overflow_edge = table.text("overflow_edge")
    rework = Rework(
        max_traversals=table.integer("max_traversals", minimum=1, maximum=MAX_TRAVERSALS) or 1,
        preserve=table.texts("preserve", SLOT),
        overflow=table.choice("overflow", get_args(Overflow)) or "escalate",
        overflow_edge=None if overflow_edge is None else EdgeId(overflow_edge),
    )
    table.refuse_all(NOT_OBEYED_BY_REWORK)
    table.close()
    return rework


def _condition(table: Table, depth: int) -> Condition | None:
    kinds = [kind for kind in ("expr", "llm", "all", "any", "not") if kind in table]
    condition: Condition | None = None
    if depth > MAX_CONDITION_DEPTH:
        table.problems.append(f"{table.where}: nested deeper than {MAX_CONDITION_DEPTH} levels; simplify it")
        return None
    if len(kinds) != 1:
        named = " and ".join(kinds) or "none"
        table.problems.append(
            f"{table.where}: has {named} of `expr`, `llm`, `all`, `any`, `not`; wanted exactly one"
        )
    elif kinds == ["expr"]:
        condition = _expression(table)
    elif kinds == ["llm"]:
        condition = _model_condition(table)
    elif kinds == ["not"]:
        inner = table.table("not")
        negated = None if inner is None else _condition(inner, depth + 1)
        condition = None if negated is None else Negation(condition=negated)
    else:
        condition = _composite(table, kinds[0], depth)
    if len(kinds) == 1:
        table.close()
    return condition


def _expression(table: Table) -> Condition | None:
    text = table.text("expr")
    if text is None:
        return None
    try:
        return ExpressionCondition(expr=print_expression(parse_expression(text)))
    except ExpressionError as error:
        table.refuse("expr", f"is {shown(text)}: column {error.column}: {error.reason}")
        return None


def _model_condition(table: Table) -> Condition | None:
    table.need("fallback")
    question = table.text("llm")
    fallback = table.boolean("fallback")
    return (
        None if question is None or fallback is None else ModelCondition(question=question, fallback=fallback)
    )


def _composite(table: Table, kind: str, depth: int) -> Condition | None:
    members = [_condition(each, depth + 1) for each in table.tables(kind)]
    if kind in table and isinstance(table.data[kind], list) and not members:
        table.refuse(kind, "is empty, wanted at least one condition")
    conditions = tuple(each for each in members if each is not None)
    if len(conditions) != len(members) or not conditions:
        return None
    return AllOf(conditions=conditions) if kind == "all" else AnyOf(conditions=conditions)
