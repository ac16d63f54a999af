"""The operation `prepare`, and environments that come of other ways than names: real pip, real uv, a real index."""

import hashlib
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import Repository, RepositorySettings, Request, Response
from cogworks.services.python.answering import PythonService
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from tests.codebase.repositories import git
from tests.services.package_server import serving, wheel, with_pytest
from tests.services.pythons import HERE, WITH_UV, WITHOUT_UV

INSTALLERS = pytest.mark.parametrize(
    "search_path",
    [pytest.param(WITHOUT_UV, marks=pytest.mark.slow, id="pip"), pytest.param(WITH_UV, id="uv")],
)
PROJECT = (
    '[project]\nname = "shop"\ndependencies = []\n[project.optional-dependencies]\nledger = ["shop-tools"]\n'
)
TEST = "import shop_tools\ndef test_version(): assert shop_tools.VERSION == {}\n"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    with_pytest(folder)
    for version in ("1.0", "2.0"):
        wheel(folder, "shop_tools", version, {"shop_tools.py": f"VERSION = {version}\n"})
    return folder


@pytest.fixture(scope="module")
def index(wheels: Path) -> Iterator[str]:
    with serving(wheels) as server:
        yield server.address


class Asked:
    """A service on a repository of these files, at the commit that has them."""

    def __init__(self, folder: Path, index: str, search_path: str, files: dict[str, str]) -> None:
        self._folder = folder / "repository"
        for name, text in files.items():
            place = self._folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        git(self._folder, "init", "--quiet")
        git(self._folder, "add", "--all")
        git(self._folder, "commit", "--quiet", "--message", "All")
        self.base = git(self._folder, "rev-parse", "HEAD")
        settings = {"PATH": search_path, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index}
        environments = Environments(folder / "kept", settings=settings)
        self._service = PythonService(Machine(search_path, HERE, environments))

    def write(self, path: str, text: str) -> None:
        (self._folder / path).write_text(text)

    def answer(self, method: str, **settings: Any) -> Response:
        repository = Repository(
            path=str(self._folder), base=self.base, settings=RepositorySettings.model_validate(settings)
        )
        request = Request(request_id="1", method=method, repository=repository)
        return self._service.answer(request.model_dump_json().encode())

    def prepare(self, **settings: Any) -> Prepared:
        response = self.answer("prepare", **settings)
        assert response.error is None, response.error
        return Prepared.model_validate(response.result)


@pytest.mark.slow
@INSTALLERS
def test_an_extra_that_only_the_tests_imports_name_is_installed(
    search_path: str, index: str, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": PROJECT,
        "tests/test_a.py": TEST.format("2.0"),
        "tox.ini": "[testenv]\ndeps = pytest\n",
    }
    asked = Asked(tmp_path, index, search_path, files)

    first = asked.prepare()
    again = asked.prepare()
    simulated = asked.answer("simulate")

    assert ("extra 'ledger'", "pyproject.toml, extra 'ledger'") in [
        (each.what, each.source) for each in first.choices
    ]
    assert (first.is_reused, again.is_reused, again.key) == (False, True, first.key)
    assert first.disk_bytes > 0
    assert (again.seconds, again.disk_bytes) == (first.seconds, first.disk_bytes)
    assert simulated.result is not None
    assert [case["outcome"] for case in simulated.result["cases"]] == ["passed"]


def test_the_command_that_was_found_is_told_with_the_file_that_says_so(index: str, tmp_path: Path) -> None:
    files = {
        "test_a.py": "def test_a(): pass\n",
        "tox.ini": "[testenv]\ndeps = pytest\ncommands = pytest -k a\n",
    }
    found = Asked(tmp_path / "found", index, WITHOUT_UV, files).prepare()
    plain = Asked(tmp_path / "plain", index, WITHOUT_UV, {"test_a.py": files["test_a.py"]}).prepare()

    assert (found.choices[-1].what, found.choices[-1].source) == (
        "pytest with `pytest -k a`",
        "tox.ini [testenv]",
    )
    assert (plain.choices[-1].what, plain.choices[-1].source) == ("pytest", "")


@pytest.mark.slow
@INSTALLERS
def test_locked_versions_are_installed(search_path: str, index: str, tmp_path: Path) -> None:
    lock = '[[package]]\nname = "shop-tools"\nversion = "1.0"\nsource = { registry = "x" }\n'
    files = {"pyproject.toml": PROJECT, "uv.lock": lock, "tests/test_a.py": TEST.format("1.0")}
    asked = Asked(tmp_path, index, search_path, files)

    simulated = asked.answer("simulate")

    assert simulated.error is None, simulated.error
    assert simulated.result is not None
    assert [case["outcome"] for case in simulated.result["cases"]] == ["passed"]


