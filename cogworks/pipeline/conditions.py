"""When an edge is taken: expressions, questions to a model, and `all`, `any`, `not` of both.

What an expression says of a JSON view.

A comparison that touches an unknown path, or values of different JSON types, is false, `!=` included; `not` applies
afterwards, so `not review.passed == true` holds while there is no review. A path or literal standing alone holds only
when it is exactly `true`. `<` and its kin order two numbers or two strings; `in` asks for a member of a list, a key
of an object or a part of a string.
"""

import operator
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
from cogworks.pipeline.expressions import (
    And,
    Comparison,
    Constant,
    Expression,
    Not,
    Operator,
    Or,
    Path,
    parse_expression,
)


def evaluate_expression(expression: Expression, view: Mapping[str, Any]) -> bool:
    """Whether it holds over the view (JSON values); never raises for any JSON value."""
    match expression:
        case Comparison(name, left, right):
            return _compare(name, _value(left, view), _value(right, view))
        case Not(operand):
            return not evaluate_expression(operand, view)
        case And(operands):
            return all(evaluate_expression(each, view) for each in operands)
        case Or(operands):
            return any(evaluate_expression(each, view) for each in operands)
        case _:
            return _value(expression, view) is True


def same_json(left: object, right: object) -> bool:
    """Equality of JSON values: 1 equals 1.0 but never `true`."""
    if _kind(left) != _kind(right):
        return False
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    return left == right


def read_path(path: str, view: Mapping[str, Any]) -> tuple[Any] | tuple[()]:
    """The value a path leads to, alone in a tuple; empty where the view does not have it."""
    value = _look_up(tuple(path.split(".")), view)
    return () if value is _MISSING else (value,)


_MISSING = object()
"""What an unknown path leads to."""
_ORDERINGS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "list"
        case Mapping():
            return "object"
        case _:
            return "unknown"


def _value(expression: Expression, view: Mapping[str, Any]) -> object:
    match expression:
        case Constant(value):
            return value
        case Path(segments):
            return _look_up(segments, view)
        case _:
            return evaluate_expression(expression, view)


def _look_up(segments: tuple[str, ...], view: Mapping[str, Any]) -> object:
    value: object = view
    for segment in segments:
        if isinstance(value, Mapping) and segment in value:
            value = value[segment]
        elif isinstance(value, list | tuple) and segment.isdecimal() and int(segment) < len(value):
            value = value[int(segment)]
        else:
            return _MISSING
    return value


def _compare(name: Operator, left: object, right: object) -> bool:
    if name == "in":
        return _is_in(left, right)
    kind = _kind(left)
    if kind == "unknown" or kind != _kind(right):
        return False
    if name in {"==", "!="}:
        return same_json(left, right) == (name == "==")
    return kind in {"number", "string"} and bool(_ORDERINGS[name](left, right))


def _is_in(left: object, right: object) -> bool:
    if isinstance(right, list | tuple):
        return any(same_json(left, member) for member in right)
    if isinstance(left, str) and isinstance(right, str | Mapping):
        return left in right
    return False


Ask = Callable[[ModelCondition], bool | None]
"""Answers a model-evaluated condition; None = no usable answer, its fallback decides."""


class Undecided(UsageError):
    """A model has to be asked before the condition is true or false, and nobody here can ask one."""

    def __init__(self, question: str) -> None:
        super().__init__(
            f"a model has to answer the condition {question!r}, and this command asks none. Run `cogworks "
            "process`, which asks it in a visit of its own."
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
