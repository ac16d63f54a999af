"""Gates come in the order of their cost, run each test once, and prove nothing when nothing ran."""

import pytest

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.gates import Gate, Limits, Selection, gate_refusal, gates_of, newly_failing
from cogworks.repair.measure import Measurement, measured

LIMITS = Limits()
FULL = Selection(
    landmark=("t::a",), targeted=("t::a", "t::b"), regression=("t::c", "t::b"), smoke=("s::d", "t::a")
)


def report(passed: str = "", failed: str = "", skipped: str = "") -> TestReport:
    cases = [
        *(TestCase(id=f"t::{name}", outcome="passed") for name in passed),
        *(TestCase(id=f"t::{name}", outcome="failed") for name in failed),
        *(TestCase(id=f"t::{name}", outcome="skipped") for name in skipped),
    ]
    return TestReport(cases=tuple(cases))


def test_each_test_belongs_to_the_first_gate_that_names_it() -> None:
    gates = gates_of(FULL, LIMITS)

    assert [(gate.name, gate.tests) for gate in gates] == [
        ("landmark", ("t::a",)),
        ("targeted", ("t::b",)),
        ("regression", ("t::c",)),
        ("smoke", ("s::d",)),
    ]
    assert sorted(FULL.tests) == sorted(test for gate in gates for test in gate.tests)


@pytest.mark.parametrize(("is_last", "must_pass"), [(False, ()), (True, ("t::b",))])
def test_all_targets_have_to_pass_at_the_last_landmark_alone(
    is_last: bool, must_pass: tuple[str, ...]
) -> None:
    gates = gates_of(FULL.model_copy(update={"is_last": is_last}), LIMITS)

    assert [gate.must_pass for gate in gates if gate.name == "targeted"] == [must_pass]


def test_the_whole_suite_comes_last_and_stands_for_all_tests() -> None:
    selection = FULL.model_copy(update={"full": True})

    assert gates_of(selection, LIMITS)[-1] == Gate(name="full", tests=(), timeout_s=LIMITS.full_s)
    assert selection.tests == ()
    assert not selection.is_empty


def test_regression_tests_have_no_run_of_their_own_where_the_whole_suite_runs() -> None:
    selection = Selection(landmark=("new.py",), regression=("old.py",), proving=("old.py",), full=True)

    gates = gates_of(selection, LIMITS)

    assert [(gate.name, gate.tests, gate.proving) for gate in gates] == [
        ("landmark", ("new.py",), ()),
        ("full", (), ("old.py",)),
    ]


def test_a_regression_file_that_proves_nothing_any_more_does_not_pass_the_whole_suite() -> None:
    (gate,) = gates_of(Selection(regression=("t",), proving=("t",), full=True), LIMITS)
    other = TestReport(cases=(TestCase(id="u::x", outcome="passed"),))

    nothing = gate_refusal(gate, other, before=measured(other), after=measured(other))
    still = gate_refusal(gate, report("a"), before=measured(report("a")), after=measured(report("a")))

    assert nothing == "proves nothing by t: no test there passed"
    assert still is None


def test_files_that_have_to_prove_something_are_run_with_the_targets_unless_they_are_regressions() -> None:
    selection = Selection(regression=("old.py",), proving=("new.py", "old.py"))

    gates = gates_of(selection, LIMITS)

    assert [(gate.name, gate.tests, gate.proving) for gate in gates] == [
        ("targeted", ("new.py",), ("new.py",)),
        ("regression", ("old.py",), ("old.py",)),
    ]
    assert sorted(selection.tests) == ["new.py", "old.py"]


def test_without_any_test_the_selection_is_empty() -> None:
    assert Selection().is_empty
    assert gates_of(Selection(), LIMITS) == ()


BEFORE = measured(report("cde", "ab"))


@pytest.mark.parametrize(
    ("tests", "must_pass", "after", "reason"),
    [
        ("a", "a", report("a"), None),
        ("a", "a", report("", "a"), "does not make these tests pass: t::a"),
        ("a", "", report("", "a"), None),
        ("ac", "", report("c", "a"), None),
        ("ac", "", report("", "ac"), "breaks t::c"),
        ("ac", "", report("a"), "makes disappear t::c"),
        ("a", "", report(), "no test ran"),
        ("a", "", report("", "", "a"), "no test ran"),
        ("a", "", TestReport(cases=(), timed_out=True), "did not finish within 9 s"),
        ("a", "", TestReport(cases=(), collection_errors=("t: no",)), "makes uncollectable t"),
    ],
)
def test_what_stops_a_change_at_a_gate(
    tests: str, must_pass: str, after: TestReport, reason: str | None
) -> None:
    wanted, needed = (tuple(f"t::{name}" for name in names) for names in (tests, must_pass))
    gate = Gate(name="targeted", tests=wanted, timeout_s=9, must_pass=needed)

    found = gate_refusal(gate, after, before=BEFORE, after=measured(after))

    assert found is None if reason is None else reason in (found or "")


def test_a_gate_of_some_tests_does_not_miss_the_others() -> None:
    gate = Gate(name="landmark", tests=("t::a",), timeout_s=9, must_pass=("t::a",))

    assert gate_refusal(gate, report("a"), before=BEFORE, after=measured(report("a"))) is None


def test_only_what_did_not_fail_before_is_tried_again() -> None:
    assert newly_failing(BEFORE, Measurement(failing=frozenset({"t::a", "t::c"}))) == ("t::c",)
