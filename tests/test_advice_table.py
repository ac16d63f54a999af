"""The table of advice in docs/people.md names every advice that the program gives, and a test that follows it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.named import functions

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "people.md").read_text("utf-8").partition("## What messages advise")[2]
ROW = re.compile(
    r"^\| (?P<advice>.+?) \| .+? \| `(?P<file>tests/[a-z0-9_/]+\.py)::(?P<test>test_\w+)` \|$", re.MULTILINE
)
ROWS = [(found["advice"], found["file"], found["test"]) for found in ROW.finditer(PAGE)]
SPEAKING = ("engine", "nodes", "codegen", "pipeline", "forge", "github", "ledger", "codebase")
"""Packages whose texts reach the people on an issue."""
ADVISING = re.compile(
    r"set it again|/cogworks (?:retry|restart|run|resume)|restore (?:it|the branch|branch|`)|reopen (?:it|the|pull)|raise [`…]|"
    r"by hand|more precise|then retry|then restart|restart the item|delete (?:that|the status) comment|run the step again|"
    r"label when the item"
)
FORMS = {"/cogworks run", "/cogworks retry", "/cogworks restart", "/cogworks resume <why>"}
"""How commands are written, for lists of them."""


def said() -> Iterator[tuple[str, str]]:
    """Every text of the program: its place, and its words with a dash of dots for what is filled in."""
    for package in SPEAKING:
        for file in sorted((ROOT / "cogworks" / package).glob("*.py")):
            yield from _texts(ast.parse(file.read_text("utf-8")), file)


def _texts(tree: ast.Module, file: Path) -> Iterator[tuple[str, str]]:
    bodies = (
        node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    )
    skipped = {id(each.value) for body in bodies for each in body if isinstance(each, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    skipped |= {id(part) for node in joined for part in node.values}
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        words = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
        yield f"{file.name}:{node.lineno}", words.lower()


@cache
def texts() -> list[tuple[str, str]]:
    return list(said())


def advice_given() -> list[tuple[str, str]]:
    """What of it advises anything: its place and its words."""
    return [(place, words) for place, words in texts() if ADVISING.search(words) and words not in FORMS]


@pytest.mark.parametrize(("advice", "file", "test"), ROWS, ids=[advice for advice, _, _ in ROWS])
def test_every_row_is_still_advised_and_names_a_test_that_is_there(advice: str, file: str, test: str) -> None:
    assert test in functions(file)
    assert any(advice in words for _, words in texts()), f"nobody says {advice!r} any more"


def test_every_advice_has_a_row() -> None:
    without = [
        f"{place}: {words}"
        for place, words in advice_given()
        if not any(advice in words for advice, _, _ in ROWS)
    ]

    assert without == []


def test_advice_is_found_at_all() -> None:
    assert len(advice_given()) > 40
