"""A folder holds modules by the names of Python's own tools: whoever works in it runs none of them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from cogworks.services.python.installing import configured_indexes
from scripts.action_install import _run as run_installing
from scripts.action_install import install, place_in
from tests.end_to_end.scene import HOST_ENVIRONMENT
from tests.forking import Cogworks
from tests.limits import ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]
TOOLS = ("pip", "venv", "ensurepip", "cogworks")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A checkout in which each of the tools leaves a file beside it."""
    checkout = tmp_path / "checkout"
    for tool in TOOLS:
        for name in ("__init__.py", "__main__.py"):
            place = checkout / tool / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"open({str(tmp_path / f'{tool}-started')!r}, 'w').close()\n")
    return checkout


def started(checkout: Path) -> list[str]:
    return sorted(path.name for path in checkout.parent.glob("*-started"))


def test_python_alone_would_start_them(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)

    run_installing([sys.executable, "-m", "pip", "--version"])

    assert started(hostile) == ["pip-started"]


def test_asking_pip_where_packages_come_from_starts_none(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile)

    found = configured_indexes({**os.environ, "PIP_INDEX_URL": "https://index.example/simple"})

    assert started(hostile) == []
    assert found.urls[0] == "https://index.example/simple/"


def test_doctor_starts_none(hostile: Path) -> None:
    work = {"HOME": str(hostile.parent), "COGWORKS_WORK_DIR": str(hostile.parent / "work")}

    with Cogworks(
        ["doctor"],
        env={**HOST_ENVIRONMENT, **work},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        first=partial(os.chdir, hostile),
    ) as running:
        said, _ = running.communicate(timeout=ENDS_WITHIN_S)

    assert "package index" in said
    assert started(hostile) == []


def test_the_installer_of_the_action_starts_none(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    place = place_in(hostile.parent / "home")
    place.packages.mkdir(parents=True)
    tools: list[str] = []

    def run(command: Sequence[str]) -> None:
        # Each tool as it is called, by the Python that is here and without what it would do.
        end = command.index("-m") + 2
        tools.append(command[end - 1])
        run_installing([sys.executable, *command[1:end], "--help"])

    install(place, run)

    assert tools == ["venv", "pip", "pip"]
    assert started(hostile) == []


@pytest.mark.parametrize("module", ["demo/play.py", "demo/stage.py"])
def test_the_demonstration_takes_no_module_of_the_folder_for_ours(module: str) -> None:
    """It starts programs of its own in the folder that it was called in."""
    text = (ROOT / "cogworks" / module).read_text("utf-8")

    assert '[sys.executable, "-P", "-m", "cogworks"' in text
    assert text.count("sys.executable") == 1
