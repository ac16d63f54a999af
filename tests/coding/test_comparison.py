"""When is a suite no worse than before?"""

import pytest

from cogworks.coding.comparison import Comparison, added_diagnostics, compare
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.vocabulary import Severity

T = "tests/test_a.py"


def run_of(passed: str = "", failed: str = "", skipped: str = "", **changes: object) -> TestReport:
    """One letter per test of `tests/test_a.py`."""
    outcomes = {"passed": passed, "failed": failed, "skipped": skipped}
    cases = [
        TestCase(id=f"{T}::{letter}", outcome=outcome, message="why")  # type: ignore[arg-type]  # keys are outcomes
        for outcome, letters in outcomes.items()
        for letter in letters
    ]
    return TestReport.model_validate({"cases": tuple(cases), **changes})


def case(letter: str) -> TestCase:
    return TestCase(id=f"{T}::{letter}", outcome="failed", message="why")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (run_of("ab"), run_of("abc"), Comparison()),
        (run_of("a", "b"), run_of("ab"), Comparison()),
        (run_of("a", "b"), run_of("ac", "b"), Comparison()),
        (run_of("ab"), run_of("a", "b"), Comparison(broken=(case("b"),))),
        (run_of("a"), run_of("a", "c"), Comparison(broken=(case("c"),))),
        (run_of("ab"), run_of("a"), Comparison(vanished=(f"{T}::b",))),
        (run_of("ab"), run_of("a", skipped="b"), Comparison(vanished=(f"{T}::b",))),
        (run_of("a", skipped="b"), run_of("a"), Comparison()),
        (run_of("ab"), run_of("a", timed_out=True), Comparison(timed_out=True)),
        (
            run_of("ab", collection_errors=("old",)),
            run_of("a", collection_errors=("old", "new")),
            Comparison(uncollected=("new",)),
        ),
    ],
    ids=[
        "one-more",
        "repaired",
        "old-failure",
        "broken",
        "new-test-fails",
        "deleted",
        "skipped",
        "was-skipped",
        "timed-out",
        "collection",
    ],
)
def test_the_non_regression_rule(before: TestReport, after: TestReport, expected: Comparison) -> None:
    found = compare(before, after, announced=(T,))

    assert found == expected
    assert found.is_acceptable == (expected == Comparison())


def test_an_announced_file_without_a_passing_test_proves_nothing() -> None:
    found = compare(run_of("a"), run_of("a"), announced=(T, "tests/test_b.py"))

    assert found == Comparison(unproven=("tests/test_b.py",))
    assert not found.is_acceptable


def test_tests_in_files_of_its_own_may_vanish() -> None:
    assert compare(run_of("ab"), run_of("ac"), announced=(T,), own={T}) == Comparison()


def fault(message: str, line: int = 1, artifact: str = "a.py") -> Diagnostic:
    return Diagnostic(
        artifact=artifact, line=line, severity=Severity.BLOCKING, category="type_error", message=message
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [fault("x")], [fault("x")]),
        ([fault("x")], [fault("x", line=9)], []),
        ([fault("x")], [fault("x"), fault("x", line=2)], [fault("x", line=2)]),
        ([fault("x")], [fault("x", artifact="b.py")], [fault("x", artifact="b.py")]),
        ([fault("x"), fault("y")], [], []),
    ],
    ids=["new", "moved", "once-more", "other-file", "mended"],
)
def test_only_faults_that_were_not_there_are_new(
    before: list[Diagnostic], after: list[Diagnostic], expected: list[Diagnostic]
) -> None:
    assert added_diagnostics(before, after) == tuple(expected)
