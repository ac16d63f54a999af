"""What has to be done before a work item could go on, and what one would do."""

import pytest

from cogworks.checkup.findings import Checkup, ServiceCheckup, SuiteRun, counted
from cogworks.checkup.outlook import advice, outlook, things_to_do
from cogworks.codegen.suite import NO_TESTS
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.forge.diagnosis import Check
from cogworks.settings.config import Baseline

KNOWN = Check(name="languages", status="ok", found="Python (100 %), known to python")


def case(name: str, outcome: str) -> TestCase:
    return TestCase.model_validate({"id": f"tests/test_a.py::{name}", "outcome": outcome})


def checkup(report: TestReport | None, *, baseline: Baseline = "require") -> Checkup:
    suite = None if report is None else SuiteRun(report=report)
    return Checkup(folder="/repo", state="commit", languages=KNOWN, suite=suite, baseline=baseline)


PASSED = TestReport(cases=(case("works", "passed"), case("fails", "failed"), case("errs", "error")))
SKIPPED = TestReport(cases=(case("later", "skipped"),))
UNLOADED = TestReport(
    cases=(case("works", "passed"),),
    collection_errors=("tests/test_b.py: E   No module named 'x'",),
    remedies=("Declare x.",),
)


FAILING = TestReport(
    cases=tuple(
        TestCase(id=f"tests/test_a.py::t{n}", outcome="failed", message="at work\nE   Error: refused")
        for n in range(5)
    ),
    remedies=("Start the database.",),
)
FEW_FAILING = FAILING.model_copy(update={"cases": FAILING.cases[:4]})


@pytest.mark.parametrize(
    ("report", "baseline", "wanted"),
    [
        (PASSED, "require", []),
        (None, "none", []),
        (SKIPPED, "require", ["All 1 tests were skipped, so nothing can show"]),
        (TestReport(cases=()), "allow-failing", [NO_TESTS]),
        (UNLOADED, "allow-failing", []),
        (TestReport(cases=(), timed_out=True), "require", ["the test suite did not finish in time"]),
        (FAILING, "require", ["None of 5 tests passes before any change"]),
        (FEW_FAILING, "require", []),
        (FAILING, "allow-failing", []),
        (UNLOADED, "require", ["`tests/test_b.py` cannot be loaded: `No module named 'x'`."]),
    ],
    ids=[
        "passes",
        "not-run",
        "all-skipped",
        "no-tests",
        "tolerated",
        "too-slow",
        "all-fail",
        "few-fail",
        "all-may-fail",
        "not-loaded",
    ],
)
def test_a_suite_as_it_was_found_wants_this_done(
    report: TestReport | None, baseline: Baseline, wanted: list[str]
) -> None:
    things = things_to_do(checkup(report, baseline=baseline))

    assert [thing.what.startswith(words) for thing, words in zip(things, wanted, strict=True)] == [
        True
    ] * len(wanted)


def test_the_remedy_of_the_service_comes_with_what_could_not_be_loaded() -> None:
    (thing,) = things_to_do(checkup(UNLOADED))

    assert thing.remedy.splitlines()[0] == "Declare x."
    assert '`baseline = "allow-failing"`' in thing.remedy


def test_tests_that_all_fail_are_told_with_their_reasons_and_what_the_services_advise() -> None:
    (thing,) = things_to_do(checkup(FAILING))

    assert "`Error: refused` (5 times)" in thing.what
    assert thing.remedy.splitlines()[0] == "Start the database."
    assert "allow-failing" in thing.remedy


def test_every_kind_of_obstacle_is_named() -> None:
    unknown = KNOWN.model_copy(update={"status": "failed", "found": "it is Zig", "remedy": "Add a service."})
    found = checkup(None).model_copy(
        update={
            "problems": ("config.toml is malformed",),
            "languages": unknown,
            "services": (ServiceCheckup(service="api", root="packages/api", problem="no index"),),
            "suite": SuiteRun(problem="it hangs"),
        }
    )

    assert [thing.what for thing in things_to_do(found)] == [
        "config.toml is malformed",
        "it is Zig",
        "packages/api: no index",
        "it hangs",
    ]


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        (
            "require",
            'run this suite on its base commit and go on to the model (`[tests] baseline = "require"`)',
        ),
        (
            "allow-failing",
            "run this suite on its base commit, name in every proof what cannot be loaded, and",
        ),
        ("none", "run no test of the base"),
    ],
)
def test_what_an_item_would_do_first_depends_on_the_baseline(baseline: Baseline, words: str) -> None:
    assert outlook(checkup(PASSED, baseline=baseline))[0].startswith(words)


def test_where_something_has_to_be_done_nothing_would_be_paid() -> None:
    assert outlook(checkup(UNLOADED))[0].startswith("stop before its first model call, with nothing paid")


def test_tests_that_fail_already_are_counted_and_guard_nothing() -> None:
    assert (counted(PASSED).passed, counted(PASSED).failed) == (1, 2)
    assert "(1 of them; 2 failing already, known and never blamed on it)" in outlook(checkup(PASSED))[2]


def test_what_the_service_said_before_the_suite_ran_is_not_said_again() -> None:
    found = checkup(FEW_FAILING.model_copy(update={"remedies": ("said before", "new")}))

    assert advice(found.model_copy(update={"notes": ("said before",)})) == ("new",)


def test_where_no_test_passes_it_says_that_nothing_guards_a_change() -> None:
    alone = TestReport(cases=(TestCase(id=".::npm test", outcome="failed", message="exit status 1"),))

    said = " ".join(outlook(checkup(alone)))

    assert "nothing here that guards it, for no test passes" in said
    assert "removes a passing test" not in said
    assert "removes a passing test (1 of them" in " ".join(outlook(checkup(PASSED)))
