"""What is the model told of a failed attempt, and when is there no point in another?"""

import pytest

from cogworks.cycle.feedback import (
    MAX_PROBLEMS,
    Attempt,
    Setback,
    Stop,
    Trial,
    fingerprint,
    history,
    judge_diagnostics,
    judge_setback,
    reason_to_stop,
)
from cogworks.domain_services.failing import MAX_TEXT_CHARS
from cogworks.domain_services.messages import Diagnostic, TestCase
from cogworks.vocabulary import Severity


def attempt(mark: str, category: str = "failing_tests", problem: str = "a failed:\nE  no") -> Attempt:
    return Attempt(fingerprint=mark, trial=Trial(category=category, problems=(problem,)))


def broken(name: str = "t.py::a", message: str = "E  no") -> TestCase:
    return TestCase(id=name, outcome="failed", message=message)


def test_nothing_worse_is_kept() -> None:
    assert judge_setback(Setback()).is_kept
    assert judge_diagnostics(()).is_kept


def test_a_failing_test_is_named_with_its_message() -> None:
    assert judge_setback(Setback(broken=(broken(),))) == Trial(
        category="failing_tests t.py::a", problems=("t.py::a failed:\nE  no",)
    )


def test_every_kind_of_worse_is_reported_at_once() -> None:
    trial = judge_setback(
        Setback(
            timed_out=True,
            uncollected=("e",),
            broken=(broken(),),
            unsteady=("t.py::c",),
            vanished=("t.py::b",),
            unproven=("u.py",),
        )
    )

    assert trial.category == "timed_out"
    assert len(trial.problems) == 6


def test_the_marks_that_depend_on_the_interpreter_are_left_out() -> None:
    message = "    assert f(1) == 2\n           ^^^^\n    g(x)\n    ~^^^\nE  a ^ b\n  ^^^"

    (problem,) = judge_setback(Setback(broken=(broken(message=message),))).problems

    assert problem == "t.py::a failed:\n    assert f(1) == 2\n    g(x)\nE  a ^ b"


def test_a_long_message_keeps_its_end() -> None:
    (problem,) = judge_setback(Setback(broken=(broken(message="x" * 9_000 + "END"),))).problems

    assert problem.endswith("END")
    assert len(problem) < MAX_TEXT_CHARS + 100


def test_many_failures_are_cut_with_their_number() -> None:
    cases = tuple(broken(f"t.py::{number:03}", f"E  no {number}") for number in range(MAX_PROBLEMS + 3))

    problems = judge_setback(Setback(broken=cases)).problems

    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1] == "and 3 more problem(s)"


def test_only_blocking_diagnostics_refuse_a_change() -> None:
    blocking = Diagnostic(
        artifact="a.py", line=3, severity=Severity.BLOCKING, category="syntax_error", message="bad"
    )
    warning = blocking.model_copy(update={"severity": Severity.WARNING})

    assert judge_diagnostics((warning,)).is_kept
    assert judge_diagnostics((warning, blocking)) == Trial(
        category="diagnostics syntax_error", problems=("a.py:3: syntax_error: bad",)
    )


@pytest.mark.parametrize(
    ("attempts", "code", "reason"),
    [
        ([attempt("1")], "", ""),
        ([attempt("1"), attempt("2")], "", ""),
        ([attempt("1"), attempt("1")], "repeat", "the same change twice and it failed in the same way"),
        ([attempt("1"), attempt("1", "timed_out")], "flaky", "the tests are not reliable"),
        (
            [attempt("1"), attempt("2"), attempt("3")],
            "stalled",
            "the last 3 attempts failed with the same kind of problem",
        ),
        ([attempt("1"), attempt("2", "timed_out"), attempt("3")], "", ""),
        ([attempt(str(n), f"kind {n}") for n in range(6)], "max_patches", "5 retries are used up"),
        ([attempt(str(n), f"kind {n}") for n in range(5)], "", ""),
    ],
    ids=["first", "second", "identical", "flaky", "stalling", "progress", "spent", "not-yet-spent"],
)
def test_when_to_stop(attempts: list[Attempt], code: str, reason: str) -> None:
    found = reason_to_stop(attempts, max_retries=5) or Stop("", "")

    assert found.code == code
    assert reason in found.reason


def test_stalling_fires_only_on_consecutive_attempts() -> None:
    kinds = ["type", "interface", "type", "type", "type"]
    stops = [
        reason_to_stop([attempt(str(n), kind) for n, kind in enumerate(kinds[:count])], max_retries=5)
        is not None
        for count in range(1, 6)
    ]

    assert stops == [False, False, False, False, True]


def test_alternatives_of_one_answer_stall_only_when_three_answers_fail_alike() -> None:
    answers = ["first", "first", "first", "first", "second", "second", "third"]
    attempts = [attempt(str(n)).model_copy(update={"request": each}) for n, each in enumerate(answers)]

    stops = [reason_to_stop(attempts[:count], max_retries=9) for count in range(1, 8)]

    assert [stop.code if stop else "" for stop in stops] == [*[""] * 6, "stalled"]


def test_stalling_is_off_when_fewer_retries_are_allowed_than_it_needs() -> None:
    attempts = [attempt("1"), attempt("2"), attempt("3")]

    assert reason_to_stop(attempts, max_retries=2) == Stop("max_patches", "2 retries are used up")


def test_a_fingerprint_depends_on_the_files_and_not_on_their_order() -> None:
    one, two = ("a.py", "modify", "x"), ("b.py", "create", "y")

    assert fingerprint([one, two]) == fingerprint([two, one])
    assert fingerprint([one]) != fingerprint([("a.py", "modify", "x ")])


def test_the_history_has_one_line_per_attempt() -> None:
    assert history([attempt("1"), attempt("2", problem="gone")]) == ("attempt 1: a failed", "attempt 2: gone")
