"""Where a statement may be put into a function, and which may be left out, so that the file stays a valid one.

What stands before the first statement of a body (a `#!` line, an encoding, a docstring, `from __future__`) is never touched:
only bodies of functions are changed, and what is put in comes after their docstring.
"""

import ast
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cogworks.domain_services.exploring import NOTED, Lines

_USED = frozenset({"type", "int", "float", "str", "bytes", "list", "tuple", "dict", "set", "frozenset"})
_MOST_NAMES = 8
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Misfit(ValueError):
    """It cannot be done, and why."""


class Body(NamedTuple):
    """The body of a function without its docstring."""

    text: str
    """Of the whole file."""
    statements: tuple[Lines, ...]
    indentation: str
    names: tuple[str, ...]
    """Its parameters."""


def body_at(data: bytes, line: int) -> Body:
    """The body of the innermost function around a line.

    Raises:
        Misfit: the file cannot be parsed, no function is there, or its body has no line of its own.
    """
    try:
        text = data.decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Misfit(f"cannot be parsed: {error}") from error
    if "\r" in text.replace("\r\n", "\n"):
        raise Misfit("its lines end in a carriage return alone")
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Function) and _first_line(node) <= line <= (node.end_lineno or 0)
    ]
    if not around:
        raise Misfit("no function is there")
    function = max(around, key=lambda node: (_first_line(node), node.lineno))
    rows = text.split("\n")
    statements = _statements(function)
    indentation = rows[statements[0][0] - 1][: _work(function)[0].col_offset]
    if indentation.strip() or statements[0][0] <= function.lineno:
        raise Misfit("the body has no line of its own")
    if _hidden(tree):
        raise Misfit(f"the file has names of its own for {', '.join(_hidden(tree))}")
    return Body(text, statements, indentation, _parameters(function))


def noting(body: Body) -> str:
    """The file with a line that keeps the kind of every parameter in a variable.

    Raises:
        Misfit: there is no parameter.
    """
    if not body.names:
        raise Misfit("the function has no parameters")
    names = body.names[:_MOST_NAMES]
    kept = "; ".join(f"{NOTED}{name} = {_kind(name)}" for name in names)
    return _put_in(body, kept)


def checking(body: Body, allowed: Mapping[str, Sequence[str]]) -> str:
    """The file with a line that fails unless each of these parameters is of an allowed kind.

    Raises:
        Misfit: nothing is to be checked, or it is no parameter.
    """
    unknown = sorted({*allowed} - {*body.names})
    if unknown or not allowed:
        raise Misfit(
            f"no parameter is called {', '.join(unknown)}" if unknown else "nothing is to be checked"
        )
    checks = "; ".join(
        f"assert {_kind(name)} in {tuple(kinds)!r}, {f'{NOTED}{name}'!r}"
        for name, kinds in sorted(allowed.items())
    )
    return _put_in(body, checks)


def shortened(body: Body, without: Sequence[Lines]) -> str:
    """The file without some statements of the function.

    Raises:
        Misfit: one of them is none of its statements, or nothing would be left.
    """
    left_out = frozenset(without)
    if strange := sorted(left_out - {*body.statements}):
        raise Misfit(f"{strange[0][0]}-{strange[0][1]} is no statement of the function")
    if left_out == {*body.statements}:
        raise Misfit("nothing would be left of the function")
    gone = {line for first, last in left_out for line in range(first, last + 1)}
    rows = body.text.split("\n")
    return "\n".join(row for number, row in enumerate(rows, 1) if number not in gone)


def _put_in(body: Body, code: str) -> str:
    rows = body.text.split("\n")
    at = body.statements[0][0] - 1
    end = "\r" if rows[at].endswith("\r") else ""
    return "\n".join([*rows[:at], f"{body.indentation}{code}{end}", *rows[at:]])


def _kind(name: str) -> str:
    """An expression that calls nothing of the program's own."""
    sized = "(str, bytes, list, tuple, dict, set, frozenset)"
    negative = f"(' negative' if type({name}) in (int, float) and {name} < 0 else '')"
    empty = f"(' empty' if type({name}) in {sized} and not {name} else '')"
    return f"(type({name}).__name__ + {negative} + {empty})"


def _work(function: _Function) -> Sequence[ast.stmt]:
    """The body without its docstring, unless that is all."""
    has_docstring = ast.get_docstring(function, clean=False) is not None
    return function.body[1:] if has_docstring and len(function.body) > 1 else function.body


def _statements(function: _Function) -> tuple[Lines, ...]:
    statements: list[Lines] = []
    for each in _work(function):
        first, last = _first_line(each), each.end_lineno or each.lineno
        if statements and first <= statements[-1][1]:
            statements[-1] = (statements[-1][0], max(last, statements[-1][1]))
        else:
            statements.append((first, last))
    return tuple(statements)


def _first_line(node: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(each.lineno for each in decorators)])


def _parameters(function: _Function) -> tuple[str, ...]:
    arguments = function.args
    listed = [
        *arguments.posonlyargs,
        *arguments.args,
        *filter(None, [arguments.vararg]),
        *arguments.kwonlyargs,
    ]
    return tuple(each.arg for each in [*listed, *filter(None, [arguments.kwarg])])


def _hidden(tree: ast.Module) -> list[str]:
    """Names the inserted lines need that the file gives another meaning."""
    bound = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, _Function | ast.ClassDef)}
    return sorted(_USED & bound)
