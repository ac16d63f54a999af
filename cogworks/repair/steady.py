"""The tests of a repair under names that stay the same, for whatever compares one run with another."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from cogworks.domain_services.exploring import CallGraph, Coverage, SymbolIndex
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.repair.localising import Explorer
from cogworks.repair.transaction import Checks, RunsGroups
from cogworks.repair.unstable import Unstable, named, numbered, runnable, unstable_between
from cogworks.repair.violations import Reading


class Consults(Checks, RunsGroups, Explorer, Protocol):
    """What knows the worktree; `cogworks.repair.consulting.Consulted`."""


class SteadyTests:
    """The same; the first two runs of the whole suite, both before any change, show which names cannot be relied on.

    The second of them measures coverage, where somebody can.
    """

    def __init__(self, consulted: Consults) -> None:
        self._consulted = consulted
        self._first: TestReport | None = None
        self._is_compared = False
        self.unstable = Unstable()

    def numbered(self, report: TestReport) -> TestReport:
        """A report from before the names were compared, as it would be told now."""
        return numbered(report, self.unstable)

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        report = self._consulted.run(named(tests, self.unstable), timeout_s=timeout_s)
        if self._first is None and not tests:
            self._first = report
        return self.numbered(report)

    def run_groups(self, groups: Sequence[Sequence[str]], *, timeout_s: float) -> TestReport | None:
        asked = [named(tests, self.unstable) for tests in groups]
        report = self._consulted.run_groups(asked, timeout_s=timeout_s)
        return self.numbered(report) if report else None

    def coverage(self, *, timeout_s: float) -> Coverage | None:
        found = self._consulted.coverage(timeout_s=timeout_s)
        if self._first is not None and not self._is_compared:
            self._is_compared = True
            again = found.report if found else self._consulted.run((), timeout_s=timeout_s)
            self.unstable = unstable_between(self._first, again)
        return runnable(found, self.unstable) if found else None

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return self._consulted.static(paths)

    def read(self, images: Mapping[str, str | None]) -> Reading:
        return self._consulted.read(images)

    def text(self, path: str) -> str | None:
        return self._consulted.text(path)

    def call_graph(self, seeds: Sequence[str], *, hops: int, most: int) -> CallGraph | None:
        return self._consulted.call_graph(seeds, hops=hops, most=most)

    def index(self, artifacts: Sequence[str]) -> SymbolIndex | None:
        return self._consulted.index(artifacts)
