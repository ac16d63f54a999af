"""How one node is read from its table."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from cogworks.pipeline.elements import (
    EdgeId,
    Evaluation,
    Gate,
    Method,
    Node,
    NodeType,
    Scope,
    Validation,
)
from cogworks.pipeline.not_obeyed import NOT_OBEYED_BY_NODES
from cogworks.pipeline.tables import Shape, Table, shown
from cogworks.vocabulary import NodeId

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
