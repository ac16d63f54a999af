"""Gates come in the order of their cost, run each test once, and prove nothing when nothing ran."""

import pytest

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.transact.gates import (
    Gate,
    Limits,
    Selection,
    by_gate,
    doubtful,
    gate_refusal,
    gates_of,
    parted,
)
from cogworks.repair.transact.measure import measured

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


def test_one_run_of_a_short_suite_tells_of_every_gate() -> None:
    gates = gates_of(FULL.model_copy(update={"full": True, "is_short": True}), LIMITS)
    suite = report(passed="abd", failed="cx").model_copy(update={"hung": ("t::c",)})

    told = by_gate(suite, gates)

    assert [gate.name for gate in gates] == ["landmark", "targeted", "regression", "smoke", "full"]
    assert {name: [case.id for case in each.cases] for name, each in told.items()} == {
        "landmark": ["t::a"],
        "targeted": ["t::b"],
        "regression": ["t::c"],
        "smoke": [],
        "full": ["t::a", "t::b", "t::d", "t::c", "t::x"],
    }
    assert {name: each.hung for name, each in told.items()} == {
        "landmark": (),
        "targeted": (),
        "regression": ("t::c",),
        "smoke": (),
        "full": ("t::c",),
    }
    assert by_gate(suite.model_copy(update={"timed_out": True}), gates) == {}


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


@pytest.mark.parametrize(
    ("must_pass", "after", "again"),
    [
        ("", report("d", "ac"), ("t::c",)),
        ("", report("cd", "a"), ()),
        ("a", report("a", "c"), ("t::c",)),
        ("a", report("", "ac"), ()),
        ("c", report("a", "c"), ()),
        ("", report("", "c"), ()),
        ("", TestReport(cases=(TestCase(id="t::c", outcome="failed"),), timed_out=True), ()),
    ],
    ids=[
        "one that passed before",
        "one that failed before",
        "the only reason against the change",
        "a target fails as it did",
        "a target that has to pass",
        "another test is gone",
        "the time is up",
    ],
)
def test_a_new_failure_is_tried_again_only_where_that_may_change_the_verdict(
    must_pass: str, after: TestReport, again: tuple[str, ...]
) -> None:
    needed = tuple(f"t::{name}" for name in must_pass)
    tests = ("t::a", "t::c") if must_pass else ("t::a", "t::c", "t::d")
    gate = Gate(name="targeted", tests=tests, timeout_s=9, must_pass=needed)

    assert doubtful(gate, after, before=BEFORE, after=measured(after)) == again


TOGETHER = (
    Gate(name="targeted", tests=("t::a", "t::b"), timeout_s=9),
    Gate(name="regression", tests=("u", "v::e"), timeout_s=9),
)
A, B, C, E = (
    TestCase(id=name, outcome="passed" if name == "t::b" else "failed")
    for name in ("t::a", "t::b", "u::c[x]", "v::e")
)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"cases": (A, B, C, E)}, {"targeted": {"cases": (A, B)}, "regression": {"cases": (C, E)}}),
        ({"cases": (A, B)}, {"targeted": {"cases": (A, B)}}),
        ({"cases": (C, E)}, {}),
        ({"cases": ()}, {}),
        ({"cases": (A, TestCase(id="x::y", outcome="passed"))}, {}),
        ({"cases": (A,), "timed_out": True}, {"targeted": {"cases": (A,), "timed_out": True}}),
        ({"cases": (A, B, C), "timed_out": True}, {"targeted": {"cases": (A, B)}}),
        (
            {"cases": (), "collection_errors": ("t: no",)},
            {"targeted": {"cases": (), "collection_errors": ("t: no",)}},
        ),
        (
            {"cases": (A, B, E), "collection_errors": ("u: no",)},
            {"targeted": {"cases": (A, B)}},
        ),
        ({"cases": (A, B), "collection_errors": ("pytest ended early",)}, {}),
        ({"cases": (), "collection_errors": (".: no",)}, {}),
        ({"cases": (A, B), "collection_errors": ("v: no",)}, {"targeted": {"cases": (A, B)}}),
        (
            {"cases": (A, B), "blocked": ("x",), "unprotected": ("y",)},
            {"targeted": {"cases": (A, B), "blocked": ("x",), "unprotected": ("y",)}},
        ),
    ],
    ids=[
        "all of both",
        "stopped after the first",
        "nothing of the first",
        "nothing at all",
        "a test of no gate",
        "no time for the first",
        "no time for the second",
        "the first cannot be collected",
        "the second cannot be collected",
        "an error of nobody",
        "an error of all",
        "a folder of the second",
        "what the isolation met",
    ],
)
def test_what_one_run_says_of_several_gates(
    told: dict[str, object], found: dict[str, dict[str, object]]
) -> None:
    expected = {name: TestReport.model_validate(fields) for name, fields in found.items()}

    assert parted(TestReport.model_validate(told), TOGETHER) == expected
