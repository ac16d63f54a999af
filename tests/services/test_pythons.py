"""Which Python a repository gets: the service's own where it will do, else the newest of this machine that does."""

import json
import os
import platform
import pwd
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from cogworks.domain_services.messages import RepositorySettings
from cogworks.services.python.choosing import kept_recipe
from cogworks.services.python.environments import Environments
from cogworks.services.python.manifest_files import recipe_of
from cogworks.services.python.pythons import NotBuilt, Python, others, own_python, python_for
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from tests.services.asking import laid_out
from tests.services.pythons import HERE, WITH_UV, WITHOUT_UV


def stand_in(folder: Path, name: str, version: str, *, code: int = 0) -> Path:
    """A program that says it were a Python of that version."""
    folder.mkdir(exist_ok=True)
    place = folder / name
    told = json.dumps([version, f"/opt/{version}", f"/opt/{version}/bin/python"])
    place.write_text(f"#!/bin/sh\necho '{told}'\nexit {code}\n")
    place.chmod(0o755)
    return place


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """PATH with Pythons that are not there otherwise; nothing of this machine's is found."""
    user = SimpleNamespace(pw_dir=str(tmp_path))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    stand_in(tmp_path / "one", "python3.70", "3.70.1")
    stand_in(tmp_path / "one", "python3.71", "3.71.4")
    stand_in(tmp_path / "one", "python3.7", "3.7.9")
    stand_in(tmp_path / "one", "python3.72", "3.72.0", code=127)
    managed = tmp_path / ".pyenv" / "versions" / "3.73.1" / "bin"
    managed.mkdir(parents=True)
    stand_in(managed, "python3.73", "3.73.1")
    return str(tmp_path / "one")


def test_the_service_s_own_is_taken_wherever_it_will_do(path: str) -> None:
    assert python_for("", "", path) == own_python()
    assert python_for(">=3.9", "", path) == own_python()
    assert python_for("no version !", "", path) == own_python()
    assert python_for("", ".".join(platform.python_version_tuple()[:2]), path) == own_python()


def test_the_newest_that_fits_is_taken_else_also_one_of_a_version_manager(path: str) -> None:
    assert python_for(">=3.70", "", path).version == "3.73.1"
    assert python_for(">=3.70,<3.73", "", path).version == "3.71.4"
    assert python_for("", "3.70", path).program == Path("/opt/3.70.1/bin/python")


def test_what_does_not_run_or_is_too_old_for_pip_is_none(path: str) -> None:
    assert sorted(each.version for each in others(path)) == ["3.70.1", "3.71.4", "3.73.1"]


@pytest.mark.parametrize(
    ("requires", "wanted", "asked", "install"),
    [
        (">=3.20,<3.30", "", "Python >=3.20,<3.30", "3.20"),
        ("==3.20.7", "", "Python ==3.20.7", "3.20"),
        ("", "3.20", "Python 3.20", "3.20"),
        ("", "3.20.7", "Python 3.20.7", "3.20.7"),
    ],
)
def test_where_there_is_none_the_message_says_which_and_how_to_provide_it(
    path: str, requires: str, wanted: str, asked: str, install: str
) -> None:
    with pytest.raises(NotBuilt) as refused:
        python_for(requires, wanted, path)

    assert f"the repository wants {asked}, and this machine has {platform.python_version()}, 3.70.1" in str(
        refused.value
    )
    assert f"`uv python install {install}`" in str(refused.value)


@pytest.mark.parametrize(("requires", "wanted"), [("<3.9", ""), ("", "3.8"), (">=4", ""), ("", "newest")])
def test_nobody_is_told_to_install_what_tests_are_not_run_with(path: str, requires: str, wanted: str) -> None:
    with pytest.raises(
        NotBuilt, match=r"tests are run with Python 3\.9 and later versions of Python 3 alone"
    ) as no:
        python_for(requires, wanted, path)

    assert "uv python install" not in str(no.value)


def test_what_is_configured_wins_over_what_the_project_says(path: str) -> None:
    assert python_for("<3.70", "3.71", path).version == "3.71.4"