@pytest.mark.slow
@INSTALLERS
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
def test_hashes_of_requirement_files_are_checked(
    is_right: bool, search_path: str, wheels: Path, index: str, tmp_path: Path
) -> None:
    content = (wheels / "shop_tools-1.0-py3-none-any.whl").read_bytes() if is_right else b""
    line = f"shop-tools==1.0 --hash=sha256:{hashlib.sha256(content).hexdigest()}\n"
    files = {"requirements.txt": line, "tests/test_a.py": TEST.format("1.0")}
    asked = Asked(tmp_path, index, search_path, files)

    simulated = asked.answer("simulate")

    if is_right:
        assert simulated.result is not None
        assert [case["outcome"] for case in simulated.result["cases"]] == ["passed"]
    else:
        assert simulated.error is not None
        assert "shop-tools" in simulated.error.message
        assert "hash" in simulated.error.message.lower()


@pytest.mark.slow
def test_the_key_changes_with_settings_and_never_with_the_change_under_test(
    index: str, tmp_path: Path
) -> None:
    asked = Asked(tmp_path, index, WITH_UV, {"pyproject.toml": PROJECT, "test_a.py": "def test_a(): ...\n"})

    before = asked.prepare(extras=["ledger"])
    asked.write("pyproject.toml", PROJECT.replace("[]", '["nosuch"]'))
    asked.write("tests.py", "import shop_tools\n")
    after = asked.prepare(extras=["ledger"])
    pinned = asked.prepare(extras=["ledger"], packages=["shop-tools<2"])
    variable = asked.prepare(extras=["ledger"], variables={"SHOP": "1"})

    assert after.key == before.key
    assert len({before.key, pinned.key, variable.key}) == 3


@pytest.mark.slow
def test_the_block_of_configuration_makes_the_same_environment(index: str, tmp_path: Path) -> None:
    files = {"pyproject.toml": PROJECT, "test_a.py": "import shop_tools\ndef test_a(): ...\n"}
    asked = Asked(tmp_path, index, WITH_UV, files)

    before = asked.prepare()
    after = asked.prepare(**tomllib.loads(before.configuration)["environment"])

    assert (after.key, after.is_reused) == (before.key, True)


def test_a_repository_that_asks_for_nothing_has_the_service_s_own_python(index: str, tmp_path: Path) -> None:
    found = Asked(tmp_path, index, WITH_UV, {"test_a.py": "def test_a(): ...\n"}).prepare()

    assert found.described == "the service's own Python"
    assert (found.configuration, found.runner, found.disk_bytes, found.is_reused) == ("", "pytest", 0, True)
    assert found.follows_from_files


def test_what_people_prepared_does_not_follow_from_files(index: str, tmp_path: Path) -> None:
    asked = Asked(tmp_path, index, WITH_UV, {"test_a.py": "def test_a(): ...\n"})

    assert not asked.prepare(mode="prepared", python=sys.executable).follows_from_files


def test_a_python_that_is_not_here_is_said(index: str, tmp_path: Path) -> None:
    text = PROJECT.replace("[project]", '[project]\nrequires-python = "<3"')
    files = {"pyproject.toml": text, "test_a.py": "import shop_tools\n"}

    answer = Asked(tmp_path, index, WITH_UV, files).answer("prepare")

    assert answer.error is not None
    assert answer.error.message.startswith("the repository wants Python <3")


def test_a_module_that_came_with_a_declared_package_is_no_doubt(
    index: str, wheels: Path, tmp_path: Path
) -> None:
    wheel(wheels, "shop_till", "1.0", {"shop_till.py": ""}, requires=("shop-tools",))
    manifest = PROJECT.replace("dependencies = []", 'dependencies = ["shop-till"]', 1)
    files = {
        "pyproject.toml": manifest,
        "tests/test_a.py": "import shop_till\nimport shop_tools\nimport shop_lost\n",
    }

    [note] = Asked(tmp_path, index, WITH_UV, files).prepare().notes

    assert note.startswith("tests/test_a.py, line 3: 'shop_lost' is imported, nothing declares it")


def test_a_recipe_is_read_once_for_a_commit(index: str, tmp_path: Path) -> None:
    asked = Asked(tmp_path, index, WITH_UV, {"pyproject.toml": PROJECT})

    asked.prepare()
    [kept] = (tmp_path / "kept" / "recipes").glob("*.json")
    kept.write_text(kept.read_text().replace('"left_out":[]', '"left_out":["told by what was kept"]'))
    again = asked.prepare()
    kept.write_text("broken")
    mended = asked.prepare()

    assert again.notes == ("told by what was kept",)
    assert mended.notes == ()
