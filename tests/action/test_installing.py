"""How the Action installs itself: once, from its own checkout, by hashes, and without a secret in reach."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import action_install
from scripts.action_install import Failed, Place, child_environment, install, place_in
from tests.limits import ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]
STEPS: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]


class Machine:
    """Runs no command, and leaves what venv and pip would: an environment, and the files of the packages."""

    def __init__(self, *, dies_at: int = 0, refuses: str = "") -> None:
        self.commands: list[list[str]] = []
        self._dies_at = dies_at
        self._refuses = refuses

    def __call__(self, command: Sequence[str]) -> None:
        self.commands.append(list(command))
        if len(self.commands) == self._dies_at:
            raise KeyboardInterrupt
        if "venv" in command:
            python = Path(command[-1]) / "bin" / "python"
            python.parent.mkdir()
            python.touch()
        if "download" in command:
            (Path(command[command.index("--dest") + 1]) / "click.whl").touch()
        if self._refuses and self._refuses in command:
            self._refuses = ""
            raise Failed("a hash differs")

    def verbs(self) -> list[str]:
        return [
            word for command in self.commands for word in command if word in ("venv", "download", "install")
        ]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    checkout = tmp_path / "checkout"
    for part in action_install.PARTS:
        file = checkout / part / "file.py" if "." not in part and part != "LICENSE" else checkout / part
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(part)
    return checkout


@pytest.fixture
def place(tmp_path: Path, source: Path) -> Place:
    return place_in(tmp_path / "home", source)


def test_packages_come_as_wheels_with_the_hashes_of_the_lock_and_the_checkout_needs_no_index(
    place: Place, source: Path
) -> None:
    machine = Machine()

    python = install(place, machine, source)

    assert machine.verbs() == ["venv", "download", "install", "install"]
    lock = str(source / "requirements.lock")
    locked = ["--require-hashes", "--only-binary", ":all:", "--requirement", lock]
    _, download, packages, checkout = machine.commands
    assert [download[-5:], packages[-5:]] == [locked, locked]
    assert "--no-index" in packages
    assert checkout[-4:] == ["--no-compile", "--no-deps", "--no-build-isolation", str(source)]
    assert "--no-index" in checkout
    assert place.python() == python


def test_what_a_run_that_was_killed_left_is_never_used(tmp_path: Path, source: Path) -> None:
    for moment in range(1, 5):
        place = place_in(tmp_path / f"home-{moment}", source)
        with pytest.raises(KeyboardInterrupt):
            install(place, Machine(dies_at=moment), source)
        left = {path.name for path in place.home.iterdir()}

        assert place.python() == ""
        python = install(place, Machine(), source)
        assert place.python() == python
        assert Path(python).parents[1].name not in left


def test_packages_that_are_there_are_not_downloaded_again(place: Place, source: Path) -> None:
    place.packages.mkdir(parents=True)
    machine = Machine()

    install(place, machine, source)

    assert machine.verbs() == ["venv", "install", "install"]


def test_packages_whose_hash_is_another_are_thrown_away_and_downloaded(place: Place, source: Path) -> None:
    place.packages.mkdir(parents=True)
    (place.packages / "click.whl").write_text("somebody else's")
    machine = Machine(refuses="--find-links")

    install(place, machine, source)

    assert machine.verbs() == ["venv", "install", "download", "install", "install"]
    assert (place.packages / "click.whl").read_text() == ""


def test_looking_hands_on_where_it_is_and_under_which_key_its_packages_are_kept(tmp_path: Path) -> None:
    def look() -> dict[str, str]:
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        # No PATH: it starts no program.
        settings = {"PATH": "", "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output)}
        subprocess.run(
            [sys.executable, action_install.__file__, "look"], env=settings, check=True, timeout=ENDS_WITHIN_S
        )
        return dict(line.split("=", 1) for line in output.read_text().splitlines())

    place = place_in(tmp_path / "cogworks")
    told = {"python": "", "key": place.key, "packages": str(place.packages)}
    assert look() == told
    python = install(place, Machine())
    assert look() == {**told, "python": python}
    Path(python).unlink()
    assert look() == told


@pytest.mark.parametrize("part", action_install.PARTS)
def test_another_checkout_is_another_installation(tmp_path: Path, source: Path, part: str) -> None:
    before = place_in(tmp_path / "home", source)
    file = next(iter(action_install.files_of(source / part)))
    file.write_text("changed")

    after = place_in(tmp_path / "home", source)

    assert after.name != before.name
    assert (after.key != before.key) == (part == action_install.LOCK)


def test_pip_sees_its_own_settings_and_nothing_else_of_a_workflow() -> None:
    given = {
        "PATH": "/bin",
        "PIP_INDEX_URL": "https://index.example/simple",
        "HTTPS_PROXY": "http://proxy.example",
        "COGWORKS_LLM_API_KEY": "k",
        "GITHUB_TOKEN": "t",
        "ANTHROPIC_API_KEY": "k",
        "ACTIONS_RUNTIME_TOKEN": "t",
        "PYTHONPATH": "/elsewhere",
    }

    assert sorted(child_environment(given)) == ["HTTPS_PROXY", "PATH", "PIP_INDEX_URL"]


def test_secrets_are_in_the_environment_of_the_last_step_alone() -> None:
    secret = ("inputs.github-token", "inputs.llm-api-key", "github.token", "secrets.")

    assert [number for number, step in enumerate(STEPS) if any(word in str(step) for word in secret)] == [
        len(STEPS) - 1
    ]
    assert "install" not in STEPS[-1]["run"]
    assert [step.get("env") for step in STEPS[:-1]] == [None] * (len(STEPS) - 1)


def test_the_action_has_no_other_action_that_is_not_named_by_its_commit() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]

    assert [name.partition("@")[0] for name in used] == ["actions/cache"]
    assert all(len(name.partition("@")[2]) == 40 for name in used)
