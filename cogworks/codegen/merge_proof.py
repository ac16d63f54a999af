"""Is a merge worse than what went into it? What passed on either side has to pass in it."""

from collections.abc import Callable

from cogworks.domain_services.messages import TestReport


def lost_by_merge(
    ours: TestReport, theirs: TestReport, merged: TestReport, *, fork: Callable[[], TestReport]
) -> tuple[str, ...]:
    """The tests that passed on one side and do not pass in the merge, sorted; none where the merge is no worse than both.

    A test that the other side has and that does not pass there brings its failure along: the merge did not break it. One that
    the other side removed may go.

    Args:
        fork: the run on the commit that both sides began with; asked only where a test is gone.
    """
    sides = (
        (_passing(ours), _known(theirs), _passing(theirs)),
        (_passing(theirs), _known(ours), _passing(ours)),
    )
    there, passing = _known(merged), _passing(merged)
    lost: set[str] = set()
    gone: set[str] = set()
    for passed, others, others_passing in sides:
        for test in passed - passing:
            if test in others and test not in others_passing:
                continue
            (gone if test not in there and test not in others else lost).add(test)
    if gone:
        # What both sides began with was removed by the one that has it no more; what is new on one side was lost.
        lost |= gone - _known(fork())
    return tuple(sorted(lost))


def _passing(report: TestReport) -> frozenset[str]:
    return frozenset(case.id for case in report.cases if case.outcome == "passed")


def _known(report: TestReport) -> frozenset[str]:
    return frozenset(case.id for case in report.cases)
