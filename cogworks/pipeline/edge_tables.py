"""How one edge is read from its table: condition, rework and all."""

import re
from typing import get_args

from cogworks.pipeline.elements import (
    MAX_TRAVERSALS,
    AllOf,
    AnyOf,
    Condition,
    Edge,
    EdgeId,
    ExpressionCondition,
    ModelCondition,
    Negation,
    Overflow,
    Rework,
)
from cogworks.pipeline.expressions import ExpressionError, parse_expression, print_expression
from cogworks.pipeline.node_tables import SLOT
from cogworks.pipeline.not_obeyed import NOT_OBEYED_BY_REWORK
from cogworks.pipeline.tables import Shape, Table, shown
from cogworks.vocabulary import NodeId

MAX_CONDITION_DEPTH = 8

_EDGE_ID = Shape(re.compile(r"[a-z][a-z0-9_]{0,79}"), "snake_case, at most 80 characters")


def read_edge(table: Table) -> Edge:
    """The edge a `[[…edges]]` table declares, which may name nodes that do not exist."""
    table.need("source")
    table.need("target")
    source, target = table.text("source") or "", table.text("target") or ""
    edge_id = table.text("id", _EDGE_ID) or f"{source}_to_{target}"
    table.where += f" ({shown(edge_id)[1:-1]})"
    condition = table.table("condition")
    rework = table.table("rework")
    edge = Edge(
        id=EdgeId(edge_id),
        source=NodeId(source),
        target=NodeId(target),
        condition=None if condition is None else _condition(condition, 1),
        rework=None if rework is None else _rework(rework),
    )
    table.close()
    return edge


def _rework(table: Table) -> Rework:
    table.need("max_traversals")
    overflow_edge = table.text("overflow_edge")
    rework = Rework(
        max_traversals=table.integer("max_traversals", minimum=1, maximum=MAX_TRAVERSALS) or 1,
        preserve=table.texts("preserve", SLOT),
        overflow=table.choice("overflow", get_args(Overflow)) or "escalate",
        overflow_edge=None if overflow_edge is None else EdgeId(overflow_edge),
    )
    table.refuse_all(NOT_OBEYED_BY_REWORK)
    table.close()
    return rework


def _condition(table: Table, depth: int) -> Condition | None:
    kinds = [kind for kind in ("expr", "llm", "all", "any", "not") if kind in table]
    found: Condition | None = None
    if depth > MAX_CONDITION_DEPTH:
        table.problems.append(f"{table.where}: nested deeper than {MAX_CONDITION_DEPTH} levels; simplify it")
        return None
    if len(kinds) != 1:
        named = " and ".join(kinds) or "none"
        table.problems.append(
            f"{table.where}: has {named} of `expr`, `llm`, `all`, `any`, `not`; wanted exactly one"
        )
    elif kinds == ["expr"]:
        found = _expression(table)
    elif kinds == ["llm"]:
        found = _model_condition(table)
    elif kinds == ["not"]:
        inner = table.table("not")
        negated = None if inner is None else _condition(inner, depth + 1)
        found = None if negated is None else Negation(condition=negated)
    else:
        found = _composite(table, kinds[0], depth)
    if len(kinds) == 1:
        table.close()
    return found


def _expression(table: Table) -> Condition | None:
    text = table.text("expr")
    if text is None:
        return None
    try:
        return ExpressionCondition(expr=print_expression(parse_expression(text)))
    except ExpressionError as error:
        table.refuse("expr", f"is {shown(text)}: column {error.column}: {error.reason}")
        return None


def _model_condition(table: Table) -> Condition | None:
    table.need("fallback")
    question = table.text("llm")
    fallback = table.boolean("fallback")
    return (
        None if question is None or fallback is None else ModelCondition(question=question, fallback=fallback)
    )


def _composite(table: Table, kind: str, depth: int) -> Condition | None:
    members = [_condition(each, depth + 1) for each in table.tables(kind)]
    if kind in table and isinstance(table.data[kind], list) and not members:
        table.refuse(kind, "is empty, wanted at least one condition")
    found = tuple(each for each in members if each is not None)
    if len(found) != len(members) or not found:
        return None
    return AllOf(conditions=found) if kind == "all" else AnyOf(conditions=found)
