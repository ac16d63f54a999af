"""The words of a test command are understood alike by who hands them on and by who runs them."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.testwords import pytest_begins, with_tests

TESTS = ("tests/test_a.py::test_b[a-b]", "tests/test_a.py::test_b[c d]")


@pytest.mark.parametrize(
    ("command", "begin"),
    [
        ("pytest -q", 1),
        ("py.test", 1),
        ("python -m pytest", 3),
        ("python3 -X dev -W error -B -m pytest -q", 8),
        ("python -m unittest", None),
        ("python run.py -m pytest", None),
        ("python -X", None),
        ("python", None),
        ("python -m coverage run -m pytest", None),
        ("tox -e py -- pytest", None),
        ("env pytest", None),
        ("", None),
    ],
)
def test_where_the_arguments_of_pytest_begin(command: str, begin: int | None) -> None:
    assert pytest_begins(shlex.split(command)) == begin


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("tox -e py --", ["tox", "-e", "py", "--", *TESTS]),
        ("tox -- {tests} -x", ["tox", "--", *TESTS, "-x"]),
        ("make test ARGS={tests}", ["make", "test", f"ARGS='{TESTS[0]}' '{TESTS[1]}'"]),
    ],
)
def test_where_the_tests_stand(command: str, words: list[str]) -> None:
    assert with_tests(shlex.split(command), TESTS) == words


def test_without_tests_the_place_stays_empty() -> None:
    assert with_tests(["make", "test", "ARGS={tests}", "{tests}"], ()) == ["make", "test", "ARGS="]


@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text)))
def test_a_shell_reads_the_tests_as_they_were_written(tests: list[str]) -> None:
    (word,) = with_tests(["ARGS={tests}"], tests)

    assert shlex.split(word.removeprefix("ARGS=")) == tests
