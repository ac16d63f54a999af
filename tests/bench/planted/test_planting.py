"""Ten bugs of ten kinds, planted into libraries that work; most stand among the first three suspects."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.benchmarks.planted.bench import TOP, WANTED, at_the_top, rank, report
from scripts.benchmarks.planted.planting import (
    LIBRARIES,
    PlantedBug,
    lay_out,
    library,
    planted_bugs,
    with_bug,
)
from scripts.benchmarks.realbugs.ranks import ALL, Located
from tests.limits import LONG_RUN_ENDS_WITHIN_S

BUGS = planted_bugs()
PUBLISHED = Path(__file__).parents[3] / "docs" / "benchmarks" / "planted-bugs.md"


def failing(folder: Path) -> set[str]:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=LONG_RUN_ENDS_WITHIN_S
    )
    assert re.search(r"\d+ passed", done.stdout), done.stdout
    return set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE))


def lines_of(text: str, name: str) -> range:
    """The lines of a function, by its name within the module."""
    scope: ast.AST = ast.parse(text)
    for part in name.split("."):
        (scope,) = (each for each in ast.iter_child_nodes(scope) if getattr(each, "name", "") == part)
    assert isinstance(scope, ast.FunctionDef)
    return range(scope.lineno, (scope.end_lineno or scope.lineno) + 1)


def test_there_are_ten_kinds_in_two_libraries_of_several_modules() -> None:
    assert len({bug.kind for bug in BUGS}) == len(BUGS) == 10
    assert {bug.library for bug in BUGS} == {path.name for path in LIBRARIES.iterdir()}
    for name in {bug.library for bug in BUGS}:
        modules = [path for path in library(name) if path.startswith(f"{name}/")]
        assert len(modules) >= 8


@pytest.mark.parametrize("bug", BUGS, ids=[bug.kind for bug in BUGS])
def test_a_bug_stands_in_the_function_it_is_said_to_and_no_test_names_that(bug: PlantedBug) -> None:
    text = library(bug.library)[bug.file]
    module = bug.file.removesuffix(".py").replace("/", ".")
    name = bug.symbol.removeprefix(f"{module}.")

    assert text.count(bug.old) == 1
    first = text[: text.index(bug.old)].count("\n") + 1
    assert first in lines_of(text, name) or first + 1 in lines_of(text, name)
    last_name = name.rpartition(".")[2]
    tests = [test for test in bug.tests if re.search(rf"\b{last_name}\b", test)]
    assert tests == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({bug.library for bug in BUGS}))
def test_a_library_without_a_bug_passes_its_tests(tmp_path: Path, name: str) -> None:
    assert failing(lay_out(library(name), tmp_path)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=[bug.kind for bug in BUGS])
def test_exactly_the_tests_of_a_bug_fail_with_it(tmp_path: Path, bug: PlantedBug) -> None:
    assert failing(lay_out(with_bug(bug), tmp_path)) == set(bug.tests)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_ten_planted_bugs_eight_are_among_the_first_three_and_the_ranks_are_published() -> None:
    found = rank(BUGS)

    assert at_the_top(found) >= WANTED
    assert report(BUGS, found) in PUBLISHED.read_text("utf-8")
    for each in found:
        # Where nobody measures coverage there is a ranking all the same, by the signals that are left.
        assert "coverage alone" in each.measured
        assert "coverage alone" not in each.unmeasured
        assert {"stack alone", "token alone", "hop alone"} <= each.unmeasured.keys()


def test_who_has_no_rank_or_a_later_one_is_not_at_the_top() -> None:
    def bug(rank: float | None) -> Located:
        return Located(bug="one", measured={ALL: rank}, unmeasured={ALL: 1.0}, is_shown=True)

    assert at_the_top([bug(1), bug(TOP), bug(TOP + 0.5), bug(None)]) == 2
