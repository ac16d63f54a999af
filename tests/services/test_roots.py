"""The Python service for one folder of a repository: it sees the whole, and answers in the paths of the repository."""

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.checking import Artifacts
from cogworks.domain_services.exploring import CoverageParams, ExploreParams
from cogworks.domain_services.messages import Caller, Repository, RepositorySettings, Request, Response
from cogworks.domain_services.operations import COVERAGE, DEPENDENCY_GRAPH, INDEX, NORMALISE
from cogworks.domain_services.panel import ServicePanel
from cogworks.services.python.answering import PythonService
from cogworks.services.python.roots import answered_in_root
from cogworks.settings.config import read_environment
from cogworks.wiring.services import open_panel
from tests.services.asking import HERE, MACHINE, Copy, laid_out
from tests.services.package_server import serving, wheel, with_pytest

PROJECT = '[project]\nname = "{0}"\nversion = "1"\n[dependency-groups]\ntest = ["pytest", "gadget=={1}"]\n'
SHARED = {
    "packages/core/src/core_lib.py": "def label():\n    return 'core'\n",
    "packages/core/tests/test_core.py": (
        "from core_lib import label\n\n\ndef test_label():\n    assert label() == 'core'\n"
    ),
    "packages/api/src/api_lib.py": "from core_lib import label\n\n\ndef name():\n    return label() + '-api'\n",
    "packages/api/tests/test_api.py": (
        "from api_lib import name\n\n\ndef test_name():\n    assert name() == 'core-api'\n"
    ),
    "packages/api/pytest.ini": "[pytest]\npythonpath = src ../core/src\n",
    "packages/core/pytest.ini": "[pytest]\npythonpath = src\n",
    "test_rest.py": "def test_rest():\n    assert True\n",
}
SERVICES = (
    '[[services]]\nname = "core"\nkind = "python"\nroot = "packages/core"\n'
    '[[services]]\nname = "api"\nkind = "python"\nroot = "packages/api"\n'
)
REST = '[[services]]\nname = "rest"\nkind = "python"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return laid_out(tmp_path / "repo", SHARED)


@pytest.fixture
def panel(tmp_path: Path) -> Iterator[ServicePanel]:
    environment = read_environment({"COGWORKS_WORK_DIR": str(tmp_path / "work")})
    with open_panel({"services.toml": SERVICES + REST}, environment, caller=Caller(), warn=print) as opened:
        yield opened


def ask(method: str, folder: Path, root: str, **params: Any) -> Response:
    request = {
        "request_id": "1",
        "method": method,
        "repository": {"path": str(folder), "root": root},
        "params": params,
    }
    return PythonService(MACHINE).answer(json.dumps(request).encode())


@pytest.mark.slow
def test_the_whole_suite_is_that_of_every_folder_each_test_once(panel: ServicePanel, folder: Path) -> None:
    report = panel.simulate(Copy(folder))

    assert [(case.id, case.outcome) for case in report.cases] == [
        ("packages/core/tests/test_core.py::test_label", "passed"),
        ("packages/api/tests/test_api.py::test_name", "passed"),
        ("test_rest.py::test_rest", "passed"),
    ]
    assert report.commands[0].startswith("cd packages/core && python -m pytest")


@pytest.mark.slow
def test_a_test_goes_to_the_folder_it_lies_in(panel: ServicePanel, folder: Path) -> None:
    one = panel.simulate(Copy(folder), ["packages/api/tests/test_api.py::test_name"])
    around = panel.simulate(Copy(folder), ["packages"])

    assert [case.id for case in one.cases] == ["packages/api/tests/test_api.py::test_name"]
    assert [case.id for case in around.cases] == [
        "packages/core/tests/test_core.py::test_label",
        "packages/api/tests/test_api.py::test_name",
    ]


@pytest.mark.slow
def test_a_change_in_one_folder_that_breaks_the_tests_of_another_is_seen(
    panel: ServicePanel, folder: Path
) -> None:
    laid_out(folder, {"packages/core/src/core_lib.py": "def label():\n    raise ValueError\n"})

    report = panel.simulate(Copy(folder))

    failed = {case.id: case.message for case in report.cases if case.outcome == "failed"}
    assert list(failed) == [
        "packages/core/tests/test_core.py::test_label",
        "packages/api/tests/test_api.py::test_name",
    ]
    # Frames are the repository's, whichever folder they were met from.
    api = failed["packages/api/tests/test_api.py::test_name"]
    assert "packages/api/src/api_lib.py:5: in name" in api
    assert "packages/core/src/core_lib.py:2: in label" in api
    assert "../" not in api


