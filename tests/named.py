"""The tests that documents and tables name: whether they are there."""

import ast
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[1]


@cache
def functions(path: str) -> frozenset[str]:
    """The names of the functions of a file, at its top and in its classes; its path begins at the root."""
    tree = ast.parse((_ROOT / path).read_text("utf-8"))
    bodies = (tree.body, *(each.body for each in tree.body if isinstance(each, ast.ClassDef)))
    return frozenset(each.name for body in bodies for each in body if isinstance(each, ast.FunctionDef))
