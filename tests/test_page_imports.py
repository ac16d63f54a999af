"""Every name that an example on a page imports exists."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cogworks

ROOT = Path(cogworks.__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def imports_of(page: str) -> Iterator[tuple[str, str]]:
    """Module and name of everything that the examples of a page import from cogworks."""
    for example in EXAMPLE.findall(page):
        for node in ast.walk(ast.parse(example)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "cogworks":
                yield from ((str(node.module), alias.name) for alias in node.names)


IMPORTS = sorted({each for page in PAGES for each in imports_of(page.read_text("utf-8"))})


def test_the_examples_are_found() -> None:
    assert len(IMPORTS) > 10
    assert list(imports_of("```python\nfrom cogworks.errors import A, B\nimport os\n```\n")) == [
        ("cogworks.errors", "A"),
        ("cogworks.errors", "B"),
    ]


@pytest.mark.parametrize(("module", "name"), IMPORTS)
def test_what_an_example_imports_is_there(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)
