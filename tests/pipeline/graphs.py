"""Small pipelines in TOML, written the way the tests speak of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from cogworks.pipeline.graph import Pipeline, SubItem
from cogworks.pipeline.parser import parse_pipelines
from cogworks.vocabulary import SubItemKey

SOURCE = ".cogworks/pipeline.toml"


def document(
    nodes: str | Sequence[Mapping[str, Any]], edges: str | Sequence[Mapping[str, Any]] = (), **settings: Any
) -> dict[str, Any]:
    """A file with one pipeline.

    Args:
        nodes: tables, or ids separated by spaces; `*` before an id means scope sub-item, `&` evaluation all-matching.
        edges: tables, or `a>b` separated by spaces.
    """
    if isinstance(nodes, str):
        nodes = [_node(word) for word in nodes.split()]
    if isinstance(edges, str):
        edges = [edge(word) for word in edges.split()]
    first = nodes[0]["id"] if nodes else "none"
    pipeline: dict[str, Any] = {"start": first, "nodes": list(nodes), "edges": list(edges)}
    if settings:
        pipeline["settings"] = settings
    return {"pipelines": {"default": pipeline}}


def edge(word: str, **more: Any) -> dict[str, Any]:
    """`a>b` as an edge table with the id `a_to_b`."""
    source, target = word.split(">")
    return {"id": f"{source}_to_{target}", "source": source, "target": target, **more}


def loop(word: str, max_traversals: int = 2, *, when: str = "again == true", **more: Any) -> dict[str, Any]:
    """`b>a` as a rework edge."""
    rework = {"max_traversals": max_traversals, **more}
    return edge(word, condition={"expr": when}, rework=rework)


def pipeline(*parts: Any, **settings: Any) -> Pipeline:
    """The parsed pipeline of `document`."""
    return parse(document(*parts, **settings))


def parse(content: Mapping[str, Any]) -> Pipeline:
    """The default pipeline of a file given as plain values."""
    return parse_pipelines(tomli_w.dumps(dict(content)), source=SOURCE).choose()


def sub_items(text: str) -> list[SubItem]:
    """`A B:A C:A,B` as sub-items."""
    found = []
    for word in text.split():
        key, _, depends_on = word.partition(":")
        keys = tuple(SubItemKey(each) for each in depends_on.split(",") if each)
        found.append(SubItem(key=SubItemKey(key), depends_on=keys))
    return found


def _node(word: str) -> dict[str, Any]:
    table: dict[str, Any] = {"id": word.strip("*&"), "type": "llm"}
    if "*" in word:
        table["scope"] = "sub-item"
    if "&" in word:
        table["evaluation"] = "all-matching"
    return table
