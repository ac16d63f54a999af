"""When an edge is taken: expressions, questions to a model, and `all`, `any`, `not` of both."""

from collections.abc import Callable, Iterable, Mapping
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


class Undecided(UsageError):
    """A model has to be asked before the condition is true or false, and nobody here can ask one."""

    def __init__(self, question: str) -> None:
        super().__init__(
            f"the condition {question!r} has to be answered by a model, and nobody here can ask one; "
            "`cogworks process` does so in a visit of its own"
        )


def evaluate(condition: Condition | None, view: Mapping[str, Any], ask: Ask | None = None) -> bool:
    """Whether an edge's condition holds; no condition always does.

    A question is asked only when the expressions around it leave the condition open.

    Args:
        view: what expressions may read, as JSON values.
        ask: answers the model-evaluated conditions.

    Raises:
        Undecided: a model-evaluated condition has to be decided and `ask` is None.
    """
    known = without_model(condition, view)
    if known is not None:
        return known
    match condition:
        case AllOf(conditions=members):
            return all(evaluate(each, view, ask) for each in members)
        case AnyOf(conditions=members):
            return any(evaluate(each, view, ask) for each in members)
        case Negation(condition=inner):
            return not evaluate(inner, view, ask)
        case ModelCondition():
            return _answer(condition, ask)
        case _:
            raise AssertionError(condition)


def without_model(condition: Condition | None, view: Mapping[str, Any]) -> bool | None:
    """What the expressions alone say of a condition; None = that depends on a model's answer."""
    match condition:
        case None:
            return True
        case ExpressionCondition(expr=expr):
            return evaluate_expression(parse_expression(expr), view)
        case ModelCondition():
            return None
        case AllOf(conditions=members):
            return _joined((without_model(each, view) for each in members), decisive=False)
        case AnyOf(conditions=members):
            return _joined((without_model(each, view) for each in members), decisive=True)
        case Negation(condition=inner):
            known = without_model(inner, view)
            return None if known is None else not known


def needs_model(condition: Condition | None) -> bool:
    """Whether deciding it may take a model's answer."""
    return any(isinstance(each, ModelCondition) for each in leaves(condition))


def leaves(condition: Condition | None) -> Iterable[ExpressionCondition | ModelCondition]:
    """The expressions and questions a condition is made of, in declared order."""
    match condition:
        case ExpressionCondition() | ModelCondition():
            yield condition
        case AllOf(conditions=members) | AnyOf(conditions=members):
            for each in members:
                yield from leaves(each)
        case Negation(condition=inner):
            yield from leaves(inner)
        case None:
            return


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


def _joined(members: Iterable[bool | None], *, decisive: bool) -> bool | None:
    known = list(members)
    if decisive in known:
        return decisive
    return None if None in known else not decisive


def _answer(condition: ModelCondition, ask: Ask | None) -> bool:
    if ask is None:
        raise Undecided(condition.question)
    answer = ask(condition)
    return condition.fallback if answer is None else answer
