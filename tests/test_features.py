"""`docs/features.md` names every acceptance row once, and no test that is not there."""

import re
from pathlib import Path

import pytest

from tests.named import functions

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "features.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([A-Z]{2}-\d\d) \| .+ \| (.+) \|$", PAGE, re.MULTILINE)
NAMED = re.findall(r"`(tests/[^`]+\.py)::(\w+)`", PAGE)


def test_every_named_test_exists() -> None:
    assert NAMED
    assert [f"{path}::{name}" for path, name in NAMED if name not in functions(path)] == []


@pytest.mark.parametrize(("section", "count"), [("CW", 50), ("CG", 35), ("CU", 35)])
def test_every_row_of_a_section_is_there_once(section: str, count: int) -> None:
    rows = [row for row, _ in ROWS if row.startswith(f"{section}-")]

    assert rows == [f"{section}-{number:02}" for number in range(1, count + 1)]


def test_every_row_of_the_patch_loop_is_there_once() -> None:
    rows = [row for row, _ in ROWS if row.startswith("TN-")]
    numbers = (*range(1, 53), *range(60, 69), *range(80, 84), 90, 91)

    assert rows == [f"TN-{number:02}" for number in numbers]


def test_every_row_of_the_test_hand_off_is_there_once() -> None:
    rows = [row for row, _ in ROWS if row.startswith("SW-")]

    assert rows == [f"SW-{number:02}" for number in range(1, 28)]


def test_a_row_without_a_proof_says_so() -> None:
    silent = [row for row, proof in ROWS if "::" not in proof and not proof.startswith("not ")]

    assert silent == []
