"""The tests of the decision cycle find out what they are there for: each rule is broken once, and its tests have to fail."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cycle.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]
FAILED = re.compile(r"^(?:FAILED|ERROR) tests/(\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and its tests, to be changed."""
    to = tmp_path_factory.mktemp("mutated")
    for folder in ("cogworks", "tests/cycle", "tests/pipeline"):
        # What is compiled already comes along; a changed file is newer than that, and read anew.
        shutil.copytree(ROOT / folder, to / folder)
    for file in ("pyproject.toml", "tests/exhaustive.py", "tests/limits.py"):
        shutil.copy(ROOT / file, to / file)
    return to


def failing(copy: Path, tests: tuple[str, ...]) -> set[str]:
    """Which of the tests fail in the copy."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *(f"tests/{test}" for test in tests)],
        cwd=copy,
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1",
            # A rule that one input in a hundred breaks has to be found out, too.
            "COGWORKS_TESTS_ALL": "1",
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )  # fmt: skip
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return set(FAILED.findall(ran.stdout))


def test_there_is_a_mutation_for_each_scenario_and_each_still_fits() -> None:
    assert len({mutation.scenario for mutation in MUTATIONS}) == 22
    counts = {
        mutation.scenario: (ROOT / "cogworks" / mutation.path).read_text().count(mutation.old)
        for mutation in MUTATIONS
    }
    assert {scenario: count for scenario, count in counts.items() if count != 1} == {}


@pytest.mark.slow
def test_without_a_mutation_all_of_them_pass(copy: Path) -> None:
    every = tuple(sorted({test for mutation in MUTATIONS for test in mutation.tests}))

    assert failing(copy, every) == set()


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.scenario.replace(" ", "-"))
def test_a_broken_rule_is_found_out(copy: Path, mutation: Mutation) -> None:
    place = copy / "cogworks" / mutation.path
    text = place.read_text()
    place.write_text(text.replace(mutation.old, mutation.new))
    try:
        assert failing(copy, mutation.tests) == set(mutation.tests)
    finally:
        place.write_text(text)
