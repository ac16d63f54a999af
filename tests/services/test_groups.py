"""Tests of several gates in one run of pytest: in their groups, and none after a group that failed."""

from pathlib import Path

import pytest

from tests.services.asking import ask, laid_out

FILES = {
    "tests/test_a.py": (
        "import pytest\n\n\n@pytest.fixture(scope='module')\ndef shared():\n    yield 1\n\n\n"
        "@pytest.mark.parametrize('count', [1, 2])\ndef test_count(count, shared):\n    assert count\n\n\n"
        "def test_fails(shared):\n    assert 0\n\n\n"
        "class TestMany:\n    def test_one(self, shared):\n        pass\n"
    ),
    "tests/deep/test_b.py": "def test_b():\n    pass\n",
    "tests/deep/test_c.py": "import nothing_of_that_name\n",
}
ONE, TWO = "tests/test_a.py::test_count[1]", "tests/test_a.py::test_count[2]"
FAILS, MANY, B = (
    "tests/test_a.py::test_fails",
    "tests/test_a.py::TestMany::test_one",
    "tests/deep/test_b.py::test_b",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("groups"), FILES)


def ran(folder: Path, *groups: list[str], command: tuple[str, ...] = ()) -> list[str]:
    tests = [test for group in groups for test in group]
    response = ask("simulate", folder, tests=tests, groups=groups, command=command, timeout_s=60)
    assert response.error is None, response.error
    return [case["id"] for case in response.result["cases"]]


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        (([MANY, TWO], ["tests/deep/test_b.py"]), [MANY, TWO, B]),
        pytest.param(([B], [MANY], [TWO, ONE]), [B, MANY, TWO, ONE], marks=pytest.mark.slow),
        pytest.param(([ONE], [FAILS, MANY], [TWO, B]), [ONE, FAILS, MANY], marks=pytest.mark.slow),
        (([FAILS], ["tests/test_a.py"]), [FAILS]),
        pytest.param(
            (["tests/test_a.py::test_count"], [FAILS], ["tests/deep/test_b.py"]),
            [ONE, TWO, FAILS],
            marks=pytest.mark.slow,
        ),
        ((["tests/deep/test_b.py"], [ONE], ["tests/deep"]), [B]),
        (([ONE], ["tests/gone.py", FAILS], [TWO]), [ONE, FAILS]),
    ],
    ids=[
        "none fails",
        "in the order of the groups",
        "after the second",
        "a test of two groups belongs to the first",
        "all cases of a test",
        "what cannot be collected",
        "a file that is not there",
    ],
)
def test_none_runs_after_a_group_with_a_failure(
    folder: Path, groups: tuple[list[str], ...], found: list[str]
) -> None:
    assert ran(folder, *groups) == found


@pytest.mark.slow
def test_a_command_of_the_users_runs_groups_as_well(folder: Path) -> None:
    for command in (("python", "-X", "dev", "-m", "pytest"), ("env", "pytest")):
        assert ran(folder, [ONE], [FAILS], [TWO], command=command) == [ONE, FAILS]


def test_what_a_group_shares_with_one_that_is_left_out_is_torn_down(tmp_path: Path) -> None:
    text = (
        "import pytest\n\n\n@pytest.fixture(scope='module')\ndef shared():\n    yield 1\n    assert 0, 'torn down'\n\n\n"
        "def test_one(shared):\n    assert 0\n\n\ndef test_two(shared):\n    pass\n"
    )
    folder = laid_out(tmp_path, {"tests/test_a.py": text})

    assert ran(folder, ["tests/test_a.py::test_one"], ["tests/test_a.py::test_two"]) == [
        "tests/test_a.py::test_one"
    ]
