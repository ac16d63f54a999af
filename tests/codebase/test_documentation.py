"""The example that authors of services copy from the documentation works."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.codebase.repositories import BareRepository, git

PAGE = Path(__file__).parents[2] / "docs" / "working-copy.md"


@pytest.fixture
def example() -> dict[str, Any]:
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(text, PAGE.name, "exec"), names)
    return names


def test_the_example_corrects_a_file_and_looks_at_it(example: dict[str, Any], tmp_path: Path) -> None:
    remote = BareRepository(tmp_path)
    remote.put("main", {"a.txt": "wrong\n"})

    pushed = example["correct"](remote.url, tmp_path / "cache")
    lines = [example["first_line"](remote.url, tmp_path / "cache", ref) for ref in ("main", "corrections/1")]

    assert pushed == remote.head("corrections/1")
    assert git(remote.path, "log", "-1", "--format=%an %s", pushed) == "Ada Correct a.txt"
    assert lines == ["wrong", "corrected"]
    assert not any((tmp_path / "cache" / "copies").iterdir())
