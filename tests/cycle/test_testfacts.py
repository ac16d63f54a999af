"""What a run of the suite says, with and without what was known to fail before."""

from cogworks.codegen.trial import facts_of
from cogworks.cycle.results import Outcome, TestFacts
from cogworks.domain_services.messages import TestCase, TestReport


def report(*errors: str, **outcomes: str) -> TestReport:
    cases = tuple(TestCase.model_validate({"id": f"t.py::{n}", "outcome": o}) for n, o in outcomes.items())
    return TestReport(cases=cases, collection_errors=errors)


def test_a_run_without_failures_passes() -> None:
    facts = facts_of(report(a="passed", b="skipped"))

    assert facts == TestFacts(exit_status=0, collected=2, passed=1, skipped=1)
    assert facts.outcome is Outcome.PASSED


def test_a_collection_error_is_not_passing_and_is_named() -> None:
    facts = facts_of(report("x.py: no module", a="passed", b="error"))

    assert (facts.exit_status, facts.is_passing, facts.errors) == (2, False, 1)
    assert (facts.failing, facts.collection_errors) == (("t.py::b",), ("x.py: no module",))
    assert facts.outcome is Outcome.UNCOLLECTED


def test_a_suite_without_tests_is_not_passing() -> None:
    for empty in (report(), report(a="skipped")):
        facts = facts_of(empty)
        assert (facts.exit_status, facts.outcome) == (5, Outcome.FAILED)


def test_what_failed_before_may_go_on_failing() -> None:
    before = report("x.py", a="failed", b="passed")

    facts = facts_of(report("x.py", a="failed", b="passed"), before=before)

    assert (facts.outcome, facts.known_failures, facts.failing) == (Outcome.PASSED, 1, ())


def test_what_passed_before_and_fails_is_a_regression_and_what_is_new_is_a_failure() -> None:
    before = report(a="passed")

    regressed = facts_of(report(a="failed", new="failed"), before=before)
    failed = facts_of(report(a="passed", new="failed"), before=before)

    assert (regressed.outcome, regressed.newly_failing) == (Outcome.REGRESSED, ("t.py::a",))
    assert regressed.failing == ("t.py::a", "t.py::new")
    assert (failed.outcome, failed.newly_failing) == (Outcome.FAILED, ())


def test_a_run_that_was_cut_short_is_not_passing() -> None:
    assert not facts_of(report(a="passed").model_copy(update={"timed_out": True})).is_passing
