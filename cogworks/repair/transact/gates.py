"""The gates a change passes in the order of their cost, and what each of them asks."""

from collections.abc import Sequence
from typing import Literal

from cogworks.domain_services.messages import TestReport, hides_any
from cogworks.repair.transact.measure import (
    Measurement,
    Worse,
    is_of,
    limited_to,
    newly_failing,
    refusal,
    worse,
    worse_in_words,
)
from cogworks.vocabulary import Value

GateName = Literal["static", "landmark", "targeted", "regression", "smoke", "full"]


class Limits(Value):
    """How long each gate may take, in seconds."""

    baseline_s: float = 1800.0
    """Of all tests of the selection, before the change."""
    landmark_s: float = 120.0
    targeted_s: float = 300.0
    regression_s: float = 300.0
    smoke_s: float = 120.0
    full_s: float = 1800.0


class Selection(Value):
    """Which tests stand between a change and its commit, by id; the same before and after."""

    landmark: tuple[str, ...] = ()
    """Have to pass after this change."""
    may_fail: tuple[str, ...] = ()
    """Tests of those files that need not pass, as they did not before."""
    targeted: tuple[str, ...] = ()
    """The tests the whole task is about; have to pass after the last landmark."""
    regression: tuple[str, ...] = ()
    """Tests that reach what is touched, and those of finished work."""
    proving: tuple[str, ...] = ()
    """Files that have to hold a test that passes; what failed in them before may go on failing."""
    smoke: tuple[str, ...] = ()
    full: bool = False
    """Whether the whole suite runs as well; once, before the end."""
    is_short: bool = False
    """Whether that takes no longer than another start of the tests: one run of it, in its own order, answers for every gate."""
    is_last: bool = False
    is_part: bool = False
    """Whether others land together with this change, so that it need not improve anything by itself."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Every test of every gate, each once; empty where the whole suite is among them."""
        if self.full:
            return ()
        named = [*self.landmark, *self.targeted, *self.regression, *self.proving, *self.smoke]
        return tuple(dict.fromkeys(named))

    @property
    def is_empty(self) -> bool:
        """Whether no gate would run a test: nothing could be proven then."""
        return not self.full and not self.tests


class Gate(Value):
    """One gate that runs tests."""

    name: GateName
    tests: tuple[str, ...]
    """None: the whole suite."""
    timeout_s: float
    must_pass: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()
    proving: tuple[str, ...] = ()


def gates_of(selection: Selection, limits: Limits) -> tuple[Gate, ...]:
    """The gates with tests of their own, the cheapest first; each test belongs to the first gate that names it.

    Where the whole suite runs anyway, it is asked what the regression tests would have been: twice they prove nothing more. A short
    one answers for them by itself.
    """
    wanted: tuple[tuple[GateName, tuple[str, ...], float, tuple[str, ...]], ...] = (
        ("landmark", selection.landmark, limits.landmark_s, selection.landmark),
        (
            "targeted",
            (*selection.targeted, *(each for each in selection.proving if each not in selection.regression)),
            limits.targeted_s,
            selection.targeted if selection.is_last else (),
        ),
        (
            "regression",
            () if selection.full and not selection.is_short else selection.regression,
            limits.regression_s,
            (),
        ),
        ("smoke", selection.smoke, limits.smoke_s, ()),
    )
    gates, seen = list[Gate](), set[str]()
    for name, tests, timeout_s, must_pass in wanted:
        own = tuple(test for test in dict.fromkeys(tests) if test not in seen)
        if own:
            kept = tuple(test for test in must_pass if test in own)
            proving = tuple(test for test in selection.proving if test in own)
            gates.append(
                Gate(
                    name=name,
                    tests=own,
                    timeout_s=timeout_s,
                    must_pass=kept,
                    may_fail=selection.may_fail,
                    proving=proving,
                )
            )
        seen.update(own)
    if selection.full:
        left = tuple(test for test in selection.proving if test not in seen)
        gates.append(Gate(name="full", tests=(), timeout_s=limits.full_s, proving=left))
    return tuple(gates)


