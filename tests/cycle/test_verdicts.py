"""What a transaction found out is told with the messages of the tests, and blames nothing that did not run."""

import pytest

from cogworks.codegen.trial import Observed, setback_of, steadied, trial_of, without_own
from cogworks.cycle.feedback import Setback, Trial
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.measure import Measurement, Worse, measured, static_errors, worse
from cogworks.repair.transact.outcomes import Result
from cogworks.repair.violations import Violation
from cogworks.vocabulary import Severity

T, U = "tests/test_a.py", "tests/test_b.py"
NOTHING = Worse((), (), (), ())


def run_of(passed: str = "", failed: str = "", **changes: object) -> TestReport:
    """One letter per test of `tests/test_a.py`."""
    cases = [TestCase(id=f"{T}::{name}", outcome="passed") for name in passed]
    cases += [TestCase(id=f"{T}::{name}", outcome="failed", message=f"E  {name}") for name in failed]
    return TestReport.model_validate({"cases": tuple(cases), **changes})


def refused(before: TestReport, *runs: TestReport, code: str = "gate_full", **more: object) -> Result:
    after = measured(runs[0])
    found = worse(measured(before), after)
    return Result.model_validate({"code": code, "reasons": ("said",), "after": after, "worse": found, **more})


def fault(message: str, line: int = 1) -> Diagnostic:
    return Diagnostic(
        artifact="a.py", line=line, severity=Severity.BLOCKING, category="type_error", message=message
    )


def test_a_broken_test_is_told_with_its_message() -> None:
    run = run_of("a", "b")

    trial = trial_of(refused(run_of("ab"), run), Observed((run,), ()), Selection(full=True))

    assert trial == Trial(category=f"failing_tests {T}::b", problems=(f"{T}::b failed:\nE  b",))


def test_a_handed_over_test_that_still_fails_is_told_though_it_is_no_worse() -> None:
    run = run_of("a", "b")
    result = refused(run_of("a", "b"), run, code="gate_landmark")

    trial = trial_of(result, Observed((run,), ()), Selection(landmark=(T,), full=True))

    assert trial.problems == (f"{T}::b failed:\nE  b",)


def test_a_file_of_which_a_failure_is_told_is_not_told_again_as_unproven() -> None:
    run = run_of("", "b")
    result = refused(run_of("", "b"), run, unproven=(T, U))

    trial = trial_of(result, Observed((run,), ()), Selection(landmark=(T,), full=True))

    assert [each.splitlines()[0] for each in trial.problems] == [
        f"{T}::b failed:",
        f"no test of {U} passed, although it is listed in `tests`; make it contain tests that run",
    ]


def test_a_suite_that_was_cut_short_says_nothing_of_what_it_never_reached() -> None:
    run = run_of("a", timed_out=True)

    found = setback_of(worse(measured(run_of("ab")), measured(run)), measured(run), [run])

    assert found == Setback(timed_out=True)


def test_what_cannot_be_loaded_is_told_whole() -> None:
    run = run_of("", collection_errors=(f"{T}: E   ImportError: no b\n  and more",))

    found = setback_of(worse(measured(run_of("a")), measured(run)), measured(run), [run])

    assert found == Setback(uncollected=run.collection_errors)


@pytest.mark.parametrize("place", ["tests", "."])
def test_what_keeps_a_handed_over_test_from_being_loaded_is_told_once(place: str) -> None:
    run = run_of("", collection_errors=(f"{place}: E   ImportError: no b",))
    before = run_of("", collection_errors=(f"{place}: E   another reason",))
    result = refused(before, run, code="gate_landmark", unproven=(T,))

    trial = trial_of(result, Observed((run,), ()), Selection(landmark=(f"{T}::a",), full=True))

    (problem,) = trial.problems
    assert f"{place}: E   ImportError: no b" in problem


def test_a_handed_over_test_that_is_flaky_is_sent_back() -> None:
    after = measured(run_of("a")).model_copy(update={"flaky": frozenset({f"{T}::b", f"{U}::c"})})

    found = setback_of(NOTHING, after, [run_of("a", "b")], wanted=[T])

    assert found == Setback(unsteady=(f"{T}::b",))


def test_a_static_fault_that_was_there_before_is_not_held_against_the_change() -> None:
    before = Measurement(static=static_errors([fault("old")]))
    result = Result(code="gate_static", reasons=("said",), before=before, worse=NOTHING)

    trial = trial_of(result, Observed((), (fault("old", 7), fault("new", 8))), Selection(full=True))

    assert trial == Trial(category="diagnostics type_error", problems=("a.py:8: type_error: new",))


@pytest.mark.parametrize(
    ("result", "trial"),
    [
        (Result(code="kept"), Trial()),
        (Result(code="apply_failed", reasons=("git says no",)), Trial(category="apply_failed", problems=("git says no",))),
        (Result(code="mu_regressed", reasons=("too much churn",), after=Measurement(), worse=NOTHING),
         Trial(category="mu_regressed", problems=("too much churn",))),
        (Result(code="rejected", violations=(Violation("loc", "too long"), Violation("secrets", "a key"))),
         Trial(category="rules loc, secrets", problems=("too long", "a key"))),
    ],
    ids=["kept", "not-applied", "churn", "rules"],
)  # fmt: skip
def test_an_end_without_tests_is_told_in_its_own_words(result: Result, trial: Trial) -> None:
    assert trial_of(result, Observed((), ()), Selection(full=True)) == trial


def test_a_flaky_test_has_the_outcome_of_the_run_in_which_it_passed() -> None:
    first, again = run_of("a", "bc"), run_of("b", "c")

    found = steadied(first, [again], {f"{T}::b"})

    assert [case.outcome for case in found.cases] == ["passed", "passed", "failed"]


def test_tests_in_files_of_its_own_may_be_renamed_and_dropped() -> None:
    found = without_own(measured(run_of("a", "b")), {T})

    assert not worse(found, measured(run_of("c")))
    assert worse(without_own(measured(run_of("a")), {U}), measured(run_of("c"))).vanished == (f"{T}::a",)
