"""A merge is kept only where everything that passed on either side passes in it."""

from collections.abc import Mapping

import pytest

from cogworks.codegen.proving import lost_by_merge
from cogworks.domain_services.messages import TestCase, TestReport


def report(**outcomes: str) -> TestReport:
    cases = [TestCase.model_validate({"id": name, "outcome": outcome}) for name, outcome in outcomes.items()]
    return TestReport(cases=tuple(cases))


def unasked() -> TestReport:
    raise AssertionError("nobody has to know what both sides began with")


OK, BAD = "passed", "failed"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "lost"),
    [
        ({"a": OK, "new": OK}, {"a": OK, "other": OK}, {"a": OK, "new": OK, "other": OK}, ()),
        ({"a": OK, "new": OK}, {"a": OK}, {"a": OK, "new": BAD}, ("new",)),
        ({"a": OK}, {"a": OK, "other": OK}, {"a": OK, "other": "error"}, ("other",)),
        ({"a": OK}, {"a": OK}, {"a": "skipped"}, ("a",)),
        ({"a": OK}, {"a": BAD}, {"a": BAD}, ()),
        ({"a": BAD}, {"a": OK}, {"a": BAD}, ()),
        ({"a": BAD}, {"a": BAD}, {"a": BAD}, ()),
        ({"a": OK}, {"a": OK}, {}, ("a",)),
    ],
    ids=[
        "everything passes",
        "ours fails",
        "theirs fails",
        "skipped is not passed",
        "broken there",
        "broken here",
        "broken on both",
        "gone on neither",
    ],
)
def test_what_passed_on_a_side_has_to_pass(
    ours: Mapping[str, str], theirs: Mapping[str, str], merged: Mapping[str, str], lost: tuple[str, ...]
) -> None:
    assert lost_by_merge(report(**ours), report(**theirs), report(**merged), fork=unasked) == lost


@pytest.mark.parametrize("is_ours", [True, False], ids=["of ours", "of theirs"])
def test_a_test_that_one_side_removed_may_go_and_a_new_one_may_not(is_ours: bool) -> None:
    more, less = report(a=OK, old=OK, new=OK), report(a=OK)
    ours, theirs = (more, less) if is_ours else (less, more)

    lost = lost_by_merge(ours, theirs, report(a=OK), fork=lambda: report(a=OK, old=OK))

    assert lost == ("new",)


def test_a_test_that_one_side_removed_and_that_is_there_all_the_same_has_to_pass() -> None:
    assert lost_by_merge(report(a=OK, old=OK), report(a=OK), report(a=OK, old=BAD), fork=unasked) == ("old",)


def test_new_cases_of_both_sides_that_differ_by_a_day_alone_are_two_tests() -> None:
    one, other = "t.py::day[2020-01-01]", "t.py::day[2021-01-01]"
    ours, theirs = report(**{"a": OK, one: OK}), report(**{"a": OK, other: OK})

    assert lost_by_merge(ours, theirs, report(**{"a": OK, one: OK}), fork=lambda: report(a=OK)) == (other,)
