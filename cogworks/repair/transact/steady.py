"""The tests of a repair under names that stay the same, for whatever compares one run with another.

Tests whose names change from run to run on the same files, as with a time or an address in them, distinguished by number.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from cogworks.domain_services.exploring import Beside, BesideParams, CallGraph, Coverage, SymbolIndex
from cogworks.domain_services.messages import Diagnostic, TestReport, is_hidden
from cogworks.repair.heldback import TriesBeside
from cogworks.repair.localise.localising import Explorer
from cogworks.repair.transact.measure import Measurement, file_of, limited_to, measured
from cogworks.repair.transact.transaction import Checks, RunsGroups
from cogworks.repair.violations import Reading
from cogworks.sight.index import Index
from cogworks.vocabulary import Value

_SHORT_S = 1.0
"""Loading and running all tests; what starts them, and their isolation, take about as long."""


class Unstable(Value):
    """What two runs on the same files did not agree about."""

    groups: Mapping[str, int] = {}
    """What the names have in common -> how many such tests there are in either run."""
    names: tuple[str, ...] = ()
    """Those that the first run had and the second had not."""
    steady: frozenset[str] = frozenset()
    """The tests that both had; they keep their names."""

    def has(self, test: str) -> bool:
        """Whether the name of a test cannot be relied on."""
        return test not in self.steady and group_of(test) in self.groups


def unstable_between(first: TestReport, second: TestReport) -> Unstable:
    """The tests that only one of two runs of the same files has, where the other has others in their place."""
    if first.timed_out or second.timed_out:
        return Unstable()
    unloaded = (*first.collection_errors, *second.collection_errors)
    one, other = _loaded(first, unloaded), _loaded(second, unloaded)
    gone = Counter(group_of(test) for test in one if test not in other)
    new = Counter(group_of(test) for test in other if test not in one)
    groups = {group: min(gone[group], new[group]) for group in sorted(gone.keys() & new.keys())}
    unstable = Unstable(groups=groups, steady=frozenset(one.keys() & other.keys()))
    return unstable.model_copy(update={"names": tuple(filter(unstable.has, one))})


def numbered(report: TestReport, unstable: Unstable) -> TestReport:
    """The report with numbers for the names that change, in the order in which the tests ran.

    So a test that is gone is missed by its number, whatever it was called. What one of the two runs had more of is left out.
    """
    seen = Counter[str]()
    cases = []
    for case in report.cases:
        group = group_of(case.id)
        if not unstable.has(case.id):
            cases.append(case)
            continue
        seen[group] += 1
        if seen[group] <= unstable.groups[group]:
            between = "" if "[" in case.id else "::"
            cases.append(case.model_copy(update={"id": f"{group}{between}[#{seen[group]}]"}))
    return report.model_copy(update={"cases": tuple(cases)})


def runnable(coverage: Coverage, unstable: Unstable) -> Coverage:
    """The coverage with what can be run again in place of the names that change."""
    tests = tuple(
        each.model_copy(update={"test": group_of(each.test)}) if unstable.has(each.test) else each
        for each in coverage.tests
    )
    return coverage.model_copy(update={"tests": tests})


def named(tests: Sequence[str], unstable: Unstable) -> tuple[str, ...]:
    """These tests as a runner knows them: what has a number is run with all that has the same name."""
    names = (_without_number(test) for test in tests)
    return tuple(
        dict.fromkeys(
            name if name in unstable.groups else test for name, test in zip(names, tests, strict=True)
        )
    )


def _without_number(test: str) -> str:
    name, bracket, _ = test.rpartition("[#")
    return name.removesuffix("::") if bracket else test


def group_of(test: str) -> str:
    """A test without its parameters; the class or file around it where it has none."""
    name, bracket, _ = test.partition("[")
    return name if bracket else test.rpartition("::")[0]


def _loaded(report: TestReport, errors: Iterable[str]) -> dict[str, None]:
    places = frozenset(map(file_of, errors))
    return dict.fromkeys(case.id for case in report.cases if not is_hidden(case.id, places))


class Consults(Checks, RunsGroups, Explorer, TriesBeside, Protocol):
    """What knows the worktree; `cogworks.repair.consulting.Consulted`."""


class SteadyTests:
    """The same; the first two runs of the whole suite, both before any change, show which names cannot be relied on.

    The second of them measures coverage, where somebody can.
    """

    def __init__(self, consulted: Consults) -> None:
        self._consulted = consulted
        self._first: TestReport | None = None
        self._second: TestReport | None = None
        self._is_compared = False
        self.unstable = Unstable()

    @property
    def first(self) -> TestReport | None:
        """The first run of the whole suite; None until there was one."""
        return self._first and self.numbered(self._first)

    @property
    def is_short(self) -> bool:
        """Whether another run of the whole suite takes no longer than another start of it."""
        first = self._first
        return first is not None and not first.timed_out and 0 < sum(first.seconds.values()) <= _SHORT_S

    def baseline(self, tests: Sequence[str]) -> Measurement | None:
        """How these tests (none: all) fared in both runs before any change; None where they do not agree or one is missing."""
        if self._first is None or self._second is None or self.unstable.groups:
            return None
        one, other = (measured(limited_to(each, tests)) for each in (self._first, self._second))
        is_the_same = (one.failing, one.passing, one.uncollected) == (
            other.failing,
            other.passing,
            other.uncollected,
        )
        is_whole = not (self._first.timed_out or self._second.timed_out)
        return one if is_the_same and is_whole else None

    def numbered(self, report: TestReport) -> TestReport:
        """A report from before the names were compared, with the names that it would have now."""
        return numbered(report, self.unstable)

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        report = self._consulted.run(named(tests, self.unstable), timeout_s=timeout_s)
        if self._first is None and not tests:
            self._first = report
        return self.numbered(report)

    def run_groups(self, groups: Sequence[Sequence[str]], *, timeout_s: float) -> TestReport | None:
        named_groups = [named(tests, self.unstable) for tests in groups]
        report = self._consulted.run_groups(named_groups, timeout_s=timeout_s)
        return self.numbered(report) if report else None

    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None:
        covered = self._consulted.coverage(timeout_s=timeout_s, steps_of=steps_of)
        if self._first is not None and not self._is_compared:
            self._is_compared = True
            again = self._second = covered.report if covered else self._consulted.run((), timeout_s=timeout_s)
            self.unstable = unstable_between(self._first, again)
        return runnable(covered, self.unstable) if covered else None

    def beside(self, params: BesideParams) -> Beside | None:
        against = params.against
        if against is not None:
            against = against.model_copy(update={"tests": named(against.tests, self.unstable)})
        tests = named(params.tests, self.unstable)
        result = self._consulted.beside(params.model_copy(update={"tests": tests, "against": against}))
        return result and result.model_copy(update={"report": self.numbered(result.report)})

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

    def words(self) -> Index | None:
        return self._consulted.words()