def parted(report: TestReport, gates: Sequence[Gate]) -> dict[GateName, TestReport]:
    """What one run of the tests of several gates says of each of them; nothing where that is not certain.

    A gate whose tests were not all run is left out: the run stopped before it, or had no time left for it.

    Args:
        gates: in the order of the run, each with tests of its own.
    """
    owners = [_owner(gates, case.id) for case in report.cases]
    blamed = [
        [gate.name for gate in gates if hides_any(error, gate.tests)] for error in report.collection_errors
    ]
    first = gates[0].name
    if None in owners or not all(blamed) or (first not in owners and [first] not in blamed):
        return {}
    reached = [gate.name for gate in gates if gate.name in owners]
    is_late = report.timed_out and reached in ([], [first])
    whole = reached[:-1] if report.timed_out and not is_late else reached
    doubted = {name for names in blamed for name in names}
    reports = {
        name: TestReport(
            cases=tuple(case for case, owner in zip(report.cases, owners, strict=True) if owner == name),
            hung=tuple(test for test in report.hung if _owner(gates, test) == name),
        )
        for name in (first, *(name for name in whole if name != first and name not in doubted))
    }
    errors = tuple(
        error for error, names in zip(report.collection_errors, blamed, strict=True) if first in names
    )
    of_the_run = {"collection_errors": errors, "blocked": report.blocked, "unprotected": report.unprotected}
    return {**reports, first: reports[first].model_copy(update={**of_the_run, "timed_out": is_late})}


def by_gate(suite: TestReport, gates: Sequence[Gate]) -> dict[GateName, TestReport]:
    """What one run of the whole suite says of each of these gates; nothing where it did not finish."""
    if suite.timed_out:
        return {}
    reports = {}
    for gate in gates:
        own = limited_to(suite, gate.tests)
        hung = tuple(
            test for test in own.hung if not gate.tests or any(is_of(test, each) for each in gate.tests)
        )
        reports[gate.name] = own.model_copy(update={"hung": hung})
    return reports


def _owner(gates: Sequence[Gate], test: str) -> GateName | None:
    return next((gate.name for gate in gates if any(is_of(test, each) for each in gate.tests)), None)


def gate_refusal(gate: Gate, report: TestReport, *, before: Measurement, after: Measurement) -> str | None:
    """Why a change does not pass this gate, None when it does.

    Args:
        before: of the whole selection, at the checkpoint.
        after: of this gate's tests, new failures tried again.
    """
    if report.timed_out:
        return f"the tests did not finish within {gate.timeout_s:g} s"
    if not any(case.outcome != "skipped" for case in report.cases) and not report.collection_errors:
        return "no test ran; an empty selection proves nothing"
    if gate.must_pass or gate.proving:
        own = _before_of(gate, before)
        return refusal(own, after, landmark=gate.must_pass, may_fail=gate.may_fail, proving=gate.proving)
    regression = worse_at(gate, before, after)
    return worse_in_words(regression) if regression else None


def worse_at(gate: Gate, before: Measurement, after: Measurement) -> Worse:
    """What became worse, as far as the tests of one gate tell; the measurements are those of `gate_refusal`."""
    return worse(_before_of(gate, before), after)


def static_refusal(before: Measurement, after: Measurement) -> str | None:
    """Why a change does not pass the static gate, None when it does; neither measurement needs to know tests."""
    added = Worse((), (), (), worse(before, after).static)
    return worse_in_words(added) if added else None


def doubtful(gate: Gate, report: TestReport, *, before: Measurement, after: Measurement) -> tuple[str, ...]:
    """The new failures to try again before they count; none where the change is refused whatever their outcome, or one hangs.

    Args:
        after: of this gate's tests, in their only run so far.
    """
    new = newly_failing(before, after)
    if new & after.hung:
        return ()
    spared = after.model_copy(update={"failing": after.failing - new, "flaky": after.flaky | new})
    if gate_refusal(gate, report, before=before, after=spared) is not None:
        return ()
    return tuple(sorted(new))


def _before_of(gate: Gate, before: Measurement) -> Measurement:
    reached = {
        "passing": _reached(before.passing, gate.tests),
        "failing": _reached(before.failing, gate.tests),
    }
    return before.model_copy(update=reached)


def _reached(known: frozenset[str], tests: Sequence[str]) -> frozenset[str]:
    """Those of the known tests that a gate with these files and ids runs."""
    if not tests:
        return known
    return frozenset(test for test in known if any(is_of(test, each) for each in tests))
