from typing import Any

import pytest

from cogworks.errors import UsageError
from cogworks.pipeline.elements import EdgeId
from cogworks.pipeline.frontier import (
    EdgeMark,
    EdgeRef,
    EdgeVerdict,
    Instance,
    Reopened,
    out_edges_after,
    reopened_by,
)
from cogworks.pipeline.graph import Pipeline
from cogworks.vocabulary import NodeId, SubItemKey
from tests.pipeline.graphs import edge, loop, pipeline

TAKEN, NOT_TAKEN = EdgeMark.TAKEN, EdgeMark.NOT_TAKEN


def _branching(evaluation: str, edges: list[dict[str, Any]], **more: Any) -> Pipeline:
    first = {"id": "a", "type": "llm", "outputs": ["choice"], "evaluation": evaluation, **more}
    return pipeline([first, *({"id": name, "type": "llm"} for name in "bc")], edges)


CONDITIONAL = [edge("a>b", condition={"expr": "x"}), edge("a>c", condition={"expr": "y"})]


def _after(graph: Pipeline, node: str = "a", **view: Any) -> EdgeVerdict:
    return out_edges_after(graph, Instance(NodeId(node)), view, {})


def _marks(graph: Pipeline, **view: Any) -> dict[str, EdgeMark]:
    return {ref.edge: mark for ref, mark in _after(graph, **view).marks.items()}


def test_an_unconditional_edge_is_taken() -> None:
    assert _after(pipeline("a b", "a>b")) == EdgeVerdict(
        marks={EdgeRef(EdgeId("a_to_b")): TAKEN}, evaluations={EdgeId("a_to_b"): True}
    )


def test_a_terminal_node_decides_nothing_and_is_no_dead_end() -> None:
    assert _after(pipeline("a b", "a>b"), "b") == EdgeVerdict()


def test_first_matching_takes_the_first_that_holds_and_looks_no_further() -> None:
    graph = _branching("first-matching", CONDITIONAL)

    assert _after(graph, x=True, y=True) == EdgeVerdict(
        marks={EdgeRef(EdgeId("a_to_b")): TAKEN, EdgeRef(EdgeId("a_to_c")): NOT_TAKEN},
        evaluations={EdgeId("a_to_b"): True},
    )
    assert _marks(graph, y=True) == {"a_to_b": NOT_TAKEN, "a_to_c": TAKEN}


def test_all_matching_takes_every_edge_that_holds() -> None:
    graph = _branching("all-matching", CONDITIONAL)

    assert _marks(graph, x=True, y=True) == {"a_to_b": TAKEN, "a_to_c": TAKEN}
    assert _marks(graph, y=True) == {"a_to_b": NOT_TAKEN, "a_to_c": TAKEN}


@pytest.mark.parametrize("evaluation", ["first-matching", "all-matching"])
def test_no_edge_that_holds_is_a_dead_end(evaluation: str) -> None:
    verdict = _after(_branching(evaluation, CONDITIONAL))

    assert verdict.dead_end is True
    assert set(verdict.marks.values()) == {NOT_TAKEN}


def test_explicit_evaluation_takes_what_the_output_names_among_the_declared() -> None:
    graph = _branching("explicit", [edge("a>b"), edge("a>c")], next_edges=["a_to_c"])

    assert _marks(graph, choice={"next_edges": ["a_to_c", "nowhere", 3]}) == {
        "a_to_b": NOT_TAKEN,
        "a_to_c": TAKEN,
    }
    assert _after(graph, choice={"next_edges": ["a_to_b"]}).dead_end is True
    assert _after(graph, choice={"next_edges": "a_to_c"}).dead_end is True
    assert _after(graph).dead_end is True


def _looping(evaluation: str, max_traversals: int = 2, **rework: Any) -> Pipeline:
    nodes = [
        {"id": "a", "type": "llm"},
        {"id": "b", "type": "llm", "evaluation": evaluation},
        {"id": "c", "type": "llm"},
    ]
    back = loop("b>a", max_traversals, **rework)
    return pipeline(nodes, [edge("a>b"), back, edge("b>c", condition={"expr": "done == true"})])


