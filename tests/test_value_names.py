"""A name says what a value is, not that it was found or told (docs/adr/0021-names-of-values.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import cogworks

AVOIDED = {"found", "told"}
SPELLED = re.compile(rf"\b_*(?:{'|'.join(AVOIDED)})_*\b")
"""Without a word like that no module has such a name, and to read all of them takes seconds."""
PACKAGE = Path(cogworks.__file__).parent
RECORDED = (PACKAGE / "demo" / "sample", PACKAGE / "evaluation" / "bundled")
"""Sample repositories: what models answered about them is recorded word for word."""


def bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each variable, parameter and function. Fields of records are names of the wire."""
    fields = {
        id(line.target)
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
        for line in each.body
        if isinstance(line, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name


def test_no_value_is_named_for_having_been_found_or_told() -> None:
    modules = [
        path for path in PACKAGE.rglob("*.py") if not any(path.is_relative_to(each) for each in RECORDED)
    ]
    named = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in modules
        if SPELLED.search(text := path.read_text("utf-8"))
        for line, name in bound_names(ast.parse(text))
        if name.strip("_") in AVOIDED
    ]

    assert len(modules) > 100, f"the modules are not below {PACKAGE}"
    assert named == []


def test_every_kind_of_name_is_looked_at() -> None:
    code = "class A:\n    found: str\n    def told(self, said):\n        for made in said:\n            lambda found: 1\n"

    assert sorted(bound_names(ast.parse(code))) == [
        (3, "said"),
        (3, "self"),
        (3, "told"),
        (4, "made"),
        (5, "found"),
    ]
