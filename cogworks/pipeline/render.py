"""What a pipeline looks like: Mermaid as GitHub renders it, DOT, or JSON; with or without a run's state."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from cogworks.pipeline.elements import Edge, Instance, Node, SubItem, WorkClass
from cogworks.pipeline.frontier import in_dependency_order
from cogworks.pipeline.gates import WORK_CLASSES, gated_nodes
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.routing import describe
from cogworks.vocabulary import NodeId, SubItemKey

View = Literal["done", "current", "waiting", "failed", "skipped"]
"""How an instance is coloured; one without a view is still to come."""

MAX_LABEL_CHARS = 80
# Mermaid's `maxTextSize` and `maxEdges`: https://mermaid.js.org/config/schema-docs/config.html
MAX_DRAWN_CHARS = 50_000
MAX_DRAWN_EDGES = 500
"""Mermaid draws an error in the place of a larger picture, and no picture may lift these limits."""

_COLOURS: Mapping[View, tuple[str, str]] = {
    "done": ("#dafbe1", "#1a7f37"),
    "current": ("#ddf4ff", "#0969da"),
    "waiting": ("#fff8c5", "#9a6700"),
    "failed": ("#ffebe9", "#cf222e"),
    "skipped": ("#eaeef2", "#8c959f"),
}
"""view -> fill and stroke; the text is always dark, so that both GitHub themes show it."""
# Inside quotes Mermaid still reads entities, HTML and Markdown (lists, emphasis, links); code points stop all of it.
# Between `style` and a colon that touches an entity it takes the entity's own end away, so such a colon is one too.
_NOT_PLAIN = re.compile(
    r"(?<![^\W_])_|_(?![^\W_])|(?<=\d)\.|/(?=/)|:(?=\S)|[^\w .,:?!=/()…]",
)
_MERMAID_BRACKETS = {"llm": ("([", "])"), "deterministic": ("[", "]"), "spawning": ("[/", "/]")}
_DOT_SHAPES = {"llm": "oval", "deterministic": "box", "spawning": "parallelogram"}


def mermaid(
    pipeline: Pipeline,
    views: Mapping[Instance, View] | None = None,
    sub_items: Sequence[SubItem] | None = None,
    gated: AbstractSet[NodeId] | None = None,
) -> str:
    """A Mermaid flowchart, without the fence.

    Per-sub-item nodes stand in a box: one for all while there are no sub-items, else one for each. Rounded nodes ask
    a model, dotted edges go back, labels are conditions.

    Args:
        gated: the nodes a person has to pass in this run; None: what the file says, for items of every class.
    """
    drawing = _Drawing(pipeline, views or {}, sub_items or (), gated)
    lines = ["flowchart TD"]
    for title, key, members in drawing.groups:
        indent = "  "
        if title:
            lines.append(f'  subgraph {drawing.box(key)}["{_mermaid_text(title)}"]')
            indent = "    "
        lines += (indent + _mermaid_node(drawing, at) for at in members)
        if title:
            lines.append("  end")
    for edge, source, target in drawing.edges:
        lines.append(f"  {drawing.name(source)} {_mermaid_arrow(edge)} {drawing.name(target)}")
    # Sorted: the comment is compared with the one that is shown, and equal pictures must be equal texts.
    used = sorted(set(drawing.views.values()))
    for view in used:
        fill, stroke = _COLOURS[view]
        lines.append(f"  classDef {view} fill:{fill},stroke:{stroke},color:#1f2328")
    return "\n".join(lines) + "\n"


def is_drawable(picture: str) -> bool:
    """Whether Mermaid draws a text of `mermaid` as GitHub runs it, or finds it too large."""
    # No label holds an arrow: its characters are written as code points.
    arrows = picture.count(" -->") + picture.count(" -.->")
    return len(picture) <= MAX_DRAWN_CHARS and arrows <= MAX_DRAWN_EDGES


def dot(
    pipeline: Pipeline,
    views: Mapping[Instance, View] | None = None,
    sub_items: Sequence[SubItem] | None = None,
    gated: AbstractSet[NodeId] | None = None,
) -> str:
    """A Graphviz digraph of the same picture."""
    drawing = _Drawing(pipeline, views or {}, sub_items or (), gated)
    lines = [f"digraph {_dot_text(pipeline.name)} {{", '  node [fontname="sans-serif"]', "  rankdir=TB"]
    for title, key, members in drawing.groups:
        nodes = [f"  {_dot_node(drawing, at)}" for at in members]
        if title:
            head = f"  subgraph {_dot_text('cluster_' + drawing.box(key))} {{"
            nodes = [head, f"    label={_dot_text(title)}", *(f"  {line}" for line in nodes), "  }"]
        lines += nodes
    for edge, source, target in drawing.edges:
        attributes = [f"label={_dot_text(label)}"] if (label := _edge_label(edge)) else []
        attributes += ["style=dashed"] if edge.rework is not None else []
        suffix = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  {_dot_text(drawing.name(source))} -> {_dot_text(drawing.name(target))}{suffix}")
    return "\n".join([*lines, "}"]) + "\n"


def as_json(
    pipeline: Pipeline,
    views: Mapping[Instance, View] | None = None,
    gated: AbstractSet[NodeId] | None = None,
) -> dict[str, Any]:
    """The whole graph with its hash; with a run's state, `instances` lists what is known of each, and `gated` the nodes
    that a person has to pass."""
    document = {**pipeline.as_json(), "graph_hash": pipeline.graph_hash}
    if views is not None:
        document["instances"] = [
            {"node": at.node, "sub_item": at.sub_item, "state": view} for at, view in views.items()
        ]
    if gated is not None:
        document["gated"] = [node.id for node in pipeline.nodes if node.id in gated]
    return document


@dataclass(frozen=True)
class _Drawing:
    """Which instances and arrows a picture has."""

    pipeline: Pipeline
    known: Mapping[Instance, View]
    sub_items: Sequence[SubItem]
    gated: AbstractSet[NodeId] | None

    @cached_property
    def keys(self) -> tuple[SubItemKey | None, ...]:
        return tuple(item.key for item in in_dependency_order(self.sub_items)) or (None,)

    @cached_property
    def groups(self) -> tuple[tuple[str, SubItemKey | None, tuple[Instance, ...]], ...]:
        """Title of the box ("" = none), its sub-item, its members."""
        order = self.pipeline.topological_order
        inside = [node for node in order if self.pipeline.is_sub_item(node)]
        outside = tuple(Instance(node) for node in order if not self.pipeline.is_sub_item(node))
        boxes = [
            (
                "for each sub-work-item" if key is None else _short(f"sub-work-item {key}"),
                key,
                tuple(Instance(node, key) for node in inside),
            )
            for key in self.keys
            if inside
        ]
        return (("", None, outside), *boxes)

    @cached_property
    def edges(self) -> tuple[tuple[Edge, Instance, Instance], ...]:
        """Every arrow, in declared order, sub-item after sub-item."""
        return tuple(
            (edge, source, target) for edge in self.pipeline.edges for source, target in self._ends(edge)
        )

    @cached_property
    def views(self) -> Mapping[Instance, View]:
        """What is known of the instances in the picture."""
        return {at: self.known[at] for _, _, members in self.groups for at in members if at in self.known}

    @cached_property
    def pipeline_gates(self) -> Mapping[WorkClass, AbstractSet[NodeId]]:
        """Class of item -> the nodes a person has to pass."""
        return {of: gated_nodes(self.pipeline, of) for of in WORK_CLASSES}

    def name(self, at: Instance) -> str:
        """An identifier no diagram language reserves."""
        # A node called `end` would break the flowchart (https://mermaid.js.org/syntax/flowchart.html).
        return f"n_{at.node}" if at.sub_item is None else f"{self.box(at.sub_item)}_{at.node}"

    def box(self, key: SubItemKey | None) -> str:
        """The identifier of a sub-item's box: by position, because keys may hold anything."""
        return "each" if key is None else f"s{self.keys.index(key) + 1}"

    def _ends(self, edge: Edge) -> Iterable[tuple[Instance, Instance]]:
        inside = (self.pipeline.is_sub_item(edge.source), self.pipeline.is_sub_item(edge.target))
        for key in self.keys if any(inside) else (None,):
            yield (
                Instance(edge.source, key if inside[0] else None),
                Instance(edge.target, key if inside[1] else None),
            )


