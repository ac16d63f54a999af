"""Reading and deciding cost no more than n log n in the size of the pipeline; counted in steps, never in time."""

from collections.abc import Callable
from typing import Any

import pytest

from cogworks.pipeline.checks import problems_of
from cogworks.pipeline.elements import Edge, EdgeId, Node, Rework
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.parser import parse_pipelines
from cogworks.vocabulary import NodeId
from scripts.benchmarks import graph
from scripts.benchmarks.graphs import SHAPES, pipeline_text


def test_parsing_checking_and_deciding_grow_no_faster_than_n_log_n() -> None:
    rows = graph.measure((20, 200), runs=0)

    grown = graph.growth(rows)
    assert [(each.shape, each.phase) for each in grown] == [
        (shape, phase) for shape in SHAPES for phase in ("read", "decide")
    ]
    assert [each for each in grown if not each.is_met] == []


@pytest.mark.slow
def test_they_do_so_up_to_the_largest_pipeline_that_is_allowed() -> None:
    assert [
        each for each in graph.growth(graph.measure((100, 1_000, 2_000), runs=1)) if not each.is_met
    ] == []


def test_the_pipelines_that_are_measured_have_loops_conditions_and_joins() -> None:
    layers = parse_pipelines(pipeline_text("layers", 100), source="layers").choose()

    assert sum(edge.rework is not None for edge in layers.edges) == 9
    assert sum(edge.condition is not None for edge in layers.edges) > 50
    assert max(len(layers.forward_to(node.id)) for node in layers.nodes) == 3


def _of(size: int, edges: list[Edge]) -> Pipeline:
    nodes = tuple(
        Node(id=NodeId(f"n{at}"), type="llm", title="n", evaluation="all-matching") for at in range(size)
    )
    return Pipeline(name="wrong", start=NodeId("n0"), nodes=nodes, edges=tuple(edges))


def _edge(source: int, target: int, **more: Any) -> Edge:
    return Edge(
        id=EdgeId(f"e{source}_{target}"), source=NodeId(f"n{source}"), target=NodeId(f"n{target}"), **more
    )


def _many_cycles(size: int) -> Pipeline:
    return _of(size, [_edge(at, at ^ 1) for at in range(size)])


def _one_long_cycle(size: int) -> Pipeline:
    return _of(size, [_edge(at, (at + 1) % size) for at in range(size)])


def _nested_loops(size: int) -> Pipeline:
    loops = [_edge(size - 1 - at, at, rework=Rework(max_traversals=1)) for at in range(0, size // 2, 10)]
    return _of(size, [_edge(at, at + 1) for at in range(size - 1)] + loops)


def _lines_checking(shape: Callable[[int], Pipeline], size: int) -> int:
    return graph.counted(lambda: problems_of(shape(size)))[0]


@pytest.mark.parametrize("shape", [_many_cycles, _one_long_cycle])
def test_a_graph_that_cannot_run_is_refused_as_fast(shape: Callable[[int], Pipeline]) -> None:
    small, large = (_lines_checking(shape, size) for size in (200, 2_000))

    assert large <= 13 * small, "n log n makes ten times the size 14 times the steps"


def test_nested_loops_cost_what_they_span() -> None:
    small, large = (_lines_checking(_nested_loops, size) for size in (100, 400))

    # Four times the nodes, four times the loops: sixteen times the nodes that all loops repeat together.
    assert large <= 17 * small
