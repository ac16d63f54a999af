"""Tests whose names change on the same files are told apart by number; all others keep what they are called."""

from collections.abc import Sequence

import pytest

from cogworks.domain_services.exploring import Coverage, TestCoverage
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.transact.measure import measured, worse
from cogworks.repair.transact.steady import Unstable, named, numbered, runnable, unstable_between


def report(*passed: str, failed: Sequence[str] = (), errors: tuple[str, ...] = ()) -> TestReport:
    cases = [TestCase(id=test, outcome="failed" if test in failed else "passed") for test in passed]
    return TestReport(cases=tuple(cases), collection_errors=errors)


FIRST = report("t.py::a", "t.py::b[10:01]", "t.py::b[10:02]", "t.py::b[late]")
SECOND = report("t.py::a", "t.py::b[10:07]", "t.py::b[10:08]", "t.py::b[late]")
FOUND = unstable_between(FIRST, SECOND)


def test_names_that_change_on_the_same_files_are_known_by_what_they_have_in_common() -> None:
    assert FOUND.groups == {"t.py::b": 2}
    assert FOUND.names == ("t.py::b[10:01]", "t.py::b[10:02]")


def test_such_tests_have_numbers_in_the_order_in_which_they_ran() -> None:
    names = [case.id for case in numbered(SECOND, FOUND).cases]

    assert names == ["t.py::a", "t.py::b[#1]", "t.py::b[#2]", "t.py::b[late]"]
    assert numbered(FIRST, FOUND).cases == numbered(SECOND, FOUND).cases
    assert numbered(numbered(SECOND, FOUND), FOUND) == numbered(SECOND, FOUND)


def test_a_name_that_changes_as_a_whole_counts_in_its_class_or_file() -> None:
    found = unstable_between(
        report("t.py::a", "t.py::at_1", "t.py::K::x_1"), report("t.py::a", "t.py::at_2", "t.py::K::x_2")
    )

    names = [case.id for case in numbered(report("t.py::a", "t.py::at_3", "t.py::K::x_3"), found).cases]
    assert names == ["t.py::a", "t.py::[#1]", "t.py::K::[#1]"]


@pytest.mark.parametrize(
    "second",
    [
        FIRST,
        report("t.py::a"),
        report("t.py::a", "t.py::b[10:01]", "t.py::b[10:02]", "t.py::b[late]", "t.py::c[1]"),
        report("t.py::c", errors=("t.py: cannot be loaded",)),
        report("t.py::b[10:07]", errors=(".: cannot be loaded",)),
        SECOND.model_copy(update={"timed_out": True}),
    ],
    ids=[
        "the same",
        "some are gone",
        "one more",
        "a file cannot be loaded",
        "a folder cannot be loaded",
        "broken off",
    ],
)
def test_what_has_nothing_else_in_its_place_is_no_changed_name(second: TestReport) -> None:
    assert unstable_between(FIRST, second).groups == {}
    assert unstable_between(FIRST, second).names == ()


def test_a_change_is_judged_as_if_the_names_were_the_same() -> None:
    before = measured(numbered(FIRST, FOUND))
    later = report("t.py::a", "t.py::b[11:30]", "t.py::b[11:31]", "t.py::b[late]", failed=["t.py::b[11:31]"])
    fewer = report("t.py::a", "t.py::b[11:30]", "t.py::b[late]")

    assert not worse(before, measured(numbered(SECOND, FOUND)))
    assert worse(before, measured(numbered(later, FOUND))).failing == ("t.py::b[#2]",)
    assert worse(before, measured(numbered(fewer, FOUND))).vanished == ("t.py::b[#2]",)
    assert worse(measured(report("t.py::b[x]")), measured(report("t.py::b[y]"))).vanished == ("t.py::b[x]",)


def test_where_the_number_itself_changes_no_more_count_than_both_runs_had() -> None:
    found = unstable_between(FIRST, report("t.py::a", "t.py::b[10:07]", "t.py::b[late]"))

    assert [case.id for case in numbered(SECOND, found).cases] == ["t.py::a", "t.py::b[#1]", "t.py::b[late]"]


def test_a_test_with_a_number_is_run_by_what_its_name_has_in_common() -> None:
    found = unstable_between(report("t.py::b[1]", "t.py::at_1"), report("t.py::b[2]", "t.py::at_2"))

    assert named(["t.py::b[#1]", "t.py::b[#2]", "t.py::a", "t.py::[#1]"], found) == (
        "t.py::b",
        "t.py::a",
        "t.py",
    )
    assert named(["t.py::c[#1]"], found) == ("t.py::c[#1]",)


def test_what_reaches_a_file_is_named_so_that_it_can_be_run() -> None:
    coverage = Coverage(
        report=SECOND, tests=tuple(TestCoverage(test=case.id, lines={}) for case in SECOND.cases)
    )

    names = [each.test for each in runnable(coverage, FOUND).tests]
    assert names == ["t.py::a", "t.py::b", "t.py::b", "t.py::b[late]"]
    assert runnable(coverage, Unstable()) == coverage
