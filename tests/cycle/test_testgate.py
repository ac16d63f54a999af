"""The gate before the coder: each check has its code, comes in its order and names what is wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from cogworks.canonical import sha256
from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.codegen.handoff import Convention, RedRun, Resolved, TestHandoff
from cogworks.codegen.testgate import (
    Claim,
    FirstRun,
    GateProblem,
    absent,
    announced,
    escaping,
    failing_before,
    missing_target,
    red_run,
    standing,
    tried,
    unreadable,
    with_readers,
    without_handed_over,
)
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.vocabulary import Severity
from tests.cycle.test_handoff import handoff

CONVENTION = Convention(work_item=7, sub_work_item=21, extension=".py")
USUAL = "tests/generated/wi-7/test_issue_21.py"
PATH = "tests/custom/test_sum.py"
TEXT = "def test_sum(): ...\n"
MODULES = ("src/adder/__init__.py", "src/adder/adding.py", PATH)
NO_NAME = f"{PATH}: tests/custom/test_sum.py:1: in <module>\nE   ImportError: cannot import name 'twice' from 'adder' (src/adder/__init__.py)"


class Disk:
    """A directory that is looked at as a working copy is."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def files(self) -> Sequence[str]:
        return sorted(p.relative_to(self.path).as_posix() for p in self.path.rglob("*") if p.is_file())

    def read(self, path: str) -> str | None:
        found = None if path_problem(path) else read_file(self.path, path)
        return None if found is None else found.data.decode()


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return disk_with(tmp_path / "worktree", {"src/adder/adding.py": "x\n", PATH: TEXT})


def disk_with(folder: Path, files: dict[str, str]) -> Disk:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return Disk(folder)


def claim(path: str = PATH, *extra: str) -> Claim:
    return Claim(Resolved(path, "reported", USUAL), extra, written_by="test-writer", convention=CONVENTION)


def codes(found: Any) -> list[str]:
    return [problem.code.value for problem in found]


def ran(
    *cases: tuple[str, Literal["passed", "failed", "error", "skipped"]],
    errors: Sequence[str] = (),
    **changes: Any,
) -> TestReport:
    """A run with these tests of the handed-over file, name and outcome."""
    return TestReport(
        cases=tuple(
            TestCase(id=f"{PATH}::{name}", outcome=how, message=f"E   {name}") for name, how in cases
        ),
        collection_errors=tuple(errors),
        **changes,
    )


def first(
    report: TestReport, *, wants_red: bool = True, before: TestReport | None = None
) -> list[GateProblem]:
    run = FirstRun(report, before or TestReport(cases=()), MODULES, wants_red)
    return list(tried((PATH,), run))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/test_passwd.py", "absolute"),
        ("../test_elsewhere.py", "'..' is not allowed"),
        ("out/test_linked.py", "a symbolic link leads out of the repository"),
        (".cogworks/test_rules.py", "protected"),
        ("", "empty"),
    ],
    ids=["absolute", "parent", "link-out", "protected", "empty"],
)
def test_a_path_outside_the_repository_is_refused(disk: Disk, path: str, said: str) -> None:
    disk_with(disk.path.parent / "elsewhere", {"test_linked.py": TEXT})
    (disk.path / "out").symlink_to(disk.path.parent / "elsewhere")

    [found] = escaping(claim(path), disk)

    assert found.code == "TEST_PATH_ESCAPE"
    assert repr(path) in found.message
    assert said in found.message


def test_an_extra_path_is_judged_like_the_test_file(disk: Disk) -> None:
    assert codes(escaping(claim(PATH, "../data.json"), disk)) == ["TEST_PATH_ESCAPE"]
    assert codes(absent(claim(PATH, "tests/data.json"), disk)) == ["TEST_FILE_MISSING"]


