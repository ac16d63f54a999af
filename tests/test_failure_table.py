"""The table of failures names tests that exist, and every row names one."""

import re
from pathlib import Path

import pytest

from tests.named import functions

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "failures.md"
ROWS = [line for line in TABLE.read_text("utf-8").splitlines() if re.match(r"\| (?!event |---)", line)]
_TEST = re.compile(r"`(?P<file>tests/[a-z0-9_/]+\.py)::(?P<name>test_\w+)` \|$")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_every_row_names_a_test_that_is_there(row: str) -> None:
    named = _TEST.search(row)

    assert named, row
    assert named["name"] in functions(named["file"])


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 60
