from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.elements import Gate, WorkClass
from cogworks.pipeline.gates import WORK_CLASSES, boundary_line, gated_nodes, is_gated, work_class
from cogworks.pipeline.transitions import learn_classification
from tests.pipeline.graphs import document, edge, parse, pipeline
from tests.pipeline.runs import facts, new_run

ALL = {"safety-critical": "c", "standard": "b", "low-risk": "a"}


def in_a_row(shift_work: dict[str, str] | None = None, **gates: Gate) -> Any:
    """a, b, c and d one after the other; d produces code."""
    nodes: list[dict[str, Any]] = [{"id": each, "type": "llm", "title": each.upper()} for each in "abcd"]
    nodes[3]["produces_code"] = True
    for node in nodes:
        if node["id"] in gates:
            node["gate"] = gates[node["id"]]
    file = document(nodes, "a>b b>c c>d")
    if shift_work is not None:
        file["pipelines"]["default"]["shift_work"] = shift_work
    return parse(file)


@pytest.mark.parametrize(
    ("safety_critical", "complexity", "of"),
    [
        (False, "", "standard"),
        (False, "low", "low-risk"),
        (False, "medium", "standard"),
        (False, "high", "standard"),
        (True, "low", "safety-critical"),
    ],
)
def test_the_classification_says_how_closely_people_look(
    complexity: str, of: WorkClass, *, safety_critical: bool
) -> None:
    assert work_class(safety_critical=safety_critical, complexity=complexity) == of


def test_results_up_to_the_boundary_of_its_class_wait_for_people() -> None:
    graph = in_a_row(ALL)

    assert {of: sorted(gated_nodes(graph, of)) for of in WORK_CLASSES} == {
        "safety-critical": ["a", "b", "c", "d"],
        "standard": ["a", "b"],
        "low-risk": ["a"],
    }


def test_a_gate_of_its_own_wins_over_the_boundary() -> None:
    graph = in_a_row(ALL, a="auto-proceed", c="human-gated")

    assert gated_nodes(graph, "standard") == {"b", "c"}


def test_a_branch_beside_the_boundary_is_not_before_it() -> None:
    file = document("&a b c", [edge("a>b"), edge("a>c")])
    file["pipelines"]["default"]["shift_work"] = {"standard": "b"}

    assert gated_nodes(parse(file), "standard") == {"a", "b"}


def test_without_a_boundary_an_undeclared_gate_is_open() -> None:
    assert gated_nodes(in_a_row(), "standard") == frozenset()
    assert gated_nodes(in_a_row({"low-risk": "b"}), "standard") == frozenset()


@given(
    gate=st.sampled_from([None, "auto-proceed", "human-gated"]),
    boundary=st.none() | st.dictionaries(st.sampled_from(WORK_CLASSES), st.sampled_from("abcd")),
)
def test_a_safety_critical_item_gates_whatever_produces_code(
    gate: Gate | None, boundary: dict[str, str] | None
) -> None:
    graph = in_a_row(boundary, **({"d": gate} if gate else {}))

    labelled = is_gated(new_run(graph), facts(is_safety_critical=True), graph, graph.node("d"))
    classified = is_gated(new_run(graph, is_safety_critical=True), facts(), graph, graph.node("d"))

    assert (labelled, classified) == (True, True)


def test_what_intake_learns_moves_the_boundary() -> None:
    graph = in_a_row(ALL)
    state = learn_classification(new_run(graph), {"estimated_scope": {"complexity": "low"}})

    assert is_gated(new_run(graph), facts(), graph, graph.node("b"))
    assert not is_gated(state, facts(), graph, graph.node("b"))


def test_the_boundary_is_told_in_one_sentence() -> None:
    assert (
        boundary_line(in_a_row(ALL), "standard")
        == "standard: people look at results up to B; after it the machine goes on"
    )
    assert boundary_line(in_a_row({"standard": "a"}), "low-risk").startswith("low-risk: no boundary;")
    assert boundary_line(in_a_row(), "standard") == ""


def test_a_graph_without_boundary_has_the_hash_it_had_before_there_were_any() -> None:
    open_gate = [{"id": "a", "type": "llm", "gate": "auto-proceed"}, {"id": "b", "type": "llm"}]

    assert pipeline("a b", "a>b").graph_hash == pipeline(open_gate, "a>b").graph_hash
    assert in_a_row(ALL).graph_hash != in_a_row().graph_hash
    assert in_a_row(ALL, d="auto-proceed").graph_hash != in_a_row(ALL).graph_hash
