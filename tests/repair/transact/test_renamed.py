"""A case whose id holds the time or a random value is the same case in the next run."""

import pytest

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.transact.measure import Measurement, worse
from cogworks.repair.transact.renamed import as_called_in, under_other_ids

FILE = "test/dbcore/test_datequery.py"
BEFORE = f"{FILE}::TestInterval::test_intervals[-1d..1d-2026-11-28T22:46:00-True]"
AFTER = f"{FILE}::TestInterval::test_intervals[-1d..1d-2026-11-28T22:47:00-True]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEFORE, AFTER),
        ("t.py::t[2026-11-28]", "t.py::t[2026-11-29]"),
        ("t.py::t[2026-11-28 23:59:59.999999+01:00]", "t.py::t[2026-11-29 00:00:00+01:00]"),
        ("t.py::t[at 09:30]", "t.py::t[at 09:31]"),
        ("t.py::t[1f0c6f6e-7a0b-4d5e-9d5f-0a1b2c3d4e5f]", "t.py::t[9e107d9d-372b-4b6d-8e1f-5a5a5a5a5a5a]"),
        ("t.py::t[<object at 0x7f15136ed0e0>]", "t.py::t[<object at 0x7f9a136ed0e0>]"),
        ("t.py::t[1795905961.25]", "t.py::t[1795905999.5]"),
        ("t.py::t[0.8444218515250481]", "t.py::t[0.7579544029403025]"),
        ("a.test.js::dates > parses 2026-11-28T22:46:00Z", "a.test.js::dates > parses 2026-11-28T22:47:00Z"),
    ],
)
def test_a_case_is_there_under_the_id_of_another_moment(before: str, after: str) -> None:
    assert under_other_ids([before], [after]) == {before}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t.py::t[1-2]", "t.py::t[1-3]"),
        ("t.py::t[2020]", "t.py::t[2021]"),
        ("t.py::t[0.5]", "t.py::t[0.25]"),
        ("t.py::t[version 1.10.2]", "t.py::t[version 1.10.3]"),
        ("2026-11-28/t.py::t", "2026-11-29/t.py::t"),
        (BEFORE, AFTER.replace("True", "False")),
        (BEFORE, AFTER.replace("test_intervals", "test_others")),
    ],
)
def test_a_case_with_other_inputs_is_another_one(before: str, after: str) -> None:
    assert under_other_ids([before], [after]) == frozenset()


def test_each_new_case_stands_for_one_that_is_gone() -> None:
    gone = [BEFORE, BEFORE.replace("22:46", "22:45")]

    assert len(under_other_ids(gone, [AFTER])) == 1


def test_tests_that_the_clock_renames_make_no_change_worse() -> None:
    before = Measurement(passing=frozenset((BEFORE, "t.py::a")))

    assert not worse(before, Measurement(passing=frozenset((AFTER, "t.py::a"))))
    assert worse(before, Measurement(passing=frozenset(("t.py::a",)))).vanished == (BEFORE,)
    assert worse(
        before, Measurement(passing=frozenset(("t.py::a",)), failing=frozenset((AFTER,)))
    ).failing == (AFTER,)


def test_one_that_failed_before_under_another_id_does_not_fail_anew() -> None:
    before, after = Measurement(failing=frozenset((BEFORE,))), Measurement(failing=frozenset((AFTER,)))

    assert not worse(before, after)


def report(*tests: str) -> TestReport:
    return TestReport(cases=tuple(TestCase(id=test, outcome="passed") for test in tests))


def test_a_later_report_calls_its_cases_what_they_were_called_before() -> None:
    other = BEFORE.replace("-1d..1d", "-2d..-1d")
    later = report("t.py::a", AFTER, other.replace("22:46", "22:47"), "t.py::new[2026-11-28]")

    names = [case.id for case in as_called_in(report("t.py::a", BEFORE, other), later).cases]

    assert names == ["t.py::a", BEFORE, other, "t.py::new[2026-11-28]"]


def test_of_fixed_times_each_case_keeps_its_id() -> None:
    fixed = [f"t.py::t[{year}-01-01]" for year in (2000, 2001, 2002)]

    assert (
        as_called_in(report(*fixed), report(*fixed, "t.py::t[2003-01-01]")).cases[-1].id
        == "t.py::t[2003-01-01]"
    )
    assert as_called_in(report(*fixed), report(*fixed[1:])) == report(*fixed[1:])
