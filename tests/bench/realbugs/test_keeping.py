"""A kept result belongs to the code that made it."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from scripts.benchmarks.realbugs import harvesting, playing
from scripts.benchmarks.realbugs.keeping import (
    FINDING,
    REPAIRING,
    harvests_in,
    ranks_in,
    repairs_in,
    state_of,
)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "rule.py").write_text("MOST = 3\n")
    (folder / "other.py").write_text("")
    return folder


def changed(code: Path) -> None:
    (code / "rule.py").write_text("MOST = 4\n")


def added(code: Path) -> None:
    (code / "new.py").write_text("")


def gone(code: Path) -> None:
    (code / "other.py").unlink()


def renamed(code: Path) -> None:
    (code / "other.py").rename(code / "another.py")


@pytest.mark.parametrize("change", [changed, added, gone, renamed])
def test_the_state_is_another_when_the_code_is(code: Path, change: Callable[[Path], None]) -> None:
    before = state_of([code])

    change(code)

    assert state_of([code]) != before


def test_the_state_stays_when_nothing_but_compiled_files_come(code: Path) -> None:
    before = state_of([code])

    (code / "__pycache__").mkdir()
    (code / "__pycache__" / "rule.cpython-311.pyc").write_bytes(b"\0")

    assert state_of([code]) == before


def test_the_state_is_that_of_every_root(code: Path) -> None:
    assert state_of([code / "rule.py"]) != state_of([code / "rule.py", code / "other.py"])


@pytest.mark.parametrize(("roots", "module"), [(FINDING, harvesting), (REPAIRING, playing)])
def test_the_code_that_makes_a_result_is_among_its_roots(roots: tuple[Path, ...], module: ModuleType) -> None:
    assert all(root.exists() for root in roots)
    assert any(root in Path(str(module.__file__)).parents for root in roots)


def test_each_kind_of_result_has_a_folder_of_its_own_state(tmp_path: Path) -> None:
    folders = [harvests_in(tmp_path), repairs_in(tmp_path), ranks_in(tmp_path)]

    assert [folder.name for folder in folders] == [
        f"harvests-{state_of(FINDING)}",
        f"repairs-{state_of(REPAIRING)}",
        f"ranks-{state_of(REPAIRING)}",
    ]
    assert all(folder.is_dir() for folder in folders)
