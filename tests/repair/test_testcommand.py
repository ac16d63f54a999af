import pytest

from cogworks.errors import UsageError
from cogworks.repair.testcommand import USUAL, suite_of


@pytest.mark.parametrize(
    ("command", "suite"),
    [
        (USUAL, ()),
        ("pytest", ()),
        ("python3 -m pytest --tb=short -vv --color=no", ()),
        ("pytest -q tests/unit/ 'tests/my test.py'", ("tests/unit", "tests/my test.py")),
    ],
)
def test_what_the_suite_is(command: str, suite: tuple[str, ...]) -> None:
    assert suite_of(command) == suite


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "is no pytest command"),
        ("tox -e py", "is no pytest command"),
        ("make test && pytest", "is no pytest command"),
        ("/opt/py/bin/python -m pytest", "is no pytest command"),
        ("python -m unittest", "is no pytest command"),
        ("pytest -x -k total", "-x, -k would be lost"),
        ("pytest -n 4", "-n would be lost"),
        ("pytest tests/test_a.py::test_b", "tests/test_a.py::test_b is no file or folder"),
        ("pytest ../other", "../other is no file or folder"),
        ("pytest 'tests", "cannot be read"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(command: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        suite_of(command)

    assert problem in str(caught.value)
