"""What `docs/hub.md` says is tested."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from cogworks.hub.faults import FaultKind

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "hub.md").read_text("utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
TABLE = NAMED.findall(PAGE)


def untested(page: str) -> list[str]:
    """Every row of every table, and every section, that names no test; a table says with its last column that it does."""
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    silent = [section.partition("\n")[0] for section in sections if not NAMED.search(section)]
    return silent + [row for table in _tables(page) for row in _silent(table)]


def _tables(page: str) -> Iterator[list[str]]:
    for block in re.split(r"\n\s*\n", page):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        if lines:
            yield lines


def _silent(table: list[str]) -> Iterator[str]:
    head, _, *rows = table
    if _last(head).strip() != "test":
        yield head
    yield from (row for row in rows if not NAMED.search(_last(row)))


def _last(row: str) -> str:
    return row.strip().removesuffix("|").rpartition("|")[2]


@pytest.mark.parametrize(("file", "name"), TABLE)
def test_every_test_that_the_documentation_names_is_there(file: str, name: str) -> None:
    assert f"\ndef {name}(" in (HERE / file).read_text("utf-8")


def test_the_documentation_names_a_test_for_every_behaviour() -> None:
    assert untested(PAGE) == []


def test_every_kind_of_fault_has_its_row() -> None:
    table = next(table for table in _tables(PAGE) if table[0].startswith("| kind |"))

    told = [kind for row in table[2:] for kind in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(told) == sorted(get_args(FaultKind))


@pytest.mark.parametrize(
    "page",
    [
        "## A\n\nIt flies.\n",
        "## A\n\n`a.py::test_b`\n\n| GitHub | test |\n|---|---|\n| it flies | |\n",
        "## A\n\n| GitHub | test |\n|---|---|\n| `a.py::test_b` | it flies |\n| it swims | `a.py::test_b` |\n",
        "## A\n\n`a.py::test_b`\n\n| what | happens |\n|---|---|\n| it | flies |\n",
    ],
    ids=["a section", "a row", "a test in another column", "a table without the column"],
)
def test_a_behaviour_without_a_test_is_found(page: str) -> None:
    assert untested(page)
