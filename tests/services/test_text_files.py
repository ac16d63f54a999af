"""Tests that stand in texts, as pytest finds them by `--doctest-glob`."""

from pathlib import Path

import pytest

from cogworks.domain_services.messages import Caller
from cogworks.settings.config import read_environment
from cogworks.wiring.services import open_panel
from tests.codebase.repositories import git

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
FILES = {
    "pytest.ini": "[pytest]\naddopts = --doctest-glob=*.md\n",
    "guide.md": ">>> 1 + 1\n2\n",
    "test_a.py": "def test_a():\n    assert True\n",
    "package.json": "{}\n",
}


class Tree:
    def __init__(self, path: Path) -> None:
        self.path = path


def test_a_test_in_a_text_runs_again_by_its_name_alone_and_beside_others(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    tree = Tree(tmp_path)
    environment = read_environment({"HOME": str(tmp_path), "COGWORKS_WORK_DIR": str(tmp_path / "work")})
    with open_panel({}, environment, caller=Caller(node="fix"), warn=print, names=("test_a.py",)) as panel:
        whole = panel.simulate(tree)
        both = [case.id for case in whole.cases]
        again = panel.simulate(tree, both)
        grouped = panel.simulate_groups(tree, [["test_a.py::test_a"], ["guide.md::guide.md"]], timeout_s=300)

    assert sorted(both) == ["guide.md::guide.md", "test_a.py::test_a"]
    assert sorted(case.id for case in again.cases) == sorted(both)
    assert grouped is not None
    assert sorted(case.id for case in grouped.cases) == sorted(both)
