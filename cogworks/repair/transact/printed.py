"""What the tests that stopped a change printed, cut and without secrets: for the next proposal, and for people."""

from collections.abc import Collection, Sequence

from cogworks.domain_services.messages import TestReport
from cogworks.repair.transact.measure import BAD
from cogworks.tools.records import Redactor

MOST_TESTS = 5
MAX_CHARS = 1_500
"""Of one test; the end of a test's output says what failed."""


def printed(reports: Sequence[TestReport], *, known: Collection[str]) -> tuple[str, ...]:
    """One text for each test that fails and each file that cannot be loaded, what is new first.

    Args:
        known: tests that failed before.
    """
    failing = {case.id: case.message for report in reports for case in report.cases if case.outcome in BAD}
    texts = [f"cannot be loaded: {_cut(error)}" for report in reports for error in report.collection_errors]
    order = sorted(failing, key=lambda test: (test in known, test))
    texts += [f"{test} printed:\n{_cut(failing[test])}" for test in order if failing[test].strip()]
    return tuple(texts[:MOST_TESTS])


def _cut(text: str) -> str:
    clean = Redactor().text(text.strip())
    return clean if len(clean) <= MAX_CHARS else f"[…]{clean[-MAX_CHARS:]}"
