"""Worse is a matter of sets: what is repaired never pays for what is broken."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport, hides
from cogworks.repair.transact.measure import (
    Measurement,
    StaticError,
    confirmed,
    improved,
    joined,
    measured,
    new_faults,
    refusal,
    restated,
    with_hidden_tests,
    worse,
)
from cogworks.vocabulary import Severity

TESTS = tuple(f"tests/t.py::{name}" for name in "abcdef")
SETS = st.frozensets(st.sampled_from(TESTS))


def report(passed: str = "", failed: str = "", skipped: str = "", errors: tuple[str, ...] = ()) -> TestReport:
    """One letter per test."""
    outcomes = {"passed": passed, "failed": failed, "skipped": skipped}
    cases = tuple(
        TestCase(id=f"tests/t.py::{name}", outcome=outcome)  # type: ignore[arg-type]  # a key of `outcomes`
        for outcome, names in outcomes.items()
        for name in names
    )
    return TestReport(cases=cases, collection_errors=errors)


def state(passed: str = "", failed: str = "", **more: object) -> Measurement:
    return measured(report(passed, failed)).model_copy(update=more)


def a(name: str) -> str:
    return f"tests/t.py::{name}"


STATIC = StaticError("a.py", "syntax_error", "no")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (state("c", "ab"), state("abc"), None),
        (state("c", "ab"), state("ab", "c"), f"breaks {a('c')}"),
        (state("c", "ab"), state("c", "ab"), "improves nothing"),
        (state("c", "ab"), state("ac", "b"), None),
        (state("c", "ab"), state("ab"), f"makes disappear {a('c')}"),
        (state("c", "ab"), state("ca"), f"makes disappear {a('b')}"),
        (state("c", "a"), state("ca", "d"), f"breaks {a('d')}"),
        (state("c", "a"), state("ca", uncollected=frozenset({"tests/u.py"})), "uncollectable tests/u.py"),
        (state("c", uncollected=frozenset({"u"})), state("cd"), None),
        (state("c", "a"), state("ca", static=frozenset({STATIC})), "adds to the static checks a.py"),
        (state("c", static=frozenset({STATIC})), state("c"), None),
        (state("c", "a"), state("a", "c", flaky=frozenset({a("c")})), None),
        (state("c", "a"), state("ca", churn=500.0), None),
    ],
    ids=[
        "fixes two",
        "fixes two and breaks one",
        "nothing",
        "fixes one of two",
        "loses a good test",
        "loses a bad test",
        "new test fails",
        "cannot be collected",
        "can be collected again",
        "static error",
        "static error gone",
        "flaky",
        "churn alone refuses nothing",
    ],
)
def test_when_a_change_is_refused(before: Measurement, after: Measurement, reason: str | None) -> None:
    found = refusal(before, after)

    assert found is None if reason is None else reason in (found or "")


@pytest.mark.parametrize(
    ("landmark", "must_pass", "after", "reason"),
    [
        (("a",), (), state("ac", "b"), None),
        (("b",), (), state("ac", "b"), f"does not make these tests pass: {a('b')}"),
        (("a",), ("a", "b"), state("ac", "b"), f"does not make these tests pass: {a('b')}"),
        (("a",), ("b",), state("abc"), None),
        (("a",), (), state("c", "b", flaky=frozenset({a("a")})), f"does not make these tests pass: {a('a')}"),
    ],
    ids=["landmark passes", "landmark fails", "last one fails", "last one passes", "landmark is flaky"],
)
def test_the_landmark_and_at_the_end_all_targets_have_to_pass(
    landmark: tuple[str, ...], must_pass: tuple[str, ...], after: Measurement, reason: str | None
) -> None:
    before = state("c", "ab")

    found = refusal(before, after, landmark=[a(n) for n in landmark], must_pass=[a(n) for n in must_pass])

    assert found == reason


@pytest.mark.parametrize("wanted", [a("a"), "tests/t.py"])
def test_a_target_that_was_flaky_before_proves_nothing(wanted: str) -> None:
    before = state("c", "b", flaky=frozenset({a("a")}))

    found = refusal(before, state("abc"), must_pass=[wanted])

    assert found == f"cannot be judged by tests that were flaky before: {wanted}"


def test_a_landmark_may_be_a_whole_file() -> None:
    before = state("", "ab")

    assert refusal(before, state("ab"), landmark=["tests/t.py"]) is None
    assert "tests/t.py" in (refusal(before, state("a", "b"), landmark=["tests/t.py"]) or "")


def test_of_a_wanted_file_what_failed_before_need_not_pass() -> None:
    before, after = state("c", "ab"), state("ca", "b")

    assert "tests/t.py" in (refusal(before, after, landmark=["tests/t.py"]) or "")
    assert refusal(before, after, landmark=["tests/t.py"], may_fail=[a("b")]) is None
    assert "breaks" in (refusal(before, state("a", "bc"), landmark=["tests/t.py"], may_fail=[a("c")]) or "")


def test_what_fails_in_a_file_that_can_be_loaded_at_last_was_no_better_before() -> None:
    hidden = frozenset({"tests/u.py"})
    before = state("c", uncollected=hidden)
    half_good = measured(
        TestReport(
            cases=(
                TestCase(id=a("c"), outcome="passed"),
                TestCase(id="tests/u.py::one", outcome="passed"),
                TestCase(id="tests/u.py::two", outcome="failed"),
            )
        )
    )

    assert refusal(before, half_good) is None
    assert improved(before, half_good)
    assert "does not make these tests pass: tests/u.py::two" in (
        refusal(before, half_good, landmark=["tests/u.py::two"]) or ""
    )
    assert refusal(before, state("c", "d")) == f"breaks {a('d')}"


def test_what_passed_in_another_run_is_not_excused_by_a_file_that_could_not_be_loaded() -> None:
    before = state("c", "a", uncollected=frozenset({"tests/t.py"}))

    assert refusal(before, state("a", "c")) == f"breaks {a('c')}"


def unloaded(*places: str, **outcomes: str) -> Measurement:
    """Tests of `d/t.py`, and what cannot be loaded."""
    cases = [
        TestCase.model_validate({"id": f"d/t.py::{name}", "outcome": how}) for name, how in outcomes.items()
    ]
    return measured(
        TestReport(cases=tuple(cases), collection_errors=tuple(f"{place}: no" for place in places))
    )


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (unloaded("d"), unloaded(a="passed", b="failed"), None),
        (unloaded("."), unloaded(a="passed", b="failed"), None),
        (unloaded("d"), unloaded("d/u.py", a="passed"), None),
        (unloaded("."), unloaded("d", "e.py"), None),
        (unloaded("d", a="passed"), unloaded(a="failed"), "breaks d/t.py::a"),
        (unloaded(".", a="passed"), unloaded("d/t.py"), "makes uncollectable d/t.py"),
        (unloaded(".", a="passed"), unloaded("e.py"), "makes disappear d/t.py::a"),
        (unloaded("d/t.py"), unloaded("d"), "makes uncollectable d"),
        (unloaded("d"), unloaded("."), "makes uncollectable ."),
        (unloaded("dd"), unloaded(a="failed"), "breaks d/t.py::a"),
        (unloaded("d"), unloaded("d"), "improves nothing"),
    ],
    ids=[
        "a folder", "everything", "a file of the folder is left", "less than everything is left",
        "another run saw it pass", "another run saw it pass in the file", "another run saw it pass elsewhere",
        "more than the file", "more than the folder", "another folder", "the same",
    ],
)  # fmt: skip
def test_what_stood_below_a_folder_that_could_not_be_loaded_was_no_better_before(
    before: Measurement, after: Measurement, reason: str | None
) -> None:
    found = refusal(before, after)

    assert found is None if reason is None else reason in (found or "")
    assert improved(before, after) == (reason is None)


def test_below_a_folder_that_could_not_be_loaded_there_were_errors_of_files_too() -> None:
    before = TestReport(cases=(), collection_errors=("tests: NameError: x",))
    now = report("a", errors=("tests/u.py: ImportError: no y", "docs: no"))

    found = with_hidden_tests(before, now)

    assert [(case.id, case.message) for case in found.cases] == [(a("a"), "tests: NameError: x")]
    assert found.collection_errors == ("tests: NameError: x", "tests/u.py: ImportError: no y")
    assert with_hidden_tests(found, now) == found


def test_what_could_not_be_loaded_was_there_as_an_error() -> None:
    before = report("a", errors=("tests/u.py: ImportError: no x", "tests/v.py: no"))
    now = TestReport(
        cases=(TestCase(id=a("new"), outcome="failed"), TestCase(id="tests/u.py::one", outcome="passed"))
    )

    found = with_hidden_tests(before, now)

    assert found.cases == (
        *before.cases,
        TestCase(id="tests/u.py::one", outcome="error", message="tests/u.py: ImportError: no x"),
    )
    assert found.collection_errors == before.collection_errors
    assert with_hidden_tests(found, now) == found


FILES = ("d/t.py", "d/e/u.py", "v.py")
OUTCOMES = st.dictionaries(
    st.sampled_from([f"{file}::{name}" for file in FILES for name in "abc"]),
    st.sampled_from(["passed", "failed", "skipped"]),
)
UNLOADED = st.frozensets(st.sampled_from([*FILES, "d", "d/e", "."]))


def loaded(outcomes: dict[str, str], unloaded: frozenset[str]) -> TestReport:
    cases = [
        TestCase.model_validate({"id": test, "outcome": outcome})
        for test, outcome in sorted(outcomes.items())
        if not any(hides(place, test) for place in unloaded)
    ]
    return TestReport(cases=tuple(cases), collection_errors=tuple(f"{file}: no" for file in sorted(unloaded)))


@settings(deadline=None)
@given(first=OUTCOMES, second=OUTCOMES, hidden=st.lists(UNLOADED, min_size=1, max_size=2), left=UNLOADED)
def test_whatever_can_be_loaded_nothing_that_passed_is_lost(
    first: dict[str, str], second: dict[str, str], hidden: list[frozenset[str]], left: frozenset[str]
) -> None:
    # Two runs on the same files need not load the same ones.
    before = joined([measured(loaded(first, files)) for files in hidden])
    after = measured(loaded(second, left))

    if refusal(before, after) is None:
        assert before.passing <= after.passing
        assert all(any(hides(known, place) for known in before.uncollected) for place in after.uncollected)


@settings(deadline=None)
@given(before=SETS, after=SETS)
def test_what_is_kept_never_breaks_what_passed(before: frozenset[str], after: frozenset[str]) -> None:
    everything = frozenset(TESTS)
    first = Measurement(failing=before, passing=everything - before)
    second = Measurement(failing=after, passing=everything - after)

    assert (refusal(first, second) is None) == (after < before)
    assert improved(first, second) == (after < before)
    assert bool(worse(first, second)) == bool(after - before)


@pytest.mark.parametrize(
    ("reruns", "failing", "flaky"),
    [
        (("", ""), "ab", ""),
        (("a", ""), "b", "a"),
        (("ab", "ab"), "", "ab"),
    ],
    ids=["fails three times", "passes once", "passes twice"],
)
def test_a_test_that_passes_in_a_rerun_is_flaky(reruns: tuple[str, str], failing: str, flaky: str) -> None:
    again = [report(passed, "".join(set("ab") - set(passed))) for passed in reruns]

    found = confirmed(state("c", "ab"), again, [a("a"), a("b")])

    assert found.failing == {a(name) for name in failing}
    assert found.flaky == {a(name) for name in flaky}


def test_the_scalar_is_the_sum_of_its_parts() -> None:
    found = Measurement(
        failing=frozenset("ab"), uncollected=frozenset("u"), static=frozenset({STATIC}), churn=3.5
    )

    assert found.scalar == 2 * 100 + 100 + 50 + 3.5


def test_static_errors_are_told_apart_without_their_lines() -> None:
    def finding(line: int, severity: Severity = Severity.BLOCKING) -> Diagnostic:
        return Diagnostic(
            artifact="a.py", line=line, severity=severity, category="syntax_error", message=f"line {line}: no"
        )

    before = measured(report(), [finding(3)])
    moved = measured(report(), [finding(30), finding(31, Severity.WARNING)])

    assert before.static == moved.static
    assert not worse(before, moved)


def fault(message: str, line: int = 1, artifact: str = "a.py") -> Diagnostic:
    return Diagnostic(
        artifact=artifact, line=line, severity=Severity.BLOCKING, category="type_error", message=message
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [fault("x")], [fault("x")]),
        ([fault("x")], [fault("x", line=9)], []),
        ([fault("x")], [fault("x"), fault("x", line=2)], [fault("x", line=2)]),
        ([fault("x")], [fault("x", artifact="b.py")], [fault("x", artifact="b.py")]),
        ([fault("x"), fault("y")], [], []),
    ],
    ids=["new", "moved", "once-more", "other-file", "mended"],
)
def test_only_faults_that_were_not_there_are_new(
    before: list[Diagnostic], after: list[Diagnostic], expected: list[Diagnostic]
) -> None:
    assert new_faults(before, after) == tuple(expected)
    assert bool(worse(measured(report(), before), measured(report(), after))) == bool(expected)


def test_a_file_that_has_to_prove_something_holds_a_test_that_passes() -> None:
    old_failure = state("", "a")

    assert refusal(old_failure, state("b", "a"), proving=["tests/t.py"]) is None
    assert refusal(old_failure, old_failure, proving=["tests/t.py"]) == (
        "proves nothing by tests/t.py: no test there passed"
    )
    assert "breaks" in (refusal(old_failure, state("b", "ac"), proving=["tests/t.py"]) or "")


def test_a_file_that_cannot_be_collected_is_known_by_its_path() -> None:
    found = measured(report("a", errors=("tests/u.py: ModuleNotFoundError: No module named 'x'",)))

    assert found.uncollected == {"tests/u.py"}


def test_parts_of_a_suite_are_joined() -> None:
    found = joined([state("a", "b", churn=2.0), state("c", flaky=frozenset({a("b")})), Measurement()])

    assert found == state("ac", flaky=frozenset({a("b")}), churn=2.0)


def test_a_part_of_a_change_has_to_make_nothing_worse_and_that_is_enough() -> None:
    before = Measurement(failing=frozenset({"t::a"}), passing=frozenset({"t::b"}))
    broken = Measurement(failing=frozenset({"t::a", "t::b"}))

    assert refusal(before, before) == "improves nothing: the same tests fail, and the same static checks"
    assert refusal(before, before, is_part=True) is None
    assert refusal(before, broken, is_part=True) == "breaks t::b"
    assert refusal(before, before, landmark=["t::a"], is_part=True) is not None


A, B = "tests/a.py", "tests/b.py"


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ([f"{A}::t[1-x]", f"{A}::t[2-y]"], [f"{A}::t[1-x]", f"{A}::t[2-z]"], [f"{A}::t[2-y]"]),
        ([f"{A}::t[1-x]", f"{A}::t[2-y]"], [f"{A}::t[1-z]"], []),
        ([f"{A}::t"], [f"{A}::t[1]", f"{A}::t[2]"], [f"{A}::t"]),
        ([f"{A}::t"], [f"{A}::u"], []),
        ([f"{B}::t[1]"], [f"{B}::t[2]"], []),
        ([f"{A}::K::t[1]"], [f"{A}::L::t[1]"], []),
        ([f"{A}::t[1]"], [f"{A}::t[1]"], []),
    ],
    ids=["another expectation", "fewer", "split into cases", "another name", "another file", "another class", "the same"],
)  # fmt: skip
def test_a_case_with_another_id_is_no_lost_test(
    before: list[str], after: list[str], wanted: list[str]
) -> None:
    assert restated(before, after, [A]) == set(wanted)
