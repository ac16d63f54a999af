"""The first two runs of a repair show which names of tests cannot be relied on; from then on all reports agree."""

import itertools
from collections.abc import Mapping, Sequence

from cogworks.domain_services.exploring import Beside, BesideParams, Coverage, TestCoverage
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.repair.transact.steady import SteadyTests
from cogworks.repair.violations import Reading
from tests.repair.exploring import ScriptedExplorer


class Ticking(ScriptedExplorer):
    """A suite in which one test is called by how often it ran, and two are called something."""

    def __init__(self, *, measures: bool) -> None:
        super().__init__({})
        self._measures = measures
        self._ticks = itertools.count()
        self.ran: list[tuple[str, ...]] = []

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        self.ran.append(tuple(tests))
        names = ("t.py::one", f"t.py::two[{next(self._ticks)}]", "t.py::three")
        return TestReport(cases=tuple(TestCase(id=name, outcome="passed") for name in names))

    def run_groups(self, groups: Sequence[Sequence[str]], *, timeout_s: float) -> TestReport | None:
        return self.run([test for group in groups for test in group], timeout_s=timeout_s) if groups else None

    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None:
        if not self._measures:
            return None
        report = self.run((), timeout_s=timeout_s)
        tests = tuple(TestCoverage(test=case.id, lines={"t.py": ((1, 1),)}) for case in report.cases)
        return Coverage(report=report, tests=tests)

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return ()

    def read(self, images: Mapping[str, str | None]) -> Reading:
        raise AssertionError("nobody asked")

    def beside(self, params: BesideParams) -> Beside | None:
        raise AssertionError("nobody asked")


def names(report: TestReport) -> list[str]:
    return [case.id for case in report.cases]


NUMBERED = ["t.py::one", "t.py::two[#1]", "t.py::three"]


def test_the_run_that_measures_coverage_is_the_second_one() -> None:
    suite = Ticking(measures=True)
    steady = SteadyTests(suite)

    first = steady.run((), timeout_s=1)
    coverage = steady.coverage(timeout_s=1)

    assert names(first) == ["t.py::one", "t.py::two[0]", "t.py::three"]
    assert names(steady.numbered(first)) == names(steady.run((), timeout_s=1)) == NUMBERED
    assert coverage is not None
    assert [each.test for each in coverage.tests] == ["t.py::one", "t.py::two", "t.py::three"]
    assert steady.unstable.names == ("t.py::two[0]",)
    assert len(suite.ran) == 3


def test_where_nobody_measures_the_suite_runs_once_more_and_only_once() -> None:
    suite = Ticking(measures=False)
    steady = SteadyTests(suite)
    steady.run((), timeout_s=1)

    assert steady.coverage(timeout_s=1) is None
    assert steady.coverage(timeout_s=1) is None

    assert suite.ran == [(), ()]
    assert names(steady.run(("t.py::two",), timeout_s=1)) == NUMBERED


def test_a_test_that_failed_under_its_number_can_be_run_again() -> None:
    suite = Ticking(measures=True)
    steady = SteadyTests(suite)
    steady.run((), timeout_s=1)
    steady.coverage(timeout_s=1)

    steady.run(("t.py::two[#1]", "t.py::one"), timeout_s=1)

    assert suite.ran[-1] == ("t.py::two", "t.py::one")


def test_before_there_are_two_runs_every_name_is_taken_as_it_is() -> None:
    steady = SteadyTests(Ticking(measures=True))

    steady.run(("t.py::two",), timeout_s=1)
    steady.coverage(timeout_s=1)

    assert names(steady.run((), timeout_s=1)) == ["t.py::one", "t.py::two[2]", "t.py::three"]


def test_tests_that_run_in_groups_have_the_same_names() -> None:
    steady = SteadyTests(Ticking(measures=True))
    steady.run((), timeout_s=1)
    steady.coverage(timeout_s=1)

    grouped = steady.run_groups([("t.py::one",), ("t.py::two", "t.py::three")], timeout_s=1)

    assert grouped is not None
    assert names(grouped) == NUMBERED
    assert steady.run_groups((), timeout_s=1) is None