@pytest.mark.parametrize(
    "path", ["tests/lost.py", "tests/custom", "tests/custom/", "tests/blank.py", "tests/linked.py"]
)
def test_what_is_no_regular_file_with_text_is_missing(disk: Disk, path: str) -> None:
    disk_with(disk.path, {"tests/blank.py": " \n"})
    (disk.path / "tests/linked.py").symlink_to(disk.path / PATH)

    found = [*escaping(claim(path), disk), *absent(claim(path), disk)]

    assert codes(found) == ["TEST_FILE_MISSING"]


def test_the_message_of_a_missing_file_says_who_said_it_and_what_to_do(disk: Disk) -> None:
    disk_with(disk.path, {"tests/other/test_sum.py": TEXT, "docs/notes.md": "x\n"})

    [found] = absent(claim("tests/test_sum.py"), disk)

    assert found.message == (
        "Test file not found: tests/test_sum.py (source: reported, from test-writer); it has to be a regular file with text in "
        f"it. By convention it would be {USUAL}. Near it: tests/custom/test_sum.py, tests/other/test_sum.py. State the path "
        "under which the tests were written, or write them there."
    )


def test_at_most_five_candidates_are_named(disk: Disk) -> None:
    disk_with(disk.path, {f"tests/part{number}/test_sum.py": TEXT for number in range(9)})

    [found] = absent(claim("tests/test_sum.py"), disk)

    assert found.message.partition("Near it: ")[2].partition(". State")[0].count("test_sum.py") == 5


def test_a_file_of_the_same_name_in_another_checkout_does_not_count(disk: Disk, tmp_path: Path) -> None:
    disk_with(tmp_path / "main-checkout", {"tests/test_lost.py": TEXT})

    assert codes(absent(claim("tests/test_lost.py"), disk)) == ["TEST_FILE_MISSING"]


def handed(text: str = TEXT) -> TestHandoff:
    return handoff(test_path=PATH, extra_paths=(), extra_sha256=(), sha256=sha256(text))


def test_tests_that_are_as_they_were_handed_over_stand(disk: Disk) -> None:
    assert list(standing(handed(), claim(), disk)) == []


def test_a_changed_test_is_told_with_both_hashes_and_its_writer(disk: Disk) -> None:
    [found] = standing(handed("def test_other(): ...\n"), claim(), disk)

    assert found.code == "TEST_HASH_CHANGED"
    assert sha256(TEXT) in found.message
    assert sha256("def test_other(): ...\n") in found.message
    assert "handed over by test-writer" in found.message


def test_a_test_that_went_away_is_missing_and_not_changed(disk: Disk) -> None:
    (disk.path / PATH).unlink()

    assert codes(standing(handed(), claim(), disk)) == ["TEST_FILE_MISSING"]


def test_a_syntax_error_is_told_with_its_line_and_nothing_else_of_the_diagnostics_is() -> None:
    def said(category: str, artifact: str = PATH) -> Diagnostic:
        return Diagnostic(
            artifact=artifact, line=3, severity=Severity.BLOCKING, category=category, message="invalid syntax"
        )

    found = list(
        unreadable((PATH,), [said("type_error"), said("syntax_error"), said("syntax_error", "src/a.py")])
    )

    assert [(each.code, each.message) for each in found] == [
        ("TEST_SYNTAX", f"{PATH}, line 3: syntax error: invalid syntax.")
    ]


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        (ran(("test_a", "failed"), ("test_b", "passed")), []),
        (ran(errors=[NO_NAME]), []),
        (ran(errors=[f"{PATH}: E   ModuleNotFoundError: No module named 'adder.twice'"]), []),
        (ran(errors=[f"{PATH}: E   AttributeError: module 'adder' has no attribute 'twice'"]), []),
        (ran(), ["TEST_EMPTY", "TEST_NOT_RED"]),
        (ran(("test_a", "skipped")), ["TEST_NOT_RED"]),
        (ran(errors=[f"{PATH}: E   ModuleNotFoundError: No module named 'numpy'"]), ["TEST_EMPTY"]),
        (ran(errors=[f"{PATH}: E   NameError: name 'x' is not defined"]), ["TEST_EMPTY"]),
        (ran(errors=[".: E   NameError: name 'x' is not defined"]), ["TEST_EMPTY"]),
        (ran(errors=["tests: E   ImportError: cannot import name 'twice' from 'adder'"]), []),
        (ran(("test_a", "failed"), timed_out=True), ["TEST_EMPTY"]),
        (ran(("test_a", "passed")), ["TEST_NOT_RED"]),
        (ran(("test_a", "failed"), ("test_b", "error")), ["TEST_NOT_RED"]),
    ],
    ids=[
        "red", "name-to-be-written", "module-to-be-written", "attribute-to-be-written", "empty", "all-skipped",
        "package-missing", "broken-itself", "suite-broken", "conftest-needs-what-is-to-be-written", "endless", "green", "broken-set-up",
    ],
)  # fmt: skip
def test_tests_have_to_run_and_to_fail_for_the_right_reason(report: TestReport, wanted: list[str]) -> None:
    assert codes(first(report)) == wanted