@pytest.mark.parametrize("evaluation", ["first-matching", "all-matching"])
def test_a_rework_edge_that_holds_wins(evaluation: str) -> None:
    verdict = _after(_looping(evaluation), "b", again=True, done=True)

    assert (verdict.rework, dict(verdict.marks), verdict.dead_end) == ("b_to_a", {}, False)


def test_the_last_traversal_is_allowed_and_the_next_overflows() -> None:
    graph = _looping("first-matching", max_traversals=3)
    view = {"again": True}

    third = out_edges_after(graph, Instance(NodeId("b"), None), view, {EdgeRef(EdgeId("b_to_a")): 2})
    fourth = out_edges_after(graph, Instance(NodeId("b"), None), view, {EdgeRef(EdgeId("b_to_a")): 3})

    assert third == EdgeVerdict(rework=EdgeId("b_to_a"), evaluations={EdgeId("b_to_a"): True})
    assert fourth == EdgeVerdict(
        overflow="escalate", overflowed=EdgeId("b_to_a"), evaluations={EdgeId("b_to_a"): True}
    )


def test_an_overflow_can_take_an_edge_instead() -> None:
    graph = _looping("first-matching", 1, overflow="take-edge", overflow_edge="b_to_c")

    verdict = out_edges_after(graph, Instance(NodeId("b")), {"again": True}, {EdgeRef(EdgeId("b_to_a")): 1})

    assert verdict == EdgeVerdict(
        marks={EdgeRef(EdgeId("b_to_c")): TAKEN},
        overflow="take-edge",
        overflowed=EdgeId("b_to_a"),
        evaluations={EdgeId("b_to_a"): True},
    )


def test_traversals_are_counted_per_sub_item() -> None:
    graph = pipeline("p *a *&b", [edge("p>a"), edge("a>b"), loop("b>a", 1)])
    counts = {EdgeRef(EdgeId("b_to_a"), SubItemKey("A")): 1}

    assert (
        out_edges_after(graph, Instance(NodeId("b"), SubItemKey("A")), {"again": True}, counts).overflow
        == "escalate"
    )
    assert (
        out_edges_after(graph, Instance(NodeId("b"), SubItemKey("B")), {"again": True}, counts).rework
        == "b_to_a"
    )


def test_a_loop_that_is_not_walked_leaves_a_terminal_node_at_its_end() -> None:
    graph = pipeline("a &b", [edge("a>b"), loop("b>a")])

    assert _after(graph, "b", again=False) == EdgeVerdict(evaluations={EdgeId("b_to_a"): False})


def test_a_condition_for_a_model_needs_someone_to_ask() -> None:
    graph = pipeline("a b", [edge("a>b", condition={"llm": "is it?", "fallback": True})])

    with pytest.raises(
        UsageError, match=r"a model has to answer the condition .*, and this command asks none"
    ):
        _after(graph)
    answered = out_edges_after(graph, Instance(NodeId("a")), {}, {}, ask=lambda question: None)
    assert answered.marks == {EdgeRef(EdgeId("a_to_b")): TAKEN}


def test_a_traversal_reopens_the_loop_and_the_edges_that_leave_its_nodes() -> None:
    graph = pipeline(
        "p &a side b &c end",
        [edge("p>a"), edge("a>b"), edge("a>side"), edge("b>c"), edge("c>end"), edge("side>end"), loop("c>a")],
    )
    refs = ["a_to_b", "a_to_side", "b_to_c", "c_to_end"]

    assert reopened_by(graph, EdgeId("c_to_a"), None) == Reopened(
        instances=(Instance(NodeId("a")), Instance(NodeId("b")), Instance(NodeId("c"))),
        edges=tuple(EdgeRef(EdgeId(ref)) for ref in refs),
    )


def test_a_traversal_reopens_nothing_of_another_sub_item() -> None:
    graph = pipeline("p *a *&b", [edge("p>a"), edge("a>b"), loop("b>a")])

    assert reopened_by(graph, EdgeId("b_to_a"), SubItemKey("A")) == Reopened(
        instances=(Instance(NodeId("a"), SubItemKey("A")), Instance(NodeId("b"), SubItemKey("A"))),
        edges=(EdgeRef(EdgeId("a_to_b"), SubItemKey("A")),),
    )