def test_what_cannot_be_loaded_is_named_from_the_top(folder: Path) -> None:
    laid_out(folder, {"packages/api/tests/test_bad.py": "import nowhere\n"})

    response = ask("simulate", folder, "packages/api")

    (error,) = response.result["collection_errors"]
    assert error.startswith("packages/api/tests/test_bad.py: ")
    assert "packages/api/tests/test_bad.py" in [each.artifact for each in response.diagnostics]


@pytest.mark.slow
def test_what_is_read_of_files_is_named_from_the_top(panel: ServicePanel, folder: Path) -> None:
    laid_out(
        folder,
        {
            "packages/api/src/broken.py": "def (\n",
            "packages/core/src/ugly.py": "x=1\n",
            "packages/core/pyproject.toml": "[tool.ruff.format]\nquote-style = 'double'\n",
        },
    )
    copy = Copy(folder)

    broken = panel.validate(copy, ["packages/api/src/broken.py", "test_rest.py"])
    index = panel.call(INDEX, copy, ExploreParams())
    graph = panel.call(DEPENDENCY_GRAPH, copy, Artifacts(artifacts=("packages/core/src/core_lib.py",)))
    formatted = panel.call(NORMALISE, copy, Artifacts(artifacts=("packages/core/src/ugly.py",)))

    assert {each.artifact for each in broken} == {"packages/api/src/broken.py"}
    assert isinstance(index, tuple)
    ids = {symbol.id: symbol.artifact for answer in index for symbol in answer.result.symbols}
    assert len(ids) == sum(len(answer.result.symbols) for answer in index)
    assert not [name for name in ids if name.startswith("packages")]
    assert ids["api_lib.name"] == "packages/api/src/api_lib.py"
    assert isinstance(graph, tuple)
    assert graph[0].result.modules == {"core_lib": "packages/core/src/core_lib.py"}
    assert isinstance(formatted, tuple)
    assert [(each.artifact, each.content) for each in formatted[0].result.files] == [
        ("packages/core/src/ugly.py", "x = 1\n")
    ]


def test_a_call_graph_is_asked_and_answered_in_the_repository_s_paths(folder: Path) -> None:
    seeds = ("packages/api/src/api_lib.py:5",)

    response = ask("call_graph", folder, "packages/api", seeds=list(seeds))

    assert response.result["unknown_seeds"] == []
    assert response.result["nodes"][0]["symbol"]["artifact"] == "packages/api/src/api_lib.py"
    assert {each["target"] for each in response.result["edges"]} == {"api_lib.name"}
    assert not [each for each in response.result["edges"] if "/" in each["source"]]


@pytest.mark.slow
def test_lines_that_tests_execute_are_named_from_the_top(panel: ServicePanel, folder: Path) -> None:
    answers = panel.call(COVERAGE, Copy(folder), CoverageParams(tests=("packages/core/tests/test_core.py",)))

    assert isinstance(answers, tuple)
    (answer,) = answers
    (told,) = answer.result.tests
    assert told.test == "packages/core/tests/test_core.py::test_label"
    assert list(told.lines) == ["packages/core/src/core_lib.py"]


