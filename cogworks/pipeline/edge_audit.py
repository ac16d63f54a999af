"""What was looked at when the edges of a node were decided: one record for each edge, kept beside the visit."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cogworks.pipeline.conditions import Ask, Undecided, leaves, read_path
from cogworks.pipeline.elements import (
    Condition,
    ConditionAnswer,
    Edge,
    EdgeId,
    ExpressionCondition,
    ModelCondition,
    is_routing,
    place_of,
)
from cogworks.pipeline.expressions import parse_expression, paths_of
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.routing import evaluate_edges
from cogworks.pipeline.visits import VisitRecord
from cogworks.vocabulary import Value


class Evaluator(Value):
    """Who said whether an edge holds."""

    kind: Literal["Deterministic", "LlmModel", "Composite"]
    model_id: str = ""
    """The model that was asked; empty where none was, or where it gave no answer."""


class EdgeEvaluation(Value):
    """One edge that was looked at. When: the time of the ledger commit that holds it."""

    edge_id: EdgeId
    condition: Mapping[str, Any] | None
    """As JSON; None = always taken, or chosen by the node itself."""
    input_snapshot: Mapping[str, Any]
    """Path -> value of every path that the condition reads and the view has."""
    result: bool
    evaluator: Evaluator
    answers: tuple[ConditionAnswer, ...] = ()
    """To the questions of the condition, those that a fallback decided included."""


def edge_evaluations(
    pipeline: Pipeline, visit: VisitRecord, view: Mapping[str, Any]
) -> tuple[EdgeEvaluation, ...]:
    """What a finished visit decided of the edges that leave its place, in the order they were looked at.

    None for a failed visit, and for one that awaits a routing visit: that one records them. An edge that holds need
    not be taken: a loop that goes back wins over every edge that leads on.

    Args:
        view: as `transitions.settle` takes it.
    """
    if visit.status == "failed":
        return ()
    place = place_of(visit.instance)
    try:
        results = evaluate_edges(pipeline, place.node, view, ask=_answers(visit))
    except Undecided:
        return ()
    return tuple(
        _evaluation(pipeline, pipeline.edge(edge_id), result, view, visit.answers)
        for edge_id, result in results.items()
    )


def edges_line(evaluations: Sequence[EdgeEvaluation], *, max_edges: int = 20) -> str:
    """The evaluations in one line for a commit message: `<edge>=true` or `<edge>=false`, and who said so if not code."""
    words = [f"{each.edge_id}={str(each.result).lower()}{_by(each)}" for each in evaluations[:max_edges]]
    more = len(evaluations) - len(words)
    return " ".join([*words, f"and {more} more"] if more else words)


def answers_of(visit: VisitRecord) -> Ask:
    """Answers questions from what a routing visit recorded; raises Undecided for one that it was not asked."""
    known = {answer.question: answer.answer for answer in visit.answers}

    def ask(condition: ModelCondition) -> bool | None:
        if condition.question not in known:
            raise Undecided(condition.question)
        return known[condition.question]

    return ask


def _answers(visit: VisitRecord) -> Ask | None:
    return answers_of(visit) if is_routing(visit.instance) else None


def _evaluation(
    pipeline: Pipeline,
    edge: Edge,
    result: bool,
    view: Mapping[str, Any],
    answers: Sequence[ConditionAnswer],
) -> EdgeEvaluation:
    questions = {each.question for each in leaves(edge.condition) if isinstance(each, ModelCondition)}
    used = tuple(answer for answer in answers if answer.question in questions)
    return EdgeEvaluation(
        edge_id=edge.id,
        condition=None if edge.condition is None else edge.condition.model_dump(mode="json"),
        input_snapshot=_snapshot(pipeline, edge, view),
        result=result,
        evaluator=_evaluator(edge.condition, used),
        answers=used,
    )


def _evaluator(condition: Condition | None, answers: Sequence[ConditionAnswer]) -> Evaluator:
    model_id = next((answer.model_id for answer in answers if answer.model_id), "")
    match condition:
        case None | ExpressionCondition():
            return Evaluator(kind="Deterministic")
        case ModelCondition():
            return Evaluator(kind="LlmModel", model_id=model_id)
        case _:
            return Evaluator(kind="Composite", model_id=model_id)


def _snapshot(pipeline: Pipeline, edge: Edge, view: Mapping[str, Any]) -> dict[str, Any]:
    paths = [
        path
        for each in leaves(edge.condition)
        if isinstance(each, ExpressionCondition)
        for path in paths_of(parse_expression(each.expr))
    ]
    if pipeline.node(edge.source).evaluation == "explicit":
        paths = [f"{slot}.next_edges" for slot in pipeline.node(edge.source).outputs]
    found = ((path, read_path(path, view)) for path in dict.fromkeys(paths))
    return {path: value[0] for path, value in found if value}


def _by(each: EdgeEvaluation) -> str:
    if not each.answers:
        return ""
    fell_back = any(answer.answer is None for answer in each.answers)
    return "(fallback)" if fell_back else "(model)"
