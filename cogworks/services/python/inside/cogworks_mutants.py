"""Plausible mistakes in some lines, each tried on the tests in a fork that ends with it; imports nothing of cogworks."""

from __future__ import annotations

import ast
import copy
import gc
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from cogworks_functions import Stretches, first_line, outermost, places_around, source_of, tree_of

_FEWEST_S = 1.0
_PAUSE_S = 0.005
_UNNOTICED, _NOTICED, _NOT_PUT = 0, 1, 86
"""How a fork ends; whatever else it ends with is a mistake that was noticed."""
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
}  # fmt: skip


def try_mutants(
    session: pytest.Session,
    lines: dict[str, Stretches],
    begin: Callable[[], None],
    *,
    most: int,
    seconds: float,
) -> Iterator[dict[str, Any]]:
    """Records: that the tests passed once more, where each mistake is, what it is, and whether a test of this run notices it; or why
    none was tried.

    Args:
        begin: what is done first in each fork.
        most: so many at most, one of each line before a second one of any; none of a line any more in which one was noticed.
        seconds: of all of them together.
    """
    began = time.monotonic()
    ends = began + seconds
    run = partial(_end_of, session, begin)
    if run(lambda: True, limit_s=seconds) != _UNNOTICED:
        # What fails without a mistake notices none.
        yield {"kind": "untried", "text": "the tests fail, or do not end in time, without one"}
        return
    yield {"kind": "again"}
    waiting = _by_turns(_all_mutants(session, lines))
    limit_s = _FEWEST_S + 5 * (time.monotonic() - began)
    guarded: set[tuple[str, int]] = set()
    for artifact, line, change, put in waiting:
        left = ends - time.monotonic()
        if left <= 0 or most <= 0:
            return
        if (artifact, line) in guarded:
            continue
        most -= 1
        end = run(put, limit_s=min(left, limit_s))
        if end != _NOT_PUT:
            about = {"artifact": artifact, "line": line, "change": change}
            yield {"kind": "mutant", **about, "is_noticed": end != _UNNOTICED}
        if end not in (_UNNOTICED, _NOT_PUT):
            guarded.add((artifact, line))


Mutant = tuple[str, int, str, Callable[[], bool]]
"""Artifact, line, change, and what puts it into this process: whether that worked."""


def _by_turns(mutants: Iterable[Mutant]) -> list[Mutant]:
    """One of each line, then a second one of each."""
    turn: dict[tuple[str, int], int] = {}
    ranked = []
    for each in mutants:
        place = each[:2]
        turn[place] = turn.get(place, 0) + 1
        ranked.append((turn[place], each))
    return [each for _, each in sorted(ranked, key=lambda ranked: ranked[0])]


def _all_mutants(session: pytest.Session, lines: dict[str, Stretches]) -> Iterator[Mutant]:
    for artifact, stretches in sorted(lines.items()):
        path = os.path.join(str(session.config.rootpath), artifact)
        tree = tree_of(source_of(path))
        line_numbers = {line for first, last in stretches for line in range(first, last + 1)}
        functions = _live(os.path.realpath(path))
        for outer in outermost(tree):
            for line, change, mutated in _mutations(tree, outer, line_numbers):
                # What a decorator or a loop has made of an inner function already does not change with the outer one.
                codes = _codes(mutated, path, set(places_around(outer, line)))
                if codes:
                    yield artifact, line, change, partial(_put, functions, codes)


def _live(path: str) -> dict[int, list[FunctionType]]:
    """The functions of a file that are loaded, by their first lines."""
    functions: dict[int, list[FunctionType]] = {}
    paths: dict[str, bool] = {}
    for each in gc.get_objects():
        if not isinstance(each, FunctionType):
            continue
        name = each.__code__.co_filename
        if name not in paths:
            # Asked once for each file: there are tens of thousands of functions.
            paths[name] = os.path.realpath(name) == path
        if paths[name]:
            functions.setdefault(each.__code__.co_firstlineno, []).append(each)
    return functions


def _put(functions: dict[int, list[FunctionType]], codes: dict[int, CodeType]) -> bool:
    is_put = False
    for place, code in codes.items():
        for function in functions.get(place, []):
            if function.__code__.co_name != code.co_name:
                continue
            try:
                function.__code__ = code.replace(co_filename=function.__code__.co_filename)
            except ValueError:
                return False
            is_put = True
    return is_put


def _codes(tree: ast.Module, path: str, places: set[int]) -> dict[int, CodeType]:
    """The compiled functions that begin in these lines; none where the mistake does not compile."""
    try:
        waiting = [compile(tree, path, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, TypeError):
        return {}
    codes: dict[int, CodeType] = {}
    while waiting:
        for each in waiting.pop().co_consts:
            if isinstance(each, CodeType):
                if each.co_firstlineno in places and each.co_flags & 0x2:
                    codes.setdefault(each.co_firstlineno, each)
                waiting.append(each)
    return codes


def _end_of(
    session: pytest.Session, begin: Callable[[], None], put: Callable[[], bool], *, limit_s: float
) -> int:
    """What the tests come to in a fork of this process into which something was put; not to end in time is to notice it."""
    child = os.fork()
    if child == 0:
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            begin()
            os._exit(_NOT_PUT if not put() else _NOTICED if _has_failure(session) else _UNNOTICED)
        finally:
            os._exit(_NOTICED)
    ends = time.monotonic() + limit_s
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_PAUSE_S)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _NOTICED


def _has_failure(session: pytest.Session) -> bool:
    items = session.items
    return any(
        report.failed
        for at, item in enumerate(items)
        for report in runtestprotocol(
            item, log=False, nextitem=items[at + 1] if at + 1 < len(items) else None
        )
    )


def _mutations(
    tree: ast.Module, outer: ast.AST, line_numbers: set[int]
) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, change and the whole module with it, for each mistake in these lines of a function."""
    for number, node in enumerate(ast.walk(outer)):
        line = getattr(node, "lineno", 0)
        if line not in line_numbers or node is outer:
            continue
        for change in _changes(node):
            mutated = copy.deepcopy(tree)
            twin = next(each for each in outermost(mutated) if first_line(each) == first_line(outer))
            target = next(each for at, each in enumerate(ast.walk(twin)) if at == number)
            description = _changed(twin, target, change)
            if description:
                yield line, description, ast.fix_missing_locations(mutated)


def _changes(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise, ast.Delete)) and not _is_text(node):
        yield "gone"
    if isinstance(node, (ast.Compare, ast.BinOp, ast.BoolOp)):
        yield "other operator"
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield "negated"
    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        yield "other value"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changed(twin: ast.AST, node: Any, change: str) -> str:
    """Make the change; what it is in words, empty where there is none to make."""
    before = ast.unparse(node)
    if change == "gone":
        _replaced(twin, node, ast.Pass())
        return f"without `{_short(before)}`"
    if change == "negated":
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return f"`{_short(ast.unparse(node.test))}`"
    if change == "other value":
        node.value = (not node.value) if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Compare):
        if type(node.ops[0]) not in _COMPARED:
            return ""
        node.ops[0] = _COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        if type(node.op) not in _COUNTED:
            return ""
        node.op = _COUNTED[type(node.op)]()
    return f"`{_short(ast.unparse(node))}` for `{_short(before)}`"


def _replaced(twin: ast.AST, old: ast.AST, new: ast.stmt) -> None:
    for parent in ast.walk(twin):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and old in value:
                value[value.index(old)] = ast.copy_location(new, old)
                return


def _short(text: str) -> str:
    first = text.splitlines()[0]
    return first if len(first) <= 60 else f"{first[:59]}…"
