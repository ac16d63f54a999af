import shlex

import pytest

from cogworks.errors import UsageError
from cogworks.repair.testcommand import USUAL, SuiteCommand, read_command


@pytest.mark.parametrize(
    ("command", "suite"),
    [
        (USUAL, ()),
        ("pytest", ()),
        ("python3 -m pytest --tb=short -vv --color=no", ()),
        ("pytest -q tests/unit/ 'tests/my test.py'", ("tests/unit", "tests/my test.py")),
        ("pytest --quiet tests", ("tests",)),
    ],
)
def test_what_the_service_does_anyhow_needs_no_words(command: str, suite: tuple[str, ...]) -> None:
    assert read_command(command) == SuiteCommand((), suite)


@pytest.mark.parametrize(
    ("command", "words", "suite"),
    [
        ("pytest -x -k total", "pytest -x -k total", ()),
        ("pytest -n 4 tests", "pytest -n 4", ("tests",)),
        (
            "python -X dev -m pytest -q -p no:randomly --strict-markers",
            "python -X dev -m pytest -q -p no:randomly --strict-markers",
            (),
        ),
        ("pytest tests/unit -m 'not slow'", "pytest -m 'not slow'", ("tests/unit",)),
        ("pytest --maxfail=3 tests", "pytest --maxfail=3", ("tests",)),
        ("python -I -m pytest", "python -I -m pytest", ()),
        ("pytest --timeout 9 {tests}", "pytest --timeout 9 {tests}", ()),
        ("tox -e py --", "tox -e py --", ()),
        ("make test ARGS={tests}", "make test ARGS={tests}", ()),
        ("./scripts/run-tests", "./scripts/run-tests", ()),
        ("python -m unittest", "python -m unittest", ()),
    ],
)
def test_what_is_kept_and_what_the_suite_is(command: str, words: str, suite: tuple[str, ...]) -> None:
    assert read_command(command) == SuiteCommand(tuple(shlex.split(words)), suite)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "names no program"),
        ("make test && pytest", "is a line for a shell"),
        ("/opt/py/bin/python -m pytest", "begins with a place of this machine"),
        ("../run-tests", "is no file of the repository"),
        ("pytest tests/test_a.py::test_b", "tests/test_a.py::test_b is no file or folder"),
        ("pytest ../other", "../other is no file or folder"),
        ("pytest 'tests", "cannot be read"),
        ("pytest --strict-markers tests", "write `--strict-markers=tests`, and files and folders before"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(command: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_command(command)

    assert problem in str(caught.value)
