"""Is the test suite no worse than before, and is the change proven? A comparison of sets, never of counts."""

from collections import Counter
from collections.abc import Collection, Sequence

from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.vocabulary import Value

_BAD = frozenset({"failed", "error"})


class Comparison(Value):
    """What a change did to the suite."""

    broken: tuple[TestCase, ...] = ()
    """Tests that fail and did not fail before, new ones included."""
    vanished: tuple[str, ...] = ()
    """Tests that passed before and no longer run."""
    uncollected: tuple[str, ...] = ()
    """Collection errors that are new."""
    unproven: tuple[str, ...] = ()
    """Test files that were announced but hold no passing test."""
    timed_out: bool = False

    @property
    def is_acceptable(self) -> bool:
        """Nothing is worse than before and every announced test file proves something."""
        return not (self.broken or self.vanished or self.uncollected or self.unproven or self.timed_out)


def compare(
    before: TestReport, after: TestReport, *, announced: Sequence[str], own: Collection[str] = ()
) -> Comparison:
    """What changed between two runs of the whole suite.

    Args:
        announced: test files that shall prove the change.
        own: test files that only this change brought in; it may rename or drop tests in them.
    """
    bad_before = {case.id for case in before.cases if case.outcome in _BAD}
    passed_before = {case.id for case in before.cases if case.outcome == "passed"}
    passed_after = {case.id for case in after.cases if case.outcome == "passed"}
    ran_after = {case.id for case in after.cases if case.outcome != "skipped"}
    # A suite that was cut short says nothing about the tests it never reached.
    vanished = set() if after.timed_out or after.collection_errors else passed_before - ran_after
    proven = {file_of(test) for test in passed_after}
    return Comparison(
        broken=tuple(case for case in after.cases if case.outcome in _BAD and case.id not in bad_before),
        vanished=tuple(sorted(test for test in vanished if file_of(test) not in own)),
        uncollected=tuple(
            error for error in after.collection_errors if error not in before.collection_errors
        ),
        unproven=tuple(path for path in announced if path not in proven),
        timed_out=after.timed_out,
    )


def added_diagnostics(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """What is found after a change and was not before; a fault that only moved to another line is an old one."""
    old = Counter(_fault(each) for each in before)
    added = []
    for each in after:
        if old[_fault(each)] > 0:
            old[_fault(each)] -= 1
        else:
            added.append(each)
    return tuple(added)


def file_of(test_id: str) -> str:
    """The file of a test id such as `tests/test_a.py::test_b[c]`."""
    return test_id.split("::", 1)[0]


def _fault(found: Diagnostic) -> tuple[str, str, str]:
    return found.artifact, found.category, found.message
