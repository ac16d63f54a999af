"""What `doctor` reports while it works: for which service, and how far it is."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cogworks.settings.config import read_environment
from cogworks.wiring.checkup import look_at
from tests.checkup import preparing_service
from tests.services.asking import laid_out


@pytest.fixture(autouse=True)
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGWORKS_WORK_DIR", str(tmp_path / "work"))


def reported(folder: Path) -> list[str]:
    """What it says that it does, in order."""
    lines: list[str] = []

    @contextmanager
    def during(what: str, limit_s: float, so_far: Callable[[], str] = str, /) -> Iterator[None]:
        lines.append(what)
        yield

    look_at(folder, read_environment(), during=during)
    return lines


@contextmanager
def interrupted(what: str, limit_s: float, so_far: Callable[[], str] = str, /) -> Iterator[None]:
    """Somebody stops it as soon as the suite runs."""
    if "suite" in what:
        raise KeyboardInterrupt
    yield


def services(*names: str) -> str:
    command = json.dumps([sys.executable, preparing_service.__file__, "good"])
    return "\n".join(f'[[services]]\nname = "{name}"\ncommand = {command}\nattempts = 1' for name in names)


def test_each_of_several_services_is_named_where_its_environment_is_made(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "repo", {".cogworks/services.toml": services("python", "browser")})

    lines = reported(folder)

    assert "making the environment for service 'python'" in lines
    assert "making the environment for service 'browser'" in lines


def test_a_single_service_is_not_named(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "repo", {".cogworks/services.toml": services("python")})

    assert "making the environment" in reported(folder)


def test_what_was_seen_of_the_environment_is_kept_where_the_suite_is_interrupted(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "repo", {".cogworks/services.toml": services("python")})

    checkup = look_at(folder, read_environment(), during=interrupted)

    assert [each.prepared is not None for each in checkup.services] == [True]
    assert checkup.suite is not None
    assert checkup.suite.is_interrupted
    assert "0 reported test(s). Run the same command again." in checkup.suite.problem
