"""Pipelines of any size in three shapes, and runs of them that are half done."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import tomli_w

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import MAX_VISITS_PER_RUN, Instance, Pipeline
from cogworks.pipeline.state import RunState, visit_key
from cogworks.pipeline.transitions import settle
from cogworks.pipeline.visits import VisitRecord
from cogworks.vocabulary import IssueNumber, RunId

LAYER_NODES = 10
MAX_LOOPS = 100
Table = dict[str, Any]
FACTS = Facts(
    issue_is_open=True,
    issue_url="https://github.com/octo-org/adder/issues/7",
    is_triggered=True,
    trigger="cogworks:run",
    pulls={},
    lease_ages_s={},
    max_cost_usd=10.0,
    small_max_cost_usd=3.0,
    max_tokens=500_000,
)


def pipeline_text(shape: str, size: int) -> str:
    """A valid `pipeline.toml` of so many nodes.

    `line`: one after the other, each reading what the one before put out. `fan`: the first starts all others, the last
    joins them. `layers`: ten nodes to a layer, each fed by one to three of the layer before; the first of every layer may
    send back the first of the one before.
    """
    nodes = [_node(at) for at in range(size)]
    edges = SHAPES[shape](size)
    leaving = Counter(edge["source"] for edge in edges)
    for node in nodes:
        if leaving[node["id"]] > 1:
            node["evaluation"] = "all-matching"
    return tomli_w.dumps({"pipelines": {"default": {"start": "n0", "nodes": nodes, "edges": edges}}})


def half_done(pipeline: Pipeline) -> RunState:
    """A run of the pipeline whose first half of the nodes, in topological order, has succeeded; of the largest
    pipelines as many as leave one visit to the limit of every run."""
    state = RunState(
        run_id=RunId("run-1"),
        repository_id="R_1",
        repository="octo-org/adder",
        issue=IssueNumber(7),
        issue_digest="",
        pipeline=pipeline.name,
        graph_hash=pipeline.graph_hash,
    )
    done = min(len(pipeline.nodes) // 2, MAX_VISITS_PER_RUN - 1)
    for node_id in pipeline.topological_order[:done]:
        index = state.next_index()
        visit = VisitRecord(
            index=index,
            node=node_id,
            sub_item=None,
            visit_key=visit_key(state, Instance(node_id), index),
            ordinal=1,
            attempt=1,
            status="succeeded",
            summary="done",
        )
        state = settle(state, pipeline, visit, {})
    return state


def _node(at: int) -> Table:
    inputs = {"inputs": [f"o{at - 1}"]} if at == 1 else {}
    return {"id": f"n{at}", "type": "llm", "outputs": [f"o{at}"], **inputs}


def _edge(source: int, target: int, **more: Any) -> Table:
    return {"id": f"e{source}_{target}", "source": f"n{source}", "target": f"n{target}", **more}


def _line(size: int) -> list[Table]:
    return [_edge(at, at + 1) for at in range(size - 1)]


def _fan(size: int) -> list[Table]:
    inner = range(1, size - 1)
    return [_edge(0, at) for at in inner] + [_edge(at, size - 1) for at in inner]


def _layers(size: int) -> list[Table]:
    edges = [_edge(0, at) for at in range(1, min(LAYER_NODES, size))]
    for first in range(LAYER_NODES, size, LAYER_NODES):
        for at in range(first, min(first + LAYER_NODES, size)):
            column = at - first
            # Its own column, so that the loop below has a path to go back over, and up to two that change by layer.
            heard = {column, (column + first // LAYER_NODES) % LAYER_NODES, (3 * column + 1) % LAYER_NODES}
            condition = {"condition": {"expr": f"not o{first}.stop == true"}} if at % 3 == 0 else {}
            edges += [_edge(first - LAYER_NODES + source, at, **condition) for source in sorted(heard)]
        if first // LAYER_NODES <= MAX_LOOPS:
            again = {"expr": f"o{first}.again == true"}
            edges.append(_edge(first, first - LAYER_NODES, condition=again, rework={"max_traversals": 2}))
    return edges


SHAPES: Mapping[str, Callable[[int], list[Table]]] = {"line": _line, "fan": _fan, "layers": _layers}