def test_tests_of_a_change_without_new_behaviour_may_pass_from_the_beginning() -> None:
    assert first(ran(("test_a", "passed")), wants_red=False) == []


def test_a_set_up_that_needs_what_is_still_to_be_written_is_red_for_the_right_reason() -> None:
    case = TestCase(
        id=f"{PATH}::test_a",
        outcome="error",
        message="E   ImportError: cannot import name 'twice' from 'adder'",
    )

    assert first(TestReport(cases=(case,))) == []


def test_what_is_wrong_is_named() -> None:
    [green] = first(ran(("test_a", "passed"), ("test_b", "passed")))
    [foreign] = first(ran(errors=[f"{PATH}: E   ModuleNotFoundError: No module named 'numpy'"]))
    empty, _ = first(ran())

    assert f"{PATH}::test_a, {PATH}::test_b" in green.message
    assert "No module named 'numpy'" in foreign.message
    assert empty.message == f"0 tests collected in {PATH}: it needs at least one that the test runner finds."


@pytest.mark.parametrize(
    ("name", "outcome", "is_named"),
    [
        ("test_case[adds]", "failed", True),
        ("test_case[test_sum]", "passed", True),
        ("test_case[data/test_sum.txt-0]", "passed", True),
        ("test_case[test_summary]", "passed", False),
        ("test_case[adds]", "passed", False),
    ],
)
def test_cases_that_another_file_reads_belong_to_that_file(
    name: str, outcome: Literal["passed", "failed"], *, is_named: bool
) -> None:
    case = TestCase(id=f"tests/test_cases.py::{name}", outcome=outcome, message="")

    empty, *_ = first(TestReport(cases=(case,)))

    assert ("name tests/test_cases.py as the file with the tests" in empty.message) == is_named


@pytest.mark.parametrize(
    ("name", "outcome", "is_theirs"),
    [
        ("test_case[sums]", "failed", True),
        ("test_case[data/sums.txt-0]", "error", True),
        ("test_case[known-sums]", "failed", True),
        ("test_case[sums]", "passed", False),
        ("test_case[other]", "failed", False),
        ("test_sums", "failed", False),
        ("test_case[lost-sums]", "failed", False),
    ],
)
def test_a_red_case_of_written_data_brings_its_file_of_tests_along(
    name: str, outcome: Literal["passed", "failed", "error"], *, is_theirs: bool
) -> None:
    reader, data = "tests/test_cases.py", "tests/custom/sums.txt"
    known = TestCase(id=f"{reader}::test_case[known-sums]", outcome="passed", message="")
    lost = TestCase(id=f"{reader}::test_case[lost-sums]", outcome="failed", message="")
    own = TestCase(id=f"{PATH}::test_sum", outcome="failed", message="")
    case = TestCase(id=f"{reader}::{name}", outcome=outcome, message="")
    run = FirstRun(TestReport(cases=(own, case)), TestReport(cases=(known, lost)), MODULES, True)

    beside, alone = with_readers(claim(PATH, data), run), with_readers(claim(data, PATH), run)

    assert beside.paths == ((PATH, data, reader) if is_theirs else (PATH, data))
    assert alone.paths == ((reader, data, PATH) if is_theirs else (data, PATH))
    assert with_readers(claim(PATH), run) == claim(PATH)


