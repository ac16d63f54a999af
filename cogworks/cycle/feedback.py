"""What the model is told of an attempt that failed, and whether another one makes sense."""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from cogworks.domain_services.failing import excerpt, failing, unloaded
from cogworks.domain_services.messages import Diagnostic, TestCase
from cogworks.vocabulary import Severity, Value

STALLING_THRESHOLD = 3
"""So many consecutive attempts with the same kind of problem are no progress."""
MAX_PROBLEMS = 12


class Trial(Value):
    """How a change fared: kept, or refused with every problem."""

    category: str = ""
    """The kind of problem, e.g. `failing_tests tests/test_a.py::test_b`; empty when there is none."""
    problems: tuple[str, ...] = ()
    """In words the model can act on, most important first."""

    @property
    def is_kept(self) -> bool:
        return not self.problems


class Attempt(Value):
    """One change that was not kept."""

    fingerprint: str
    """Equal for equal changes."""
    trial: Trial
    request: str = ""
    """The answer it came with; empty: one of its own. Alternatives of one answer could not learn from each other."""


class Setback(Value):
    """What runs of tests show to be worse, or not proven, with what was printed."""

    broken: tuple[TestCase, ...] = ()
    vanished: tuple[str, ...] = ()
    uncollected: tuple[str, ...] = ()
    """Collection errors."""
    unsteady: tuple[str, ...] = ()
    """Tests that have to pass, and passed in one run and failed in another."""
    unproven: tuple[str, ...] = ()
    """Test files that hold no test that passes."""
    timed_out: bool = False
    blocked: tuple[str, ...] = ()
    """What isolation refused, each with the test that met it."""


class Stop(NamedTuple):
    """Why there is no further attempt."""

    code: str
    """`repeat`, `flaky`, `stalled` or `max_patches`."""
    reason: str
    """In words for people."""


def fingerprint(files: Iterable[tuple[str, str, str]]) -> str:
    """64 hex digits naming a change: (path, what is done with it, content) in any order."""
    digest = hashlib.sha256()
    for parts in sorted(files):
        for part in parts:
            digest.update(part.encode() + b"\x1f")
    return digest.hexdigest()


def judge_diagnostics(diagnostics: Sequence[Diagnostic]) -> Trial:
    """A refusal that lists the blocking diagnostics; kept when there are none."""
    blocking = [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.BLOCKING]
    if not blocking:
        return Trial()
    kinds = ", ".join(sorted({diagnostic.category for diagnostic in blocking}))
    return Trial(
        category=f"diagnostics {kinds}",
        problems=_limited([_diagnostic(diagnostic) for diagnostic in blocking]),
    )


def judge_setback(setback: Setback) -> Trial:
    """A refusal that lists what became worse; kept when nothing did."""
    kinds: dict[str, Sequence[str]] = {
        "timed_out": ["The test suite did not finish in time. Look for an endless loop."]
        if setback.timed_out
        else [],
        "uncollected": unloaded(setback.uncollected, setback.blocked),
        "failing_tests": failing(setback.broken, setback.blocked),
        "flaky_tests": [
            f"{test} passed in one run and failed in another of the same files; make it pass every time"
            for test in setback.unsteady
        ],
        "vanished_tests": [
            f"{test} passed before and did not run now: it is gone, renamed or skipped; have it run again"
            for test in setback.vanished
        ],
        "unproven": [
            f"no test of {path} passed, although it is listed in `tests`; make it contain tests that run"
            for path in setback.unproven
        ],
    }
    problems_by_kind = {kind: problems for kind, problems in kinds.items() if problems}
    if not problems_by_kind:
        return Trial()
    subjects = (
        ", ".join(sorted(case.id for case in setback.broken))
        if next(iter(problems_by_kind)) == "failing_tests"
        else ""
    )
    problems = [problem for each in problems_by_kind.values() for problem in each]
    return Trial(category=f"{next(iter(problems_by_kind))} {subjects}".strip(), problems=_limited(problems))


def reason_to_stop(attempts: Sequence[Attempt], *, max_retries: int) -> Stop | None:
    """Why another attempt makes no sense, or None.

    Three patterns end the loop: the same change failing in the same way, nothing but one kind of problem in the changes
    of the last `STALLING_THRESHOLD` answers, and the retries being used up.
    """
    if len(attempts) >= 2 and attempts[-1].fingerprint == attempts[-2].fingerprint:
        if attempts[-1].trial == attempts[-2].trial:
            return Stop("repeat", "the model gave the same change twice and it failed in the same way")
        return Stop("flaky", "the same change failed in two different ways; the tests are not reliable")
    kind, answers = attempts[-1].trial.category if attempts else "", _answers_alike(attempts)
    if max_retries >= STALLING_THRESHOLD and answers >= STALLING_THRESHOLD:
        return Stop(
            "stalled",
            f"the last {STALLING_THRESHOLD} attempts failed with the same kind of problem ({kind}); "
            "the specification or the interfaces may need revision",
        )
    if len(attempts) > max_retries:
        return Stop("max_patches", f"{max_retries} retries are used up")
    return None


def _answers_alike(attempts: Sequence[Attempt]) -> int:
    """How many answers running brought nothing but changes that failed like the last one."""
    alike = list(
        takewhile(lambda each: each.trial.category == attempts[-1].trial.category, reversed(attempts))
    )
    return len({each.request for each in alike if each.request}) + sum(not each.request for each in alike)


def history(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """One line per attempt: its number and first problem, for people and for the next prompt."""
    return tuple(
        f"attempt {number}: {_first_line(attempt.trial.problems[0])}"
        for number, attempt in enumerate(attempts, 1)
    )


def _diagnostic(diagnostic: Diagnostic) -> str:
    place = diagnostic.artifact if diagnostic.line is None else f"{diagnostic.artifact}:{diagnostic.line}"
    return f"{place}: {diagnostic.category}: {excerpt(diagnostic.message)}"


def _limited(problems: Sequence[str]) -> tuple[str, ...]:
    more = len(problems) - MAX_PROBLEMS
    return (*problems[:MAX_PROBLEMS], f"and {more} more problem(s)") if more > 0 else tuple(problems)


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0].rstrip(":")[:200]
