"""What pytest does not know is told with the plugin it belongs to, or with what to do where nobody knows one."""

from pathlib import Path

import pytest

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import TestReport
from cogworks.services.python.remedies import remedies
from tests.services.asking import answered, repository


def told(files: dict[str, str], folder: Path) -> TestReport:
    response = answered("simulate", repository(folder, files), SimulateParams())
    assert response.error is None, response.error
    return TestReport.model_validate(response.result)


TEST = "def test_a():\n    pass\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"pytest.ini": "[pytest]\naddopts = --strict-markers\n", "test_a.py": f"import pytest\n\n\n@pytest.mark.shop\n{TEST}"},
            "The mark `shop` of tests is not declared, and marks have to be here (`--strict-markers`): add it to `markers`",
        ),
        (
            {"pytest.ini": "[pytest]\naddopts = --no-such-option=3\n", "test_a.py": TEST},
            "The option `--no-such-option` of pytest is known to no plugin that is installed",
        ),
        (
            {"pytest.ini": "[pytest]\naddopts = --strict-config\nno_such_key = 1\n", "test_a.py": TEST},
            "The setting `no_such_key` of pytest is known to no plugin that is installed",
        ),
        ({"test_a.py": "def test_a(shop):\n    pass\n"}, "The fixture `shop` of tests is defined nowhere"),
    ],
    ids=["mark", "option", "setting", "fixture"],
)  # fmt: skip
def test_what_no_plugin_here_is_known_to_bring_is_named_by_a_real_run(
    files: dict[str, str], said: str, tmp_path: Path
) -> None:
    (remedy,) = told(files, tmp_path).remedies

    assert remedy.startswith(said)
    assert "`packages`" in remedy


@pytest.mark.parametrize(
    ("error", "what", "package"),
    [
        ("error: unrecognized arguments: --cov=shop tests", "The option `--cov` of pytest", "pytest-cov"),
        ("ERROR: Unknown config option: asyncio_mode", "The setting `asyncio_mode` of pytest", "pytest-asyncio"),
        ("'django_db' not found in `markers` configuration option", "The mark `django_db` of tests", "pytest-django"),
        ("E       fixture 'mocker' not found", "The fixture `mocker` of tests", "pytest-mock"),
    ],
    ids=["option", "setting", "mark", "fixture"],
)  # fmt: skip
def test_what_belongs_to_a_plugin_is_told_with_the_line_that_installs_it(
    error: str, what: str, package: str
) -> None:
    (remedy,) = remedies([error], is_own=lambda _: False, packages=["attrs"])

    assert remedy.startswith(f"{what} belongs to {package}, which is not installed.")
    assert f'`packages = ["attrs", "{package}"]`' in remedy


def test_one_line_installs_everything_that_is_wanted() -> None:
    error = "t.py: ModuleNotFoundError: No module named 'yaml'"

    first, second = remedies([error], at_setup=["fixture 'mocker' not found"] * 2, is_own=lambda _: False)

    line = '`packages = ["pyyaml", "pytest-mock"]`'
    assert line in first
    assert line in second


def test_of_much_that_nobody_knows_some_is_told() -> None:
    errors = [f"fixture 'f{number}' not found" for number in range(50)]

    assert len(remedies((), at_setup=errors, is_own=lambda _: False)) == 5


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "ImproperlyConfigured: 'shortuuid' module is required for ShortUUIDField.",
            'packages = ["shortuuid"]',
        ),
        ("ImportError: The `yaml` package must be installed", 'packages = ["pyyaml"]'),
        ("RuntimeError: no parser; pip install lxml", 'packages = ["lxml"]'),
        ("ModuleNotFoundError: No module named 'factory'", 'packages = ["factory-boy"]'),
        ("ModuleNotFoundError: No module named 'bson'", 'packages = ["pymongo"]'),
    ],
    ids=["required", "installed", "pip", "by-another-name", "with-a-driver"],
)
def test_what_a_project_says_is_missing_is_told_with_the_line(said: str, line: str) -> None:
    (told,) = remedies([f"tests: tests/models.py:3: in <module>\nE   {said}"], is_own=lambda _: False)

    assert line in told


@pytest.mark.parametrize(
    "said", ["pip install -e .", "pip install .[test]", "the 'name' field is required", "pip install mine"]
)
def test_what_asks_for_no_package_of_others_is_left_alone(said: str) -> None:
    assert remedies([f"tests: E   ImportError: {said}"], is_own=lambda name: name == "mine") == ()


def test_pkg_resources_comes_with_a_setuptools_that_has_it() -> None:
    (remedy,) = remedies(
        ["tests: E   ModuleNotFoundError: No module named 'pkg_resources'"], is_own=lambda _: False
    )

    assert '`packages = ["setuptools<80.9"]`' in remedy
