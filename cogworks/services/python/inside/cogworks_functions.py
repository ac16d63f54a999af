"""Where the functions of a file begin and end; imports nothing of cogworks."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence
from typing import Any

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
Stretches = Sequence[Sequence[int]]


def source_of(path: str) -> str:
    """A file's text, in the encoding that it names; empty where there is none that can be read."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, ValueError, SyntaxError):
        # An unknown encoding raises the last of them.
        return ""


def tree_of(text: str) -> ast.Module:
    """The syntax tree of a text; empty where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.parse("")


def places_in(text: str, lines: Stretches) -> list[int]:
    """The first lines of the innermost functions that hold some of these lines; where none does, of all functions."""
    functions = [each for each in ast.walk(tree_of(text)) if isinstance(each, DEFS)]
    around = {
        first_line(each)
        for first, last in lines
        for line in range(first, last + 1)
        for each in _innermost(functions, line)
    }
    return sorted(around or {first_line(each) for each in functions})


def first_line(function: Any) -> int:
    """Where its code begins, as the interpreter counts: with its decorators."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def places_around(outer: Any, line: int) -> list[int]:
    """The first lines of a function and of those within it that hold a line."""
    inside = (each for each in ast.walk(outer) if isinstance(each, DEFS))
    return [
        first_line(each) for each in inside if first_line(each) <= line <= (each.end_lineno or each.lineno)
    ]


def outermost(tree: ast.Module) -> Iterator[Any]:
    """The functions that stand in no other one."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for each in ast.iter_child_nodes(waiting.pop()):
            if isinstance(each, DEFS):
                yield each
            else:
                waiting.append(each)


def _innermost(functions: Sequence[Any], line: int) -> list[Any]:
    around = [each for each in functions if first_line(each) <= line <= (each.end_lineno or each.lineno)]
    return sorted(around, key=lambda each: -first_line(each))[:1]
