"""Random pipelines as the plain values of a file, random plans, and random outputs that decide the edges."""

import itertools
import random
from typing import Any

from cogworks.pipeline.graph import SubItem
from cogworks.vocabulary import SubItemKey

Table = dict[str, Any]


def random_document(chance: random.Random, *, gates: float = 0.0, is_planned_once: bool = False) -> Table:
    """A valid file: per-item nodes, per-sub-item nodes, per-item nodes that join them, loops on one side each.

    Node `n3` puts out the slot `o3`, an object with a boolean for each edge that leaves it, by id, and the list `next_edges`.

    Args:
        gates: how many of the nodes have a human gate.
        is_planned_once: `n0` also puts out the slot `plan`, and no loop leads back over it.
    """
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
    edges += _loops(chance, nodes, edges, once="n0" if is_planned_once else "")
    chance.shuffle(edges)
    if is_planned_once:
        nodes[0]["outputs"].append("plan")
    for node in nodes:
        if chance.random() < gates:
            node["gate"] = "human-gated"
        _declare_evaluation(chance, node, [edge for edge in edges if edge["source"] == node["id"]])
    pipeline: Table = {"start": "n0", "nodes": nodes, "edges": edges}
    # Which runner may ask a model is not what is looked at here.
    pipeline["settings"] = {"parallel_sub_items": chance.random() < 0.7, "max_concurrent_llm_calls": 100}
    return {"pipelines": {"default": pipeline}}


def _edge(source: str, target: str) -> Table:
    return {"id": f"{source}_{target}", "source": source, "target": target}


def _loops(chance: random.Random, nodes: list[Table], edges: list[Table], *, once: str) -> list[Table]:
    scope = {node["id"]: node["scope"] for node in nodes}
    found: dict[tuple[str, str], set[str]] = {}
    for source, target in itertools.product(scope, scope):
        between = {at for at in scope if leads(edges, target, at) and leads(edges, at, source)}
        crosses = any(
            between & other and not leads(edges, source, end) and not leads(edges, end, source)
            for (end, _), other in found.items()
        )
        if (
            between - {once} == between != set()
            and not crosses
            and len({scope[at] for at in between}) == 1
            and chance.random() < 0.3
        ):
            found[source, target] = between
    return [_loop(chance, source, target, edges) for source, target in found]


def _loop(chance: random.Random, source: str, target: str, edges: list[Table]) -> Table:
    onward = [edge["id"] for edge in edges if edge["source"] == source]
    rework: Table = {"max_traversals": chance.randint(1, 3), "overflow": chance.choice(["halt", "escalate"])}
    if onward and chance.random() < 0.5:
        rework |= {"overflow": "take-edge", "overflow_edge": chance.choice(onward)}
    return {"id": f"back_{source}_{target}", "source": source, "target": target, "rework": rework}


def leads(edges: list[Table], source: str, target: str) -> bool:
    """Whether a path leads from one node to another along these edges; every node leads to itself."""
    return source == target or any(
        leads(edges, edge["target"], target) for edge in edges if edge["source"] == source
    )


def _declare_evaluation(chance: random.Random, node: Table, leaving: list[Table]) -> None:
    if len(leaving) > 1:
        node["evaluation"] = chance.choice(["first-matching", "all-matching", "all-matching", "explicit"])
    if node.get("evaluation") == "explicit":
        node["next_edges"] = [edge["id"] for edge in leaving]
        return
    for edge in leaving:
        if "rework" in edge or chance.random() < 0.5:
            edge["condition"] = {"expr": f"o{node['id'][1:]}.{edge['id']} == true"}


def random_sub_items(chance: random.Random) -> list[SubItem]:
    keys = [SubItemKey(letter) for letter in "ABC"[: chance.randint(0, 3)]]
    found = []
    for at, key in enumerate(keys):
        depends_on = tuple(earlier for earlier in keys[:at] if chance.random() < 0.4)
        found.append(SubItem(key=key, depends_on=depends_on))
    chance.shuffle(found)
    return found


def random_output(chance: random.Random, raw: Table, node: str) -> Table:
    """What a node may put out: how its edges are decided."""
    leaving = [edge["id"] for edge in raw["edges"] if edge["source"] == node]
    output: Table = {edge_id: chance.random() < 0.7 for edge_id in leaving}
    output["next_edges"] = [edge_id for edge_id in leaving if chance.random() < 0.6]
    return output
