"""When an edge is taken: expressions, questions to a model, and `all`, `any`, `not` of both."""

from collections.abc import Callable, Mapping
from typing import Any

from cogworks.errors import UsageError
from cogworks.pipeline.elements import (
    AllOf,
    AnyOf,
    Condition,
    ExpressionCondition,
    ModelCondition,
    Negation,
)
from cogworks.pipeline.evaluation import evaluate_expression
from cogworks.pipeline.expressions import parse_expression

Ask = Callable[[ModelCondition], bool | None]
"""Answers a model-evaluated condition; None = no usable answer, its fallback decides."""


def evaluate(condition: Condition | None, view: Mapping[str, Any], ask: Ask | None = None) -> bool:
    """Whether an edge's condition holds; no condition always does.

    Members of `all` and `any` that need no model come first, so that a question is asked only when it matters.

    Args:
        view: what expressions may read, as JSON values.
        ask: answers the model-evaluated conditions.

    Raises:
        UsageError: a model-evaluated condition has to be decided and `ask` is None.
    """
    match condition:
        case None:
            return True
        case ExpressionCondition(expr=expr):
            return evaluate_expression(parse_expression(expr), view)
        case ModelCondition():
            return _answer(condition, ask)
        case AllOf(conditions=members):
            return all(evaluate(each, view, ask) for each in sorted(members, key=needs_model))
        case AnyOf(conditions=members):
            return any(evaluate(each, view, ask) for each in sorted(members, key=needs_model))
        case Negation(condition=inner):
            return not evaluate(inner, view, ask)


def needs_model(condition: Condition | None) -> bool:
    """Whether deciding it may take a model's answer."""
    match condition:
        case ModelCondition():
            return True
        case AllOf(conditions=members) | AnyOf(conditions=members):
            return any(needs_model(each) for each in members)
        case Negation(condition=inner):
            return needs_model(inner)
        case _:
            return False


def describe(condition: Condition | None) -> str:
    """One line a person can read; empty when there is no condition."""
    match condition:
        case None:
            return ""
        case ExpressionCondition(expr=expr):
            return expr
        case ModelCondition(question=question):
            return f"model: {question}"
        case AllOf(conditions=members):
            return "all(" + "; ".join(describe(each) for each in members) + ")"
        case AnyOf(conditions=members):
            return "any(" + "; ".join(describe(each) for each in members) + ")"
        case Negation(condition=inner):
            return f"not({describe(inner)})"


def _answer(condition: ModelCondition, ask: Ask | None) -> bool:
    if ask is None:
        raise UsageError(
            f"the condition {condition.question!r} has to be answered by a model, and nobody here can ask one; "
            "use an `expr` condition or run with a version that evaluates `llm` conditions"
        )
    answer = ask(condition)
    return condition.fallback if answer is None else answer
