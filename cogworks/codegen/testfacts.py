"""What a run of the tests comes to, as the cycle judges it."""

from collections.abc import Iterable

from cogworks.cycle.results import TestFacts
from cogworks.domain_services.messages import TestCase, TestReport

_NOT_PASSED = frozenset({"failed", "error"})
_NONE_COLLECTED = 5
_INTERRUPTED = 2


def facts_of(report: TestReport, *, before: TestReport | None = None) -> TestFacts:
    """The run as the cycle judges it. The exit status is the one pytest would have given.

    Args:
        before: the suite as it was found; what failed then may go on failing.
    """
    known = _ids(before.cases, _NOT_PASSED) if before else set()
    passed_before = _ids(before.cases, {"passed"}) if before else set()
    bad = [case for case in report.cases if case.outcome in _NOT_PASSED and case.id not in known]
    uncollected = [
        error for error in report.collection_errors if before is None or error not in before.collection_errors
    ]
    ran = [case for case in report.cases if case.outcome != "skipped"]
    failing = tuple(case.id for case in bad)
    return TestFacts(
        exit_status=_exit_status(report, ran=len(ran), bad=len(bad), uncollected=len(uncollected)),
        collected=len(report.cases),
        passed=len(_ids(report.cases, {"passed"})),
        failed=sum(1 for case in bad if case.outcome == "failed"),
        errors=sum(1 for case in bad if case.outcome == "error"),
        skipped=len(report.cases) - len(ran),
        known_failures=len(_ids(ran, _NOT_PASSED) & known),
        failing=failing,
        newly_failing=tuple(test for test in failing if test in passed_before),
        collection_errors=tuple(uncollected),
    )


def _exit_status(report: TestReport, *, ran: int, bad: int, uncollected: int) -> int:
    if uncollected or report.timed_out:
        return _INTERRUPTED
    if not ran:
        return _NONE_COLLECTED
    return 1 if bad else 0


def _ids(cases: Iterable[TestCase], outcomes: Iterable[str]) -> set[str]:
    wanted = frozenset(outcomes)
    return {case.id for case in cases if case.outcome in wanted}
