"""A small repository and the diffs people and models make of it."""

from collections.abc import Mapping
from typing import Any

from cogworks.codebase.diffmodel import Diff, FileDiff, render
from cogworks.codebase.diffplacing import between
from cogworks.repair.violations import Ground, Span, Step

SHOP = "import os\nimport sys\n\n\ndef total(prices):\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n"
SOURCES: Mapping[str, str] = {
    "src/shop.py": SHOP,
    "src/two.py": "a = 1\nb = 2\n",
    "src/long.py": "".join(f"line{number} = {number}\n" for number in range(1, 301)),
    "src/three.py": "c = 3\n",
    "tests/test_shop.py": "def test_total():\n    assert total([1]) == 1\n",
    "handed/check.py": "assert total\n",
    "conftest.py": "import pytest\n",
    "pyproject.toml": '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    ".env": "A=1\n",
    "poetry.lock": "x = 1\n",
    ".github/workflows/ci.yml": "on: push\n",
    "other.py": "z = 1\n",
}
STEP = Step(
    id="fix-total",
    files=(
        "src/shop.py",
        "src/two.py",
        "src/long.py",
        "src/new.py",
        "src/three.py",
        "tests/test_new.py",
        *SOURCES,
    ),
    create=("src/new.py", "tests/test_new.py"),
    delete=("src/two.py",),
    spans=(Span("src/long.py", 100, 110),),
    handed_over=("handed/check.py",),
    # As a repository says that lets models change manifests: the other rules still hold there.
    asked=(),
)
GROUND = Ground(sources=SOURCES, existing=frozenset(SOURCES))


def change(path: str, old: str, new: str) -> FileDiff:
    """One replacement in a file of the repository."""
    source = SOURCES[path]
    assert old in source
    return between(path, source, source.replace(old, new, 1))


def text_of(*files: FileDiff) -> str:
    return render(Diff(files=files))


def created(path: str, text: str = "x = 1\n", **more: Any) -> FileDiff:
    file = between(path, "", text)
    return file.model_copy(update={"kind": "create", "new_mode": "100644"} | more)


def deleted(path: str) -> FileDiff:
    file = between(path, SOURCES.get(path, "x\n"), "")
    return file.model_copy(update={"kind": "delete", "old_mode": "100644"})


FIX = text_of(change("src/shop.py", "result -= price", "result += price"))