def test_inputs_beside_those_of_tests_are_tried_and_compared_in_the_repository_s_paths(folder: Path) -> None:
    lib, test = folder / "packages/core/src/core_lib.py", "packages/core/tests/test_core.py"
    new = "def label(number=1):\n    return 'core' * number\n"
    lib.write_text(new, encoding="utf-8")
    (folder / test).write_text(
        SHARED[test].replace("assert label()", "assert label(2)").replace("'core'", "'corecore'")
    )
    lines = {"packages/core/src/core_lib.py": [[2, 2]], "packages/api/src/api_lib.py": [[5, 5]]}
    old = {"packages/core/src/core_lib.py": b64encode(new.replace("* number", "* 9").encode()).decode()}

    result = ask(
        "beside",
        folder,
        "packages/core",
        tests=[test],
        lines=lines,
        mistakes_in=lines,
        against={"files": old, "tests": [test], "lines": lines},
    ).result

    for name in ("calls", "against"):
        assert {(call["test"], call["artifact"]) for call in result[name]} == {
            (f"{test}::test_label", "packages/core/src/core_lib.py")
        }
    assert {mutant["artifact"] for mutant in result["mutants"]} == {"packages/core/src/core_lib.py"}
    assert {call["outcome"].count("core") for call in result["against"]} == {9}


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ("packages/gone", "there is no such folder"),
        ("test_rest.py", "that is no folder, or a link"),
        ("link", "that is no folder, or a link"),
        ("../repo", "'..' is not allowed"),
    ],
)
def test_a_root_that_is_no_folder_of_the_repository_is_refused(root: str, reason: str, folder: Path) -> None:
    (folder / "link").symlink_to("packages/api")

    error = ask("simulate", folder, root).error

    assert error is not None
    assert reason in error.message
    assert "correct `root` in `.cogworks/services.toml`" in error.message


def test_what_lies_elsewhere_is_not_answered_for(folder: Path) -> None:
    error = ask("validate", folder, "packages/api", artifacts=["packages/apiary/a.py"]).error

    assert error is not None
    assert "'packages/apiary/a.py' lies outside of 'packages/api'" in error.message


def test_parameters_of_another_form_are_refused_as_ever(folder: Path) -> None:
    for params in ({"artifacts": 3}, {"artifacts": [3]}, {"tests": {"a": 1}, "artifacts": []}):
        error = ask("validate", folder, "packages/api", **params).error
        assert error is not None or "tests" in params


@pytest.fixture(scope="module")
def index_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    wheels = tmp_path_factory.mktemp("wheels")
    with_pytest(wheels)
    for version in ("1.0", "2.0"):
        wheel(wheels, "gadget", version, {"gadget.py": f"VERSION = {version}\n"})
    with serving(wheels) as server:
        yield server.address


@pytest.mark.slow
@pytest.mark.skipif(not HERE.is_complete, reason="environments are made in complete isolation here")
def test_each_folder_has_the_environment_that_its_own_manifest_asks_for(
    index_url: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", index_url)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name, version in (("core", "1.0"), ("api", "2.0")):
        test = f"import gadget\n\n\ndef test_version():\n    assert gadget.VERSION == {version}\n"
        laid_out(
            folder,
            {
                f"packages/{name}/pyproject.toml": PROJECT.format(name, version),
                f"packages/{name}/tests/test_gadget_of_{name}.py": test,
            },
        )
    environment = read_environment({"COGWORKS_WORK_DIR": str(tmp_path / "work")})

    with open_panel({"services.toml": SERVICES}, environment, caller=Caller(), warn=print) as panel:
        report = panel.simulate(Copy(folder))

    assert report.collection_errors == ()
    assert sorted(case.id for case in report.cases if case.outcome == "passed") == [
        "packages/api/tests/test_api.py::test_name",
        "packages/api/tests/test_gadget_of_api.py::test_version",
        "packages/core/tests/test_core.py::test_label",
        "packages/core/tests/test_gadget_of_core.py::test_version",
    ]


def test_sources_of_choices_and_requirements_files_are_named_from_the_top(folder: Path) -> None:
    asked: list[tuple[str, ...] | None] = []

    def prepare(request: Request, _: Path) -> Response:
        assert request.repository is not None
        asked.append(request.repository.settings.requirements)
        choices = [{"what": "extra", "source": "tox.ini [testenv]"}, {"what": "Python", "source": ""}]
        return Response(request_id="1", status="success", result={"key": "k", "choices": choices})

    settings = RepositorySettings(requirements=("packages/api/dev.txt", "shared.txt"))
    repository = Repository(path=str(folder), root="packages/api", settings=settings)
    request = Request(request_id="1", method="prepare", repository=repository)

    response = answered_in_root(request, folder, prepare)

    assert asked == [("dev.txt", "../../shared.txt")]
    assert [each["source"] for each in response.result["choices"]] == ["packages/api/tox.ini [testenv]", ""]
