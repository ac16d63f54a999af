"""`docs/features.md` names every acceptance row once, and no test that is not there."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "features.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([A-Z]{2}-\d\d) \| .+ \| (.+) \|$", PAGE, re.MULTILINE)
NAMED = re.findall(r"`(tests/[^`]+\.py)::(\w+)`", PAGE)


@cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_named_test_exists() -> None:
    assert NAMED
    assert [f"{path}::{name}" for path, name in NAMED if name not in functions(path)] == []


def test_every_row_of_the_decision_cycle_is_there_once() -> None:
    rows = [row for row, _ in ROWS if row.startswith("CG-")]

    assert rows == [f"CG-{number:02}" for number in range(1, 36)]


def test_a_row_without_a_proof_says_so() -> None:
    silent = [row for row, proof in ROWS if "::" not in proof and not proof.startswith("not ")]

    assert silent == []
