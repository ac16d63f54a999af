"""Code of a repository waits for a machine, or a user, that cannot keep it in: whichever operation would run it, it does not."""

from pathlib import Path
from typing import Any

import pytest

from cogworks.services.command.ground import Commands
from cogworks.services.sandbox.isolation import NO_ISOLATION
from tests.services import asking
from tests.services.asking import laid_out
from tests.services.command import commanding

AS_ROOT = NO_ISOLATION._replace(is_root=True)
WHO = pytest.mark.parametrize(
    ("isolation", "needs_walls"), [(AS_ROOT, False), (NO_ISOLATION, True)], ids=["root", "untrusted"]
)


def hostile(folder: Path) -> tuple[Path, Path]:
    """A repository all of whose code writes to a place of the machine, and that place."""
    taken = folder / "taken"
    writes = f"open({str(taken)!r}, 'w').close()\n"
    files = {
        "a.py": "def one():\n    return 1\n",
        "conftest.py": writes,
        "test_a.py": "from a import one\n\n\ndef test_one():\n    assert one() == 1\n",
        "plugin.py": f"{writes}def plugin(version): ...\n",
        "mypy.ini": "[mypy]\nplugins = ./plugin.py\n",
        "a.go": "package a\n",
        "a_test.go": "package a\n",
    }
    return laid_out(folder / "repository", files), taken


PYTHON: dict[str, dict[str, Any]] = {
    "simulate": {},
    "coverage": {"tests": []},
    "trace": {"test": "test_a.py::test_one"},
    "beside": {"tests": ["test_a.py::test_one"], "lines": {"a.py": []}},
    "validate": {"artifacts": ["a.py"]},
}


@WHO
@pytest.mark.parametrize("method", PYTHON)
def test_the_python_service_runs_none(method: str, isolation: Any, needs_walls: bool, tmp_path: Path) -> None:
    repository, taken = hostile(tmp_path)

    asking.ask(method, repository, isolation=isolation, needs_walls=needs_walls, **PYTHON[method])

    assert not taken.exists()


COMMANDS: dict[str, dict[str, Any]] = {
    "simulate": {},
    "validate": {"artifacts": ["a.go"]},
    "normalise": {"artifacts": ["a.go"]},
}


@WHO
@pytest.mark.parametrize("method", COMMANDS)
def test_the_service_of_commands_runs_none(
    method: str, isolation: Any, needs_walls: bool, tmp_path: Path
) -> None:
    repository, taken = hostile(tmp_path)
    line = f"touch {taken}"
    commands = Commands(test=line, lint=f"{line} {{files}}", format=f"{line} {{files}}", report="tap")

    commanding.ask(
        method,
        repository,
        commands=commands,
        isolation=isolation,
        caller={"needs_walls": needs_walls},
        **COMMANDS[method],
    )

    assert not taken.exists()


def test_the_same_attacks_succeed_where_neither_holds(tmp_path: Path) -> None:
    for method, params in PYTHON.items():
        if method != "beside":
            repository, taken = hostile(tmp_path / method)
            asking.ask(method, repository, isolation=NO_ISOLATION, **params)
            assert taken.exists(), method


def test_root_is_told_what_to_do(tmp_path: Path) -> None:
    repository, _ = hostile(tmp_path)

    response = asking.ask("simulate", repository, isolation=AS_ROOT)

    assert response.error is not None
    assert response.error.code == "tool_not_found"
    assert "Run it as another user" in response.error.message