def _node_label(drawing: _Drawing, at: Instance) -> str:
    node = drawing.pipeline.node(at.node)
    gate = _gate_label(drawing, node)
    view = drawing.views.get(at)
    # A title may hold nothing that can be seen, and a node without a label is not drawn.
    return (_short(node.title) or node.id) + gate + (f": {view}" if view else "")


def _gate_label(drawing: _Drawing, node: Node) -> str:
    if drawing.gated is not None:
        return " (human gate)" if node.id in drawing.gated else ""
    if node.gate is not None or not drawing.pipeline.shift_work:
        return " (human gate)" if node.gate == "human-gated" else ""
    classes = [of for of in WORK_CLASSES if node.id in drawing.pipeline_gates[of]]
    return f" (human gate if {' or '.join(classes)})" if classes else ""


def _edge_label(edge: Edge) -> str:
    parts = [_short(describe(edge.condition))] if edge.condition is not None else []
    if edge.rework is not None:
        parts.append(f"at most {edge.rework.max_traversals} times")
    return ", ".join(parts)


def _short(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= MAX_LABEL_CHARS else flat[: MAX_LABEL_CHARS - 1] + "…"


def _mermaid_node(drawing: _Drawing, at: Instance) -> str:
    opening, closing = _MERMAID_BRACKETS[drawing.pipeline.node(at.node).type]
    view = drawing.views.get(at)
    suffix = f":::{view}" if view else ""
    return f'{drawing.name(at)}{opening}"{_mermaid_text(_node_label(drawing, at))}"{closing}{suffix}'


def _mermaid_arrow(edge: Edge) -> str:
    line = "-.->" if edge.rework is not None else "-->"
    label = _edge_label(edge)
    return f'{line}|"{_mermaid_text(label)}"|' if label else line


def _mermaid_text(text: str) -> str:
    # How Mermaid writes a code point:
    # https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
    return _NOT_PLAIN.sub(lambda match: f"#{ord(match.group())};", text)


def _dot_node(drawing: _Drawing, at: Instance) -> str:
    shape = _DOT_SHAPES[drawing.pipeline.node(at.node).type]
    attributes = [f"label={_dot_text(_node_label(drawing, at))}", f"shape={shape}"]
    if view := drawing.views.get(at):
        fill, stroke = _COLOURS[view]
        attributes += ["style=filled", f'fillcolor="{fill}"', f'color="{stroke}"']
    return f"{_dot_text(drawing.name(at))} [{', '.join(attributes)}]"


def _dot_text(text: str) -> str:
    # DOT escapes quotes and backslashes as JSON does, but knows no `\u` for letters.
    return json.dumps(text, ensure_ascii=False)