TOX = """\
[tox]
envlist = py{311,370,371,373}
[testenv]
deps =
    py370: of-370
    py371: of-371
    py373: of-373
commands = pytest
"""


def project(folder: Path, requires: str) -> Path:
    """One with an environment of tox for each Python."""
    pyproject = f'[project]\nname = "shop"\nrequires-python = "{requires}"\n'
    return laid_out(folder, {"pyproject.toml": pyproject, "tox.ini": TOX})


def test_what_tests_need_is_read_for_the_python_that_they_run_with(path: str, tmp_path: Path) -> None:
    newest, older = project(tmp_path / "a", ">=3.70"), project(tmp_path / "b", ">=3.70,<3.71")
    configured = RepositorySettings(python="3.71")

    recipes = [
        recipe_of(newest, None, search_path=path),
        recipe_of(older, None, search_path=path),
        recipe_of(older, None, search_path=path, settings=configured),
    ]

    assert [each.requirements for each in recipes] == [("of-373",), ("of-370",), ("of-371",)]
    assert [each.read_for for each in recipes] == ["3.73", "3.70", "3.71"]


def test_a_recipe_that_no_python_here_fits_is_read_for_the_service_s_own(path: str, tmp_path: Path) -> None:
    recipe = recipe_of(project(tmp_path / "a", ">=4"), None, search_path=path)

    assert recipe.read_for == ".".join(platform.python_version_tuple()[:2])


def test_a_kept_recipe_is_read_anew_when_a_better_python_has_come(path: str, tmp_path: Path) -> None:
    folder = project(tmp_path / "a", ">=3.70,<3.73")
    settings = RepositorySettings()
    newer = str(stand_in(tmp_path / "newer", "python3.72", "3.72.5").parent)

    def kept(search_path: str) -> str:
        def read() -> Recipe:
            return recipe_of(folder, None, search_path=search_path)

        return kept_recipe(tmp_path / "kept", "a" * 40, "", settings, read, search_path=search_path).read_for

    assert [kept(path), kept(path), kept(f"{path}{os.pathsep}{newer}")] == ["3.71", "3.71", "3.72"]


@cache
def others_here() -> dict[str, Python]:
    """The other Pythons of this machine by their version; looked for when a test wants them, as each is asked."""
    return {
        minor: each
        for each in others(WITH_UV)
        if (minor := each.version.rpartition(".")[0]) != f"3.{sys.version_info[1]}"
    }


@pytest.fixture
def minors() -> list[str]:
    """The versions of the others, oldest first."""
    found = sorted(others_here(), key=lambda minor: int(minor.partition(".")[2]))
    if not found:
        pytest.skip("this machine has one Python alone")
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tests_run_with_each_other_python_of_this_machine(minors: list[str], tmp_path: Path) -> None:
    passed = [("test_it.py::test_it", "passed")]

    assert {minor: outcomes(minor, WITH_UV, tmp_path / minor) for minor in minors} == dict.fromkeys(
        minors, passed
    )


@pytest.mark.slow
def test_pip_makes_an_environment_of_another_python(minors: list[str], tmp_path: Path) -> None:
    assert outcomes(minors[-1], WITHOUT_UV, tmp_path) == [("test_it.py::test_it", "passed")]


def outcomes(minor: str, search_path: str, folder: Path) -> list[tuple[str, str]]:
    """Of a test that wants to be run with that version."""
    python = others_here()[minor]
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "PATH"))
    }
    environments = Environments(folder / "kept", settings=kept)
    found = environments.interpreter(Recipe(), python, isolation=HERE, search_path=search_path, limit_s=200.0)
    tests = f"import sys\n\n\ndef test_it():\n    assert sys.version.startswith({python.version!r})\n"
    copy = laid_out(folder / "copy", {"test_it.py": tests})
    report = run_tests(copy, Wanted(interpreter=found), isolation=HERE, search_path=search_path)
    assert report.collection_errors == ()
    return [(case.id, case.outcome) for case in report.cases]
