"""What uvu reports, as CommonJS and as ES modules, of what passes, fails, breaks, hangs and cannot be loaded."""

import shutil
from pathlib import Path

import pytest

from cogworks.domain_services.messages import TestReport
from tests.node_packages import installed
from tests.services.asking import laid_out
from tests.services.command.commanding import needs, outcomes, report_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), needs("node", "npm")]

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "uvu"
ALL = {
    "test/shortened.test.js::a short line stays": "passed",
    "test/shortened.test.js::a long line > is cut": "passed",
    "test/in/marks.test.js::the mark takes the last place": "passed",
}
LINE = "FORCE_COLOR=1 uvu test {}"
MODULES = '{"type": "module", "scripts": {"test": "uvu test"}, "devDependencies": {"uvu": "^0.5.6"}}'
MODULE = 'import { test } from "uvu";\nimport "./helper.js";\ntest("adds", () => {});\ntest.run();\n'
ODD = """const { suite, test } = require("uvu");
const assert = require("uvu/assert");
test("differs", () => assert.equal({ a: 1 }, { a: 2 }));
test("throws", async () => { throw "words"; });
test("passes", () => {});
test.run();
const ready = suite("ready");
ready.before(() => { throw new Error("no database"); });
ready("is never asked", () => {});
ready.run();
const tidy = suite("tidy");
tidy.after.each(() => { throw new RangeError("left over"); });
tidy("leaves something", () => {});
tidy.run();
const narrow = suite("narrow");
narrow("is passed over", () => {});
narrow.only("is meant", () => {});
narrow.run();
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The sample with its packages."""
    made = Path(shutil.copytree(SAMPLE, tmp_path / "uvu"))
    shutil.copytree(installed(SAMPLE) / "node_modules", made / "node_modules", symlinks=True)
    return made


def reported(place: Path, *tests: str) -> TestReport:
    return report_of(place, settings={"mode": "prepared"}, tests=tests)


def test_tests_are_told_by_file_and_suite_and_run_one_file_at_a_time(place: Path) -> None:
    whole = reported(place)
    file = reported(place, "test/in/marks.test.js")
    one = reported(place, "test/shortened.test.js::a long line > is cut")

    assert outcomes(whole) == ALL
    assert whole.commands == (LINE.format('"\\.test\\.js$"'),)
    assert outcomes(file) == {"test/in/marks.test.js::the mark takes the last place": "passed"}
    assert file.commands == (LINE.format("'^(?:in/marks\\.test\\.js)$'"),)
    assert outcomes(one) == {"test/shortened.test.js::a long line > is cut": "passed"}


def test_failures_are_told_with_their_values_and_hooks_that_throw_fail_their_tests(place: Path) -> None:
    laid_out(place, {"test/odd.test.js": ODD})
    report = reported(place, "test/odd.test.js")

    assert {case.id.partition("::")[2]: case.outcome for case in report.cases} == {
        "differs": "failed",
        "throws": "failed",
        "passes": "passed",
        "ready > is never asked": "failed",
        "tidy > leaves something": "failed",
        "narrow > is meant": "passed",
    }
    said = {case.id.partition("::")[2]: case.message for case in report.cases}
    assert said["differs"].startswith("Assertion: Expected values to be deeply equal: (equal)")
    assert '++··"a":·2' in said["differs"].replace("··++", "++")
    assert "test/odd.test.js:3" in said["differs"]
    assert "uvu.cjs" not in "".join(said.values())
    assert said["throws"] == "words"
    assert said["ready > is never asked"].startswith("Error: no database")
    assert said["tidy > leaves something"].startswith("RangeError: left over")
    assert not report.collection_errors


def test_a_test_that_never_ends_fails_and_what_did_not_run_after_it_is_missed(place: Path) -> None:
    text = 'const { test } = require("uvu");\ntest("hangs", () => new Promise(() => {}));\ntest("later", () => {});\ntest.run();\n'
    laid_out(place, {"test/hangs.test.js": text})
    report = reported(place, "test/hangs.test.js")

    assert outcomes(report) == {"test/hangs.test.js::hangs": "failed"}
    assert report.cases[0].message == "the process ended before this test did"
    [error] = report.collection_errors
    assert "the tests ended in the middle, after 'hangs'" in error


@pytest.mark.parametrize(("option", "runs"), [("", 5), ("-r uvu/assert ", 1)])
def test_a_file_that_cannot_be_loaded_keeps_no_other_from_running(
    option: str, runs: int, place: Path
) -> None:
    manifest = (SAMPLE / "package.json").read_text().replace("uvu test", f"uvu {option}test")
    broken = {"test/broken.test.js": 'require("./gone");\n', "test/a.test.js": "const x = ;\n"}
    laid_out(place, {"package.json": manifest, **broken})
    report = reported(place)

    assert outcomes(report) == ALL
    assert len([each for each in report.commands if each.startswith("FORCE_COLOR")]) == runs
    first, second = report.collection_errors
    assert first.startswith("test/a.test.js: test/a.test.js:1: SyntaxError: Unexpected token ';'")
    assert second.startswith("test/broken.test.js: ")
    assert "Error: Cannot find module './gone'" in second


def test_es_modules_are_told_by_file_and_one_that_cannot_be_loaded_keeps_no_other_from_running(
    place: Path,
) -> None:
    shutil.rmtree(place / "test")
    texts = {"package.json": MODULES, "test/helper.js": "", "test/a.test.js": MODULE}
    laid_out(place, texts | {"test/in/helper.js": "", "test/in/b.test.js": MODULE})
    known = {"test/a.test.js::adds": "passed", "test/in/b.test.js::adds": "passed"}

    assert outcomes(reported(place)) == known
    assert outcomes(reported(place, "test/in/b.test.js")) == {"test/in/b.test.js::adds": "passed"}
    laid_out(place, {"test/c.test.js": 'import "./gone.js";\n'})
    broken = reported(place)
    assert outcomes(broken) == known
    [error] = broken.collection_errors
    assert error.startswith("test/c.test.js: ")
    assert "Cannot find module" in error.splitlines()[-1]


def test_a_program_that_loads_the_tests_is_listened_to_as_well(place: Path) -> None:
    manifest = '{"scripts": {"test": "node test"}, "devDependencies": {"uvu": "^0.5.6"}}'
    index = 'require("./shortened.test");\nrequire("./in/marks.test");\n'
    laid_out(place, {"package.json": manifest, "test/index.js": index})
    report = reported(place)

    assert outcomes(report) == ALL
    assert "only once it is loaded there" in report.remedies[0]
