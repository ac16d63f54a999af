"""Pages can be read in a terminal and compared line by line: prose has at most 120 columns."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cogworks

WIDTH = 120
ROOT = Path(cogworks.__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"\s*(```|~~~)")
AS_THEY_ARE = ("|", "[")
"""Rows of tables and references of links cannot be wrapped."""


def test_the_pages_are_there() -> None:
    assert len(PAGES) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_of_prose_is_too_wide(page: Path) -> None:
    assert [line for line in _prose(page.read_text("utf-8")) if len(line) > WIDTH] == []


def _prose(text: str) -> Iterator[str]:
    in_code = False
    for line in text.splitlines():
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and not line.startswith(AS_THEY_ARE):
            yield line
