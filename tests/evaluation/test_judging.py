from collections.abc import Mapping
from typing import Literal

import pytest

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffparsing import parse_diff
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.evaluation.judging import judged, new_failures, selection
from cogworks.repair.instance import Instance
from cogworks.repair.transact.measure import confirmed, measured

Outcome = Literal["passed", "failed", "skipped"]
INSTANCE = Instance(instance_id="one", failing_tests=("t.py::wanted",), pass_to_pass=("t.py::kept",))
DIFF = parse_diff(
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-a = 1\n+a = 2\n+b = 3\n"
).diff


def report(*, passed: str = "", failed: str = "", skipped: str = "") -> TestReport:
    outcomes: Mapping[Outcome, str] = {"passed": passed, "failed": failed, "skipped": skipped}
    cases = [
        TestCase(id=f"t.py::{name}", outcome=outcome)
        for outcome, names in outcomes.items()
        for name in names.split()
    ]
    return TestReport(cases=tuple(cases))


BEFORE = report(passed="kept other", failed="wanted known")


@pytest.mark.parametrize(
    ("after", "is_solved", "regressions"),
    [
        (report(passed="kept other wanted", failed="known"), True, ()),
        (report(passed="kept other", failed="known wanted"), False, ()),
        (report(passed="other wanted", failed="known kept"), False, ("t.py::kept",)),
        (report(passed="other wanted", failed="known"), False, ("t.py::kept",)),
        (report(passed="other wanted", failed="known", skipped="kept"), False, ("t.py::kept",)),
        (report(passed="kept other", failed="known"), False, ()),
    ],
    ids=["solved", "not repaired", "broken", "gone", "skipped", "target gone"],
)
def test_the_verdict_of_the_tests(after: TestReport, is_solved: bool, regressions: tuple[str, ...]) -> None:
    verdict = judged(INSTANCE, measured(BEFORE), measured(after), diff=DIFF)

    assert (verdict.is_solved, verdict.regressions, bool(verdict.reason)) == (
        is_solved,
        regressions,
        not is_solved,
    )


def test_mu_counts_what_fails_and_the_churn_of_the_patch() -> None:
    after = report(passed="kept other wanted", failed="known")

    verdict = judged(INSTANCE, measured(BEFORE), measured(after), diff=DIFF)

    assert (verdict.mu.before, verdict.mu.after) == (200.0, 101.5)
    assert verdict.repaired == ("t.py::wanted",)


def test_what_passes_when_it_runs_again_is_no_regression() -> None:
    after = report(passed="other wanted", failed="known kept")
    again = new_failures(BEFORE, after)

    found = confirmed(measured(after), [report(passed="kept")], again)

    assert again == ("t.py::kept",)
    assert judged(INSTANCE, measured(BEFORE), found, diff=DIFF).regressions == ()


def test_without_a_patch_nothing_is_better_and_nothing_is_worse() -> None:
    verdict = judged(INSTANCE, measured(BEFORE), measured(BEFORE), diff=Diff(files=()))

    assert (verdict.is_solved, verdict.regressions, verdict.mu.before) == (False, (), verdict.mu.after)


def test_the_instance_says_which_tests_decide_or_the_whole_suite_does() -> None:
    assert selection(INSTANCE) == ("t.py::wanted", "t.py::kept")
    assert selection(INSTANCE.model_copy(update={"pass_to_pass": ()})) == ()
