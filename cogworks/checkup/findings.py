"""The findings of `cogworks doctor PATH` about a checkout."""

import re
from collections import Counter

from pydantic import Field

from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.domain_services.reasons import doctest_reason, marked_reason
from cogworks.forge.diagnosis import Check
from cogworks.settings.config import Baseline
from cogworks.vocabulary import Value

_MOST_CHARS = 300
_DIFFERENCE = re.compile(r"\s*(?:---|\+\+\+|@@)(?:\s|$)")
"""How a difference between two texts begins."""


class ServiceCheckup(Value):
    """One service, and the environment that it makes."""

    service: str
    root: str = ""
    """The folder that the service is for; empty: the whole repository."""
    prepared: Prepared | None = None
    """None: the service does not say, or could not make it."""
    problem: str = ""
    """Why there is no environment, with what to do."""


class SuiteRun(Value):
    """One run of the whole suite."""

    report: TestReport | None = None
    """None: it could not be run."""
    problem: str = ""
    """Why, with what to do."""
    seconds: float = 0.0
    runs: int = 1
    """In how many parts."""
    is_interrupted: bool = False
    """Whether somebody stopped it; then the problem says how far it had come."""


class Checkup(Value):
    """All findings about a checkout."""

    folder: str
    state: str
    """Which files were looked at, for people."""
    uncommitted: int = 0
    """So many paths differ from what is checked out."""
    languages: Check
    packs: Check | None = None
    """The context packs of the checkout; None: it has none."""
    services: tuple[ServiceCheckup, ...] = ()
    suite: SuiteRun | None = None
    """None: it was not run."""
    baseline: Baseline = "require"
    specs: str = ""
    """Where a specification is written; empty where none is merged."""
    dependency_changes: str = "ask"
    problems: tuple[str, ...] = ()
    """What is wrong with the configuration, each with what to do."""
    notes: tuple[str, ...] = ()
    proposal: str = ""
    """A `services.toml` for a repository with several roots; empty: none is needed."""
    seconds: float = Field(default=0.0, ge=0)

    @property
    def report(self) -> TestReport | None:
        """Of the suite, where it was run."""
        return self.suite.report if self.suite else None


class Counted(Value):
    """How the tests of a suite came out."""

    passed: int = 0
    failed: int = 0
    """With those that could not be set up or taken down."""
    skipped: int = 0
    not_loaded: int = 0
    """Files or folders of tests."""


def counted(report: TestReport) -> Counted:
    """The report in numbers."""
    outcomes = [case.outcome for case in report.cases]
    return Counted(
        passed=outcomes.count("passed"),
        failed=outcomes.count("failed") + outcomes.count("error"),
        skipped=outcomes.count("skipped"),
        not_loaded=len(report.collection_errors),
    )


def reasons(report: TestReport) -> tuple[tuple[str, int], ...]:
    """Why tests did not pass, each in one line with the number of tests that say so, the most frequent first."""
    counts = Counter(_reason(case.message) for case in failing(report) if case.message.strip())
    return tuple(counts.most_common())


def _reason(message: str) -> str:
    """What pytest marks, or the first line: others begin with where a test was, not with what is wrong."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not _DIFFERENCE.match(line)]
    reason = marked_reason(message) or doctest_reason(message) or [*lines, message.strip()][0]
    return reason if len(reason) <= _MOST_CHARS else f"{reason[: _MOST_CHARS - 1]}…"


def failing(report: TestReport) -> tuple[TestCase, ...]:
    """The tests that did not pass, in the order of the report."""
    return tuple(case for case in report.cases if case.outcome in ("failed", "error"))


_NOBODY = ", where nobody listens inside"


def refusals(report: TestReport) -> tuple[str, ...]:
    """What the isolation refused; without the attempts of tests that passed to reach a server of theirs that was not up yet."""
    passed = {case.id for case in report.cases if case.outcome == "passed"}
    return tuple(
        text
        for text in report.blocked
        if not text.endswith(_NOBODY) or text.rpartition(": tried to ")[0] not in passed
    )