def test_the_figures_name_what_is_still_to_be_written() -> None:
    run = FirstRun(
        ran(("test_a", "failed"), ("test_b", "passed"), errors=[NO_NAME]), TestReport(cases=()), MODULES, True
    )

    assert red_run((PATH,), run) == RedRun(
        collected=2, failed=1, passed=1, missing=("cannot import name 'twice' from 'adder'",)
    )


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        ("E   ModuleNotFoundError: No module named 'adder.twice'", "No module named 'adder.twice'"),
        ("E   ModuleNotFoundError: No module named 'numpy.linalg'", ""),
        ("E   SyntaxError: invalid syntax", ""),
        ("E   cannot import name 'a' from 'adder'\nE   No module named 'numpy'", ""),
    ],
    ids=["ours", "somebody-elses", "no-import", "the-last-one-counts"],
)
def test_only_what_the_coder_could_write_may_be_missing(error: str, missing: str) -> None:
    assert missing_target(error, MODULES) == missing


def test_what_the_tests_that_were_there_miss_too_is_not_still_to_be_written() -> None:
    error = "E   ModuleNotFoundError: No module named 'adder._version'"
    new = ran(errors=[f"{PATH}: {error}"])
    before = ran(errors=[f"tests/test_old.py: {error}"])

    assert (codes(first(new)), codes(first(new, before=before))) == ([], ["TEST_EMPTY"])
    run = FirstRun(new, before, MODULES, wants_red=True)
    assert red_run((PATH,), run).missing == ()


def test_a_module_that_code_without_tests_misses_is_not_still_to_be_written() -> None:
    missed = "E   ModuleNotFoundError: No module named 'adder._version'"
    old_code = f"{PATH}: {PATH}:1: in <module>\nadder/__init__.py:2: in <module>\n{missed}"
    new_test = f"{PATH}: {PATH}:1: in <module>\n{missed}"
    loaded = TestReport(cases=(TestCase(id="tests/test_old.py::test_old", outcome="passed"),))

    assert codes(first(ran(errors=[old_code]))) == ["TEST_EMPTY"]
    assert codes(first(ran(errors=[new_test]))) == []
    # What loaded without the new tests is sound; the module is one that only they ask for.
    assert codes(first(ran(errors=[old_code]), before=loaded)) == []


@pytest.mark.parametrize(
    "missed",
    [
        "E   ModuleNotFoundError: No module named 'adder._version'",
        "E   ImportError: cannot import name 'version' from 'adder'",
    ],
)
def test_what_old_code_misses_is_not_still_to_be_written_while_old_tests_cannot_be_loaded_for_another_reason(
    missed: str,
) -> None:
    passed = TestCase(id="tests/test_sound.py::test_it", outcome="passed")
    errors = ("tests/test_old.py: tests/test_old.py:1: in <module>\nE   ZeroDivisionError: division by zero",)
    before = TestReport(cases=(passed,), collection_errors=errors)
    old_code = f"{PATH}: {PATH}:1: in <module>\nadder/part.py:2: in <module>\n{missed}"
    new_test = f"{PATH}: {PATH}:1: in <module>\n{missed}"

    assert codes(first(ran(errors=[old_code]), before=before)) == ["TEST_EMPTY"]
    assert codes(first(ran(errors=[new_test]), before=before)) == []
    assert codes(first(ran(errors=[old_code]), before=TestReport(cases=(passed,)))) == []


