"""Code of a repository waits for a machine, or a user, that cannot keep it in: whichever operation would run it, it does not."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import Response
from cogworks.services.command.answering import CommandService
from cogworks.services.command.ground import Commands
from cogworks.services.command.ground import Machine as CommandMachine
from cogworks.services.python.answering import PythonService
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.isolation import NO_ISOLATION
from tests.services import asking
from tests.services.asking import laid_out
from tests.services.command import commanding
from tests.services.package_server import repacked, serving, with_pytest
from tests.services.pythons import WITH_UV
from tests.services.test_own_setup import committed

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


def covered(repository: Path, taken: Path, **asked: Any) -> Response:
    line = f"touch {taken}; go test ./..."
    commands = Commands(language="go", test=line, report="go-json")
    return commanding.ask("coverage", repository, commands=commands, **asked)


@WHO
def test_the_service_of_commands_measures_no_lines(isolation: Any, needs_walls: bool, tmp_path: Path) -> None:
    repository, taken = hostile(tmp_path)

    answer = covered(repository, taken, isolation=isolation, caller={"needs_walls": needs_walls})

    assert answer.error is not None
    assert answer.error.code == "tool_not_found"
    assert not taken.exists()


@commanding.needs("go")
def test_lines_are_measured_where_neither_holds(tmp_path: Path) -> None:
    repository, taken = hostile(tmp_path)

    covered(repository, taken, isolation=NO_ISOLATION)

    assert taken.exists()


@pytest.mark.slow
def test_the_same_attacks_succeed_where_neither_holds(tmp_path: Path) -> None:
    for method, params in PYTHON.items():
        if method != "beside":
            repository, taken = hostile(tmp_path / method)
            asking.ask(method, repository, isolation=NO_ISOLATION, **params)
            assert taken.exists(), method


def test_the_same_commands_succeed_where_neither_holds(tmp_path: Path) -> None:
    for method, params in COMMANDS.items():
        repository, taken = hostile(tmp_path / method)
        line = f"touch {taken}"
        commanding.ask(
            method,
            repository,
            commands=Commands(test=line, lint=f"{line} {{files}}", format=f"{line} {{files}}", report="tap"),
            isolation=NO_ISOLATION,
            **params,
        )
        assert taken.exists(), method


METHODS = pytest.mark.parametrize("method", ["prepare", "simulate"])


def set_up(service: Any, method: str, repository: Path, taken: Path, *, needs_walls: bool) -> Response:
    """What a service says to a repository whose setup writes to a place of the machine."""
    request = {
        "request_id": "1",
        "method": method,
        "repository": {"path": str(repository), "settings": {"setup": [f"touch {taken}"]}},
        "caller": {"needs_walls": needs_walls},
        "params": {},
    }
    answer: Response = service.answer(json.dumps(request).encode())
    return answer


def of_python(kept: Path, isolation: Any, index: str) -> PythonService:
    environments = Environments(kept, settings={"PIP_INDEX_URL": index})
    return PythonService(Machine(WITH_UV, isolation, environments))


def of_commands(kept: Path, isolation: Any) -> CommandService:
    commands = Commands(test="true", report="tap")
    return CommandService(
        CommandMachine(os.environ["PATH"], isolation, commands, kept, settings={}, home=kept)
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("packages")
    with_pytest(folder)
    repacked(folder, "pip")
    with serving(folder) as server:
        yield server.address


@pytest.mark.slow
@WHO
@METHODS
@pytest.mark.parametrize("language", ["python", "commands"])
def test_no_setup_runs(
    *, method: str, language: str, isolation: Any, needs_walls: bool, index: str, tmp_path: Path
) -> None:
    repository, taken = committed(tmp_path / "repository", {"a.txt": "1\n"}), tmp_path / "taken"
    kept = tmp_path / "kept"
    service = of_python(kept, isolation, index) if language == "python" else of_commands(kept, isolation)

    set_up(service, method, repository, taken, needs_walls=needs_walls)

    assert not taken.exists()


@pytest.mark.slow
@METHODS
@pytest.mark.parametrize("language", ["python", "commands"])
def test_the_same_setup_runs_where_neither_holds(
    method: str, language: str, index: str, tmp_path: Path
) -> None:
    repository, taken = committed(tmp_path / "repository", {"a.txt": "1\n"}), tmp_path / "taken"
    kept = tmp_path / "kept"
    service = (
        of_python(kept, NO_ISOLATION, index) if language == "python" else of_commands(kept, NO_ISOLATION)
    )

    told = set_up(service, method, repository, taken, needs_walls=False)

    assert taken.exists(), told


def test_root_is_told_what_to_do(tmp_path: Path) -> None:
    repository, _ = hostile(tmp_path)

    response = asking.ask("simulate", repository, isolation=AS_ROOT)

    assert response.error is not None
    assert response.error.code == "tool_not_found"
    assert "Run it as another user" in response.error.message
