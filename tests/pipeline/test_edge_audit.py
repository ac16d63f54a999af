from typing import Any

from cogworks.pipeline.elements import ConditionAnswer, EdgeId, routing_of
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.transitions import EdgeEvaluation, Evaluator, edge_evaluations, edges_line
from tests.pipeline.graphs import document, edge, parse, pipeline
from tests.pipeline.runs import at, new_run, visit

QUESTION = {"llm": "It is risky", "fallback": True}
ANSWER = ConditionAnswer(question="It is risky", answer=False, why="Three lines.", model_id="m-1")


def audited(graph: Pipeline, view: dict[str, Any], **changes: Any) -> tuple[EdgeEvaluation, ...]:
    """What the visit of `a`, or its routing visit where there are answers, decided."""
    place = at("a")
    name = routing_of(place).node if "answers" in changes else "a"
    return edge_evaluations(graph, visit(new_run(graph), name, **changes), view)


def test_an_evaluation_holds_only_what_its_condition_reads() -> None:
    condition = {"all": [{"expr": "r.passed == true"}, {"not": {"expr": "r.left > 3"}}]}
    graph = pipeline("a b", [edge("a>b", condition=condition)])

    [found] = audited(graph, {"r": {"passed": True, "secret": "x"}, "other": 1})
    [way] = graph.edges
    assert way.condition is not None

    assert found == EdgeEvaluation(
        edge_id=EdgeId("a_to_b"),
        condition=way.condition.model_dump(mode="json"),
        input_snapshot={"r.passed": True},
        result=True,
        evaluator=Evaluator(kind="Composite"),
    )


def test_the_evaluator_says_who_decided() -> None:
    nodes = [
        {"id": "a", "type": "llm", "evaluation": "all-matching"},
        *({"id": n, "type": "llm"} for n in "bcd"),
    ]
    ways = [
        edge("a>b", condition=QUESTION),
        edge("a>c", condition={"any": [QUESTION, {"expr": "x == 1"}]}),
        edge("a>d"),
    ]
    graph = parse(document(nodes, ways))

    found = audited(graph, {"x": 1}, answers=(ANSWER,))

    assert [(each.edge_id, each.result, each.evaluator) for each in found] == [
        ("a_to_b", False, Evaluator(kind="LlmModel", model_id="m-1")),
        ("a_to_c", True, Evaluator(kind="Composite", model_id="m-1")),
        ("a_to_d", True, Evaluator(kind="Deterministic")),
    ]
    assert edges_line(found) == "a_to_b=false(model) a_to_c=true(model) a_to_d=true"
    assert edges_line(found, max_edges=1) == "a_to_b=false(model) and 2 more"


def test_a_fallback_is_told_as_one() -> None:
    graph = pipeline("a b", [edge("a>b", condition=QUESTION)])
    silent = ANSWER.model_copy(update={"answer": None, "fallback": "timeout"})

    [found] = audited(graph, {}, answers=(silent,))

    assert (found.result, found.answers) == (True, (silent,))
    assert edges_line([found]) == "a_to_b=true(fallback)"


def test_a_choice_of_the_node_itself_shows_what_it_chose() -> None:
    chooser = {
        "id": "a",
        "type": "llm",
        "outputs": ["pick"],
        "evaluation": "explicit",
        "next_edges": ["a_to_b", "a_to_c"],
    }
    graph = parse(document([chooser, {"id": "b", "type": "llm"}, {"id": "c", "type": "llm"}], "a>b a>c"))

    found = audited(graph, {"pick": {"next_edges": ["a_to_c"]}})

    assert [(each.result, each.input_snapshot) for each in found] == [
        (False, {"pick.next_edges": ["a_to_c"]}),
        (True, {"pick.next_edges": ["a_to_c"]}),
    ]


def test_nothing_is_told_of_edges_that_were_not_decided() -> None:
    graph = pipeline("a b", [edge("a>b", condition=QUESTION)])

    assert audited(graph, {}) == ()
    assert audited(pipeline("a b", "a>b"), {}, status="failed") == ()