@pytest.mark.parametrize("place", [".", "tests"])
def test_where_a_folder_could_not_be_loaded_before_nothing_in_it_is_still_to_be_written(place: str) -> None:
    before = TestReport(cases=(), collection_errors=(f"{place}: E   ZeroDivisionError: division by zero",))

    found = first(ran(errors=[NO_NAME]), before=before)

    assert codes(found) == (["TEST_EMPTY"] if PATH.startswith("tests/") or place == "." else [])


def test_failures_of_what_is_handed_over_are_no_known_failures() -> None:
    other = TestCase(id="tests/test_old.py::test_old", outcome="failed")
    before = ran(("test_a", "failed"), ("test_b", "passed"), errors=[NO_NAME, "tests/test_x.py: E   boom"])
    before = before.model_copy(update={"cases": (*before.cases, other)})

    found = without_handed_over(before, handoff(test_path=PATH, extra_paths=(), extra_sha256=()))
    red = RedRun(collected=2, failed=1, passed=0, failing_before=(f"{PATH}::test_a",))
    spared = without_handed_over(before, handoff(test_path=PATH, extra_paths=(), extra_sha256=(), red=red))

    assert [case.id for case in found.cases] == [f"{PATH}::test_b", other.id]
    assert [case.id for case in spared.cases] == [f"{PATH}::test_a", f"{PATH}::test_b", other.id]
    assert found.collection_errors == ("tests/test_x.py: E   boom",)


@pytest.mark.parametrize(
    ("report", "old"),
    [
        (ran(("test_a", "failed"), ("test_new", "failed")), ["test_a"]),
        (ran(("test_a", "failed"), errors=[NO_NAME]), ["test_a"]),
        (ran(("test_a", "failed"), ("test_b", "passed")), []),
        (ran(("test_a", "passed"), ("test_new", "failed")), []),
    ],
    ids=["beside-a-new-one", "beside-what-cannot-be-loaded", "alone", "repaired"],
)
def test_what_failed_before_is_known_where_something_else_is_red(report: TestReport, old: list[str]) -> None:
    run = FirstRun(
        before=ran(("test_a", "failed"), ("test_b", "passed")), report=report, modules=(), wants_red=True
    )

    assert [test.rpartition("::")[2] for test in failing_before((PATH,), run)] == old


def test_what_was_handed_over_before_and_is_still_red_stays_asked_for() -> None:
    red = ran(("test_a", "failed"), ("test_b", "failed"))
    given = handoff(
        test_path=PATH,
        test_ids=(f"{PATH}::test_a", f"{PATH}::test_b"),
        red=RedRun(collected=2, failed=1, passed=0, failing_before=(f"{PATH}::test_b",)),
    )
    report = ran(("test_a", "failed"), ("test_b", "failed"), ("test_new", "failed"))
    run = FirstRun(before=red, report=report, modules=(), wants_red=True, asked=given.asked)

    assert failing_before((PATH,), run) == (f"{PATH}::test_b",)


def test_another_failure_of_a_test_is_no_known_one() -> None:
    def failed(message: str) -> TestReport:
        case = TestCase(id=f"{PATH}::test_a", outcome="failed", message=message)
        return TestReport(cases=(case, TestCase(id=f"{PATH}::test_b", outcome="failed", message="E   b")))

    run = FirstRun(
        before=failed("E   assert 1 == 2"), report=failed("E   assert 1 == 3"), modules=(), wants_red=True
    )

    assert failing_before((PATH,), run) == (f"{PATH}::test_b",)


def test_files_without_tests_need_not_prove_anything() -> None:
    three = ("tests/custom/test_more.py", "tests/custom/test_unloaded.py", "tests/custom/data.json")
    given = handoff(test_path=PATH, extra_paths=three, test_ids=(f"{PATH}::test_a", f"{three[0]}::test_b"))

    found = announced(given, TestReport(cases=(), collection_errors=(f"{three[1]}: E   boom",)))

    assert found == (PATH, three[0], three[1])
