"""How a transaction's end is told to whoever proposed the change: its names and numbers, with what was printed."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from cogworks.cycle.feedback import Setback, Trial, judge_diagnostics, judge_setback
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport, hides_any, is_hidden
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.measure import BAD, Measurement, Worse, faults_beyond, file_of, is_of
from cogworks.repair.transact.outcomes import Result


class Observed(NamedTuple):
    """What the checks of one transaction said."""

    reports: Sequence[TestReport]
    """In the order of the runs."""
    findings: Sequence[Diagnostic]
    """Of the last look at the files."""


def trial_of(result: Result, observed: Observed, selection: Selection) -> Trial:
    """The verdict on a change in words that the next proposal can act on."""
    if result.is_kept:
        return Trial()
    told = Trial(category=result.code, problems=result.reasons or (result.code,))
    if result.violations:
        codes = ", ".join(sorted({each.code for each in result.violations}))
        return Trial(category=f"rules {codes}", problems=tuple(each.text for each in result.violations))
    if result.code == "gate_static" and result.before is not None:
        verdict = judge_diagnostics(faults_beyond(result.before.static, observed.findings))
        return told if verdict.is_kept else verdict
    if result.worse is None or result.after is None:
        return told
    setback = setback_of(result.worse, result.after, observed.reports, wanted=selection.landmark)
    verdict = judge_setback(setback.model_copy(update={"unproven": _silent(result.unproven, setback)}))
    return told if verdict.is_kept else verdict


def setback_of(
    found: Worse, after: Measurement, reports: Sequence[TestReport], *, wanted: Collection[str] = ()
) -> Setback:
    """What became worse, with the messages of the first run that shows it.

    Args:
        wanted: tests and files that have to pass, whether they did before or not.
    """
    is_cut = bool(reports) and reports[-1].timed_out
    bad = {*found.failing, *_of(after.failing, wanted)}
    places = {
        *found.uncollected,
        *(each for each in after.uncollected if hides_any(each, wanted)),
    }
    errors = [text for report in reports for text in report.collection_errors if file_of(text) in places]
    return Setback(
        broken=tuple(_first_cases(reports, bad)),
        # A suite that was cut short says nothing about the tests it never reached.
        vanished=() if is_cut else found.vanished,
        uncollected=tuple(dict.fromkeys(errors)),
        unsteady=tuple(sorted(_of(after.flaky, wanted))),
        timed_out=is_cut,
        blocked=tuple(dict.fromkeys(text for report in reports for text in report.blocked)),
    )


def steadied(report: TestReport, reruns: Sequence[TestReport], flaky: Collection[str]) -> TestReport:
    """The run, its flaky tests with the outcome of a rerun in which they passed."""
    passed = {case.id: case for rerun in reruns for case in rerun.cases if case.outcome == "passed"}
    cases = (passed.get(case.id, case) if case.id in flaky else case for case in report.cases)
    return report.model_copy(update={"cases": tuple(cases)})


def without_own(found: Measurement, own: Collection[str]) -> Measurement:
    """The measurement without the tests in files that only this work brought in: it may rename and drop those."""
    return found.model_copy(
        update={
            "passing": frozenset(test for test in found.passing if file_of(test) not in own),
            "failing": frozenset(test for test in found.failing if file_of(test) not in own),
        }
    )


def _first_cases(reports: Sequence[TestReport], wanted: Collection[str]) -> list[TestCase]:
    found: dict[str, TestCase] = {}
    for report in reports:
        for case in report.cases:
            if case.id in wanted and case.outcome in BAD:
                found.setdefault(case.id, case)
    return list(found.values())


def _of(tests: Collection[str], wanted: Collection[str]) -> set[str]:
    return {test for test in tests if any(is_of(test, each) for each in wanted)}


def _silent(unproven: Sequence[str], setback: Setback) -> tuple[str, ...]:
    """Those of which nothing else says why they prove nothing."""
    told = {*(case.id for case in setback.broken), *setback.unsteady}
    return tuple(
        each
        for each in unproven
        if not (setback.timed_out or _of(told, [each]) or is_hidden(each, setback.uncollected))
    )
