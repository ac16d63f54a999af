"""A suite of another language that takes too long is run in parts, where its runner can be told which files to test."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.parts import in_parts, joined
from cogworks.services.command import rooms
from cogworks.services.command.ground import Commands
from cogworks.services.command.recipe import Recipe
from cogworks.services.command.selecting import Asked, files_of_suite, files_of_tests, units_of
from tests.services.asking import laid_out
from tests.services.command.commanding import needs, report_of

ONE = "sleep {seconds}; echo 1..1; echo 'ok 1 - it'; echo '  ---'; echo '  file: {{file}}'; echo '  ...'"
SLEEPS = "const t = require('node:test');\nt('it', async () => {{ await new Promise(r => setTimeout(r, {ms})); }});\n"
FILES = [f"test/{name}.test.js" for name in "abcd"]


def parts_of(folder: Path, **asked: Any) -> list[TestReport]:
    def part(tests: Sequence[str], parts: str) -> TestReport:
        return report_of(folder, tests=tests, parts=parts, timings=True, **asked)

    return list(in_parts(part))


@pytest.mark.slow
def test_a_suite_that_was_cut_off_is_run_file_by_file_and_each_file_once(tmp_path: Path) -> None:
    laid_out(tmp_path, dict.fromkeys(FILES, ""))
    commands = Commands(test="sleep 600", test_one=ONE.format(seconds=2), report="tap")

    first, *others = parts_of(tmp_path, commands=commands, timeout_s=6.0)

    assert (first.cases, first.left, first.timed_out) == ((), tuple(FILES), False)
    assert len(others) > 1
    assert [case.id for part in others for case in part.cases] == [f"{path}::it" for path in FILES]
    whole = joined((first, *others))
    assert whole.passed
    assert whole.seconds.keys() == {*FILES}


@pytest.mark.slow
@needs("node")
def test_node_runs_a_long_suite_in_parts(tmp_path: Path) -> None:
    package = {"package.json": '{"scripts": {"test": "node --test test/"}}'}
    laid_out(
        tmp_path,
        {**package, **dict.fromkeys(FILES[:2], SLEEPS.format(ms=3500)), FILES[2]: SLEEPS.format(ms=60_000)},
    )

    parts = parts_of(tmp_path, timeout_s=10.0)

    whole = joined(parts)
    assert [case.id for case in whole.cases if case.outcome == "passed"] == [
        f"{path}::it" for path in FILES[:2]
    ]
    assert whole.timed_out
    assert f"`{FILES[2]}` did not come to its end within 10 s" in whole.remedies[-1]


@pytest.mark.slow
def test_a_command_that_cannot_be_told_which_files_to_test_says_so(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.test.js": "", "b.test.js": ""})

    [report] = parts_of(tmp_path, commands=Commands(test="sleep 600", report="tap"), timeout_s=1.0)

    assert report.timed_out
    assert (
        "`sleep 600` cannot be told which files to test, so that it is not run in parts"
        in report.remedies[-1]
    )
    assert "`test_one`" in report.remedies[-1]


CROWD = "echo 1..1; echo 'ok 1 - it'; for each in $(seq 99); do sleep 30 & done; wait"


@pytest.fixture
def bears_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_LIMITS", rooms._LIMITS._replace(processes=40))


@pytest.mark.slow
@pytest.mark.usefixtures("bears_few")
def test_a_suite_that_starts_more_processes_than_it_may_is_run_file_by_file(tmp_path: Path) -> None:
    laid_out(tmp_path, dict.fromkeys(FILES, ""))
    commands = Commands(test=CROWD, test_one=ONE.format(seconds=0), report="tap")

    first, *others = parts_of(tmp_path, commands=commands, timeout_s=60.0)

    assert (first.cases, first.left, first.collection_errors) == ((), tuple(FILES), ())
    assert [case.id for part in others for case in part.cases] == [f"{path}::it" for path in FILES]
    assert joined((first, *others)).passed


@pytest.mark.slow
@pytest.mark.usefixtures("bears_few")
def test_what_ran_before_a_suite_was_ended_at_a_limit_is_no_whole_suite(tmp_path: Path) -> None:
    laid_out(tmp_path, dict.fromkeys(FILES, ""))

    [report] = parts_of(tmp_path, commands=Commands(test=CROWD, report="tap"), timeout_s=60.0)

    assert not report.passed
    assert report.collection_errors == (
        ".: the run was ended before its end: more than 40 processes at once",
    )
    assert "fewer tests at once" in report.remedies[0]


@pytest.mark.slow
@pytest.mark.usefixtures("bears_few")
def test_a_single_file_that_was_ended_at_a_limit_is_named_and_all_others_count(tmp_path: Path) -> None:
    laid_out(tmp_path, dict.fromkeys(FILES, ""))
    silent = CROWD.partition("; for")[2]
    one = f"case {{file}} in *b.test.js) for{silent};; *) {ONE.format(seconds=0)};; esac"

    whole = joined(
        parts_of(tmp_path, commands=Commands(test=CROWD, test_one=one, report="tap"), timeout_s=60.0)
    )

    assert {case.id for case in whole.cases} == {f"{path}::it" for path in (FILES[0], FILES[2], FILES[3])}
    assert whole.collection_errors == (
        f"{FILES[1]}: the run was ended before its end: more than 40 processes at once",
    )


def test_go_is_divided_by_package_and_everything_else_by_file() -> None:
    go = Recipe(test="go test -json ./...", runner="go test", language="go")
    java = Recipe(test="mvn test", runner="maven", language="java")
    cargo = Recipe(test="cargo test", runner="cargo test", language="rust")
    files = [Asked("a/x_test.go"), Asked("b/y_test.go"), Asked("a/z_test.go")]

    assert [[test.file for test in unit] for unit in units_of(go, files)] == [
        ["a/x_test.go", "a/z_test.go"],
        ["b/y_test.go"],
    ]
    assert len(units_of(java, [Asked("src/test/java/ATest.java"), Asked("src/test/java/BTest.java")])) == 2
    assert units_of(cargo, [Asked("tests/a.rs"), Asked("tests/b.rs")]) == ()


def test_files_of_tests_are_told_by_the_conventions_of_their_language() -> None:
    assert files_of_tests(["a_test.go", "a.go", "src/b.spec.ts", "test/parse.js", "README.md"]) == (
        "a_test.go",
        "src/b.spec.ts",
        "test/parse.js",
    )


def test_ava_is_asked_for_no_file_that_it_takes_for_a_helper() -> None:
    files = ["test/a.js", "test/fixtures/b.js", "test/helpers/c.js", "test/_d.js"]

    assert files_of_suite(Recipe(runner="ava", test="ava --tap"), files) == ("test/a.js",)
    assert files_of_suite(Recipe(runner="tape", test="tape test/*.js"), files[:2]) == tuple(files[:2])
