"""How tests run where a job or an environment hands them on to a script or a Makefile of the repository."""

from collections.abc import Mapping

import pytest

from cogworks.services.python.manifest_files import is_manifest
from cogworks.services.python.recipe.reading import read_recipe
from cogworks.services.python.recipe.result import Recipe

JOB = "jobs:\n  tests:\n    steps:\n      - run: uv sync --group suite\n      - run: {}\n"
SCRIPT = '#!/usr/bin/env bash\nset -e\n# Wide.\nexport WIDTH=3000\npytest --cov --numprocesses=auto -m "not slow" checks ${@}\n'
MAKE = "test: lint\n\tWIDTH=3000 uv run --no-sync pytest -n auto -m 'not slow' checks\nlint:\n\truff check\n"
PYPROJECT = '[project]\nname = "shop"\n[dependency-groups]\nsuite = ["pytest"]\ndev = ["ruff"]\n'


def recipe(files: Mapping[str, str]) -> Recipe:
    return read_recipe({"pyproject.toml": PYPROJECT, **files}, paths=tuple(files))


@pytest.mark.parametrize(
    "files",
    [
        {".github/workflows/a.yml": JOB.format("uv run bash scripts/test.sh"), "scripts/test.sh": SCRIPT},
        {".github/workflows/a.yml": JOB.format("./scripts/test"), "scripts/test": SCRIPT},
        {".github/workflows/a.yml": JOB.format("make test"), "Makefile": MAKE},
        {"tox.ini": "[testenv]\ndependency_groups = suite\ncommands = make test\n", "Makefile": MAKE},
    ],
    ids=["script", "program", "make", "tox"],
)
def test_a_script_or_target_that_runs_the_tests_says_how(files: Mapping[str, str]) -> None:
    found = recipe(files)

    assert (found.runner, found.command, found.paths) == ("pytest", ("pytest", "-m", "not slow"), ("checks",))
    assert found.variables == {"WIDTH": "3000"}
    assert "suite" in found.groups


@pytest.mark.parametrize(
    "files",
    [
        {".github/workflows/a.yml": JOB.format("bash scripts/test.sh"), "scripts/test.sh": f"{SCRIPT}if true; then pytest more; fi\n"},
        {".github/workflows/a.yml": JOB.format("bash scripts/test.sh")},
        {".github/workflows/a.yml": JOB.format("bash scripts/test.sh\n        working-directory: other"), "scripts/test.sh": SCRIPT},
        {"tox.ini": "[testenv]\nchangedir = other\ndependency_groups = suite\ncommands = make test\n", "Makefile": MAKE},
    ],
    ids=["unclear", "not-there", "elsewhere", "elsewhere-by-tox"],
)  # fmt: skip
def test_what_is_not_clear_is_left_to_plain_pytest(files: Mapping[str, str]) -> None:
    found = recipe(files)

    assert (found.command, found.paths, found.variables) == ((), (), {})


@pytest.mark.parametrize(
    ("outer", "groups"), [("", ("dev", "suite")), ("env:\n  UV_NO_SYNC: true\n", ("suite",))], ids=["usual", "unsynchronised"]
)  # fmt: skip
def test_uv_that_may_not_synchronise_installs_no_default_groups(outer: str, groups: tuple[str, ...]) -> None:
    job = JOB.format("uv run pytest").replace("--group", "--no-dev --group")

    assert recipe({".github/workflows/a.yml": f"{outer}{job}"}).groups == groups


def test_variables_of_a_job_stay_with_its_machine() -> None:
    job = JOB.format("WIDTH=3 pytest")

    assert recipe({".github/workflows/a.yml": job}).variables == {}


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        ("scripts/test.sh", True), ("scripts/test", True), ("run_tests.sh", True), ("ci/test-all.sh", True), ("shop/test.sh", False),
        ("scripts/lint.sh", False), ("scripts/test.py", False), ("tests", True),
    ],
)  # fmt: skip
def test_programs_for_shells_are_read_by_their_names(path: str, is_read: bool) -> None:
    assert is_manifest(path) == is_read
