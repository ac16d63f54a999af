"""When an edge is taken, where a finished node leads, which loop is walked again, and what that clears."""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cogworks.errors import UsageError
from cogworks.pipeline.elements import (
    MAX_TRAVERSALS,
    AllOf,
    AnyOf,
    Condition,
    Edge,
    EdgeId,
    EdgeRef,
    ExpressionCondition,
    Instance,
    ModelCondition,
    Negation,
    Node,
    Overflow,
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
from cogworks.pipeline.graph import Pipeline
from cogworks.vocabulary import NodeId, SubItemKey


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
            # No truth but `true`: that a text or a list is there says nothing.
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


# No JSON value, for `null` is one.
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
        # Before numbers: in Python `True` is an `int`.
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
    # Also for `!=`: what is not there, or is of another type, compares as nothing (docs/pipelines.md).
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
    # An answer costs money, and `all` with a false expression needs none.
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


class EdgeMark(StrEnum):
    """What became of a forward edge."""

    TAKEN = "taken"
    NOT_TAKEN = "not_taken"
    DEAD = "dead"
    """Its source was skipped. Dead marks need not be kept: the frontier derives them."""


@dataclass(frozen=True)
class EdgeVerdict:
    """What follows from one finished visit."""

    marks: Mapping[EdgeRef, EdgeMark] = field(default_factory=dict)
    """Every forward edge that leaves the node; empty for a terminal node and when a loop is walked or overflows."""
    rework: EdgeId | None = None
    """The rework edge to walk now; count the traversal and clear what `reopened_by` names."""
    overflow: Overflow | None = None
    """A rework edge had no traversal left. `take-edge`: `marks` says where it went instead."""
    overflowed: EdgeId | None = None
    """The rework edge that had none left."""
    dead_end: bool = False
    """Edges lead on from the node and none of them is taken: the run cannot go on."""
    evaluations: Mapping[EdgeId, bool] = field(default_factory=dict)
    """The conditions that were looked at, in order, for the audit trail."""


@dataclass(frozen=True)
class Reopened:
    """What one traversal of a rework edge undoes."""

    instances: tuple[Instance, ...]
    """These are visited again, in this order at the earliest."""
    edges: tuple[EdgeRef, ...]
    """The marks of these are forgotten."""


def out_edges_after(
    pipeline: Pipeline,
    instance: Instance,
    view: Mapping[str, Any],
    traversals: Mapping[EdgeRef, int],
    *,
    ask: Ask | None = None,
) -> EdgeVerdict:
    """Decide the edges of an instance whose node succeeded and whose gate is passed.

    A rework edge that holds wins over every forward edge that holds with it, because its source is going to be
    visited again. With `explicit` evaluation the node's own output chooses: the list `next_edges` in the first of
    its output slots that has one.

    Args:
        view: output slot -> output JSON, and `retry_count`; what the expressions read.
        traversals: how often each rework edge was walked in this run and sub-item so far; missing = never.
        ask: answers model-evaluated conditions.

    Raises:
        Undecided: a model-evaluated condition has to be decided and `ask` is None.
    """
    node = pipeline.node(instance.node)
    evaluations = evaluate_edges(pipeline, node.id, view, ask=ask)
    holding = [edge for edge in pipeline.edges_from(node.id) if evaluations.get(edge.id)]
    # Going back wins: what leads on from here will be decided anew when this node has run again.
    loop = next((edge for edge in holding if edge.rework is not None), None)
    taken = {edge.id for edge in holding if edge.rework is None}
    if loop is None or loop.rework is None:
        return _onward(pipeline, instance, taken, evaluations)
    # A file may ask for fewer rounds than every run is allowed, never for more.
    limit = min(loop.rework.max_traversals, MAX_TRAVERSALS)
    if traversals.get(EdgeRef(loop.id, instance.sub_item), 0) < limit:
        return EdgeVerdict(rework=loop.id, evaluations=evaluations)
    marks: Mapping[EdgeRef, EdgeMark] = {}
    if loop.rework.overflow == "take-edge" and loop.rework.overflow_edge is not None:
        marks = _marks(pipeline, instance, taken | {loop.rework.overflow_edge})
    return EdgeVerdict(
        marks=marks, overflow=loop.rework.overflow, overflowed=loop.id, evaluations=evaluations
    )


def reopened_by(pipeline: Pipeline, rework_edge: EdgeId, sub_item: SubItemKey | None) -> Reopened:
    """What walking a rework edge clears: its target, its source and every node on a path between them.

    A branch that left the loop keeps its result; the edges into it are decided again when the loop comes by.
    Traversal counts are never cleared, so that every run ends.

    Raises:
        KeyError: the graph has no such edge.
    """
    span = pipeline.span_of(pipeline.edge(rework_edge))
    # Also those that leave the loop: what is behind them waits until the node was visited again.
    edges = (EdgeRef(edge.id, sub_item) for node_id in span for edge in pipeline.forward_from(node_id))
    return Reopened(instances=tuple(Instance(node_id, sub_item) for node_id in span), edges=tuple(edges))


def evaluate_edges(
    pipeline: Pipeline, node_id: NodeId, view: Mapping[str, Any], *, ask: Ask | None = None
) -> dict[EdgeId, bool]:
    """The edges of a node that were looked at, in declared order, and whether each holds.

    With `first-matching` nothing is looked at behind the first that holds.

    Raises:
        Undecided: as `out_edges_after`.
    """
    node = pipeline.node(node_id)
    edges = pipeline.edges_from(node.id)
    if node.evaluation == "explicit":
        chosen = _choice(node, view)
        return {edge.id: edge.id in chosen and edge.id in node.next_edges for edge in edges}
    results: dict[EdgeId, bool] = {}
    for edge in edges:
        results[edge.id] = evaluate(edge.condition, view, ask)
        # A question behind it would be paid for and change nothing.
        if results[edge.id] and node.evaluation == "first-matching":
            break
    return results


def _choice(node: Node, view: Mapping[str, Any]) -> frozenset[str]:
    for slot in node.outputs:
        output = view.get(slot)
        named = output.get("next_edges") if isinstance(output, Mapping) else None
        # The first slot that names edges counts; a model may put anything into the others.
        if isinstance(named, list | tuple):
            return frozenset(name for name in named if isinstance(name, str))
    return frozenset()


def _onward(
    pipeline: Pipeline, instance: Instance, taken: set[EdgeId], evaluations: Mapping[EdgeId, bool]
) -> EdgeVerdict:
    dead_end = bool(pipeline.forward_from(instance.node)) and not taken
    return EdgeVerdict(marks=_marks(pipeline, instance, taken), dead_end=dead_end, evaluations=evaluations)


def _marks(pipeline: Pipeline, instance: Instance, taken: set[EdgeId]) -> dict[EdgeRef, EdgeMark]:
    edges: tuple[Edge, ...] = pipeline.forward_from(instance.node)
    return {
        EdgeRef(edge.id, instance.sub_item): EdgeMark.TAKEN if edge.id in taken else EdgeMark.NOT_TAKEN
        for edge in edges
    }
