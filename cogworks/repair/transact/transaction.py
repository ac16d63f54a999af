"""One diff as a transaction: checkpoint, validate, apply, gates, measure, and commit or roll back (T0 to T10)."""

import hashlib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.failures import CodebaseError, RollbackFailed
from cogworks.codebase.patchtree import StagedFile, TreeState, TreeView
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.repair.transact.diffrules import churn, fingerprint
from cogworks.repair.transact.gates import (
    Gate,
    GateName,
    by_gate,
    doubtful,
    gate_refusal,
    gates_of,
    parted,
    static_refusal,
    worse_at,
)
from cogworks.repair.transact.measure import (
    RERUNS,
    Measurement,
    Worse,
    confirmed,
    ids,
    joined,
    measured,
    refusal,
    static_errors,
    unproven,
    worse,
)
from cogworks.repair.transact.outcomes import (
    GATE_CODES,
    Result,
    StepOfTen,
    Terms,
    TransactionEvent,
    TransactionEventKind,
    commit_message,
    printed,
    staging_refusal,
)
from cogworks.repair.transact.validators import diff_violations, has_images, images, language_violations
from cogworks.repair.violations import Ground, Reading, Step, Violation
from cogworks.vocabulary import CommitOid

_SEVERAL = 2
"""So many gates are worth a run together."""


class Tree(Protocol):
    """The worktree that transactions write in; `cogworks.codebase.patchtree.PatchTree`.

    Raises: CodebaseError when it cannot do what it is asked.
    """

    def hold(self) -> AbstractContextManager[bool]: ...
    def recover(self) -> bool: ...
    def dirt(self) -> tuple[str, ...]: ...
    def checkpoint(self) -> TreeState: ...
    def view_of(self, paths: Sequence[str]) -> TreeView: ...
    def apply(self, diff: str) -> str | None: ...
    def staged(self) -> tuple[StagedFile, ...]: ...
    def settle(self, state: TreeState) -> None: ...
    def diff_from(self, base: CommitOid) -> str: ...
    def commit(self, message: str, state: TreeState) -> CommitOid: ...
    def roll_back(self, state: TreeState) -> None: ...
    def finish(self) -> None: ...


class Checks(Protocol):
    """What judges the worktree as it lies there, in processes of its own and behind their limits."""

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """The findings of the static checks in these files."""

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        """The report of these tests, by exact id; none: the whole suite."""

    def read(self, images: Mapping[str, str | None]) -> Reading:
        """What the language says of these files as they lie there and with these texts (None: deleted)."""


@runtime_checkable
class RunsGroups(Protocol):
    """Checks that can run the tests of several gates at once."""

    def run_groups(self, groups: Sequence[Sequence[str]], *, timeout_s: float) -> TestReport | None:
        """The report of these tests, none of those that come after a group in which one failed; None: not to be had."""


@dataclass(frozen=True)
class TransactionPorts:
    """What transactions work with."""

    tree: Tree
    checks: Checks
    tell: Callable[[TransactionEvent], None] = lambda _: None
    baselines: MutableMapping[str, Measurement] = field(default_factory=dict)
    """Measurements known from earlier transactions, by tree, selection and command."""
    static_baselines: MutableMapping[tuple[str, frozenset[str]], Measurement] = field(default_factory=dict)
    """What the static checks reported before earlier changes, by tree and files."""


class Ruled(NamedTuple):
    """A diff as it was understood, what it is judged against, and every rule it breaks."""

    diff: Diff
    ground: Ground
    violations: tuple[Violation, ...]
    is_lint_clean: bool = True
    """Whether the static checks would find nothing that they do not find now."""


def ruled(
    text: str,
    step: Step,
    ports: TransactionPorts,
    *,
    tried: frozenset[str] = frozenset(),
    view_of: Callable[[Sequence[str]], TreeView] | None = None,
) -> Ruled:
    """Judge a diff by all rules V1 to V17 against the tree as it is; nothing is written.

    Args:
        tried: fingerprints of diffs that failed on this tree before.
        view_of: as the tree's, for callers that judge several diffs and asked before; None: the tree is asked.
    """
    parsed = parse_diff(text)
    around = (view_of or ports.tree.view_of)(parsed.diff.paths)
    ground = Ground(**around._asdict(), tried=tried)
    violations = diff_violations(text, parsed, step, ground)
    if not has_images(violations):
        return Ruled(parsed.diff, ground, violations)
    reading = ports.checks.read(images(parsed.diff, ground))
    return Ruled(parsed.diff, ground, (*violations, *language_violations(reading, step)), not reading.lint)


def transact(
    text: str, terms: Terms, ports: TransactionPorts, *, tried: frozenset[str] = frozenset()
) -> Result:
    """Try one diff: afterwards it is committed, or the tree is byte by byte what it was.

    Args:
        tried: fingerprints of diffs that failed on this tree before.

    Raises:
        whatever the checks raise; the tree is rolled back first.
    """
    with ports.tree.hold() as is_ours:
        if not is_ours:
            return Result(code="locked", reasons=("another process works in this worktree",))
        try:
            ports.tree.recover()
            if dirt := ports.tree.dirt():
                return Result(code="dirty_tree", reasons=tuple(f"not committed: {entry}" for entry in dirt))
            start = ports.tree.checkpoint()
        except CodebaseError as error:
            return Result(code="checkpoint_failed", reasons=(str(error),))
        ports.tell(
            TransactionEvent(kind="txn.checkpoint", step="T1", data={"head": start.head, "tree": start.tree})
        )
        return _ended(_Attempt(text, terms, ports, start), tried)


def _ended(attempt: "_Attempt", tried: frozenset[str]) -> Result:
    """The attempt with its end: nothing is left half-way, whatever happens in it."""
    try:
        with ExitStack() as undo:
            undo.callback(attempt.roll_back)
            result = attempt.judge(tried)
            if result.is_kept:
                result = attempt.commit(result)
            if result.is_kept:
                undo.pop_all()
    except RollbackFailed as error:
        # The journal stays: a person who looks at the worktree finds the way back in it.
        return Result(code="rollback_failed", reasons=(str(error),))
    attempt.ports.tree.finish()
    return result


@dataclass(frozen=True)
class _Attempt:
    """One diff under its terms, from the checkpoint on."""

    text: str
    terms: Terms
    ports: TransactionPorts
    start: TreeState

    def judge(self, tried: frozenset[str]) -> Result:
        """T2 to T8: `kept` when the staged tree may be committed, otherwise why not."""
        if self.terms.selection.is_empty:
            return Result(code="no_tests", reasons=("no test is selected; nothing could be proven",))
        before = self._baseline()
        if before is None:
            return Result(code="baseline_timeout", reasons=("the tests did not finish before the change",))
        self._tell("txn.measured", "T2", failing=sorted(before.failing))
        diff, ground, violations, _ = ruled(self.text, self.terms.step, self.ports, tried=tried)
        self._tell("txn.validated", "T3", violations=[f"{each.code}: {each.text}" for each in violations])
        name = fingerprint(diff)
        if violations:
            return Result(code="rejected", reasons=_texts(violations), violations=violations, proposal=name)
        before = before.model_copy(update={"static": self._static_before(diff).static})
        refused = self._applied(diff, ground)
        if refused is not None:
            return refused.model_copy(update={"proposal": name, "before": before})
        result = self._measured(diff, before)
        # A gate may have staged something of its own, which would be committed with the diff.
        if result.is_kept and (mismatch := self._mismatch(diff, ground)) is not None:
            result = mismatch
        return result.model_copy(update={"proposal": name, "before": before})

    def commit(self, result: Result) -> Result:
        """T9: the commit, or why there is none."""
        try:
            oid = self.ports.tree.commit(commit_message(self.terms, result), self.start)
        except CodebaseError as error:
            return result.model_copy(update={"code": "commit_failed", "reasons": (str(error),)})
        self._tell("txn.commit", "T9", oid=oid)
        return result.model_copy(update={"oid": oid})

    def roll_back(self) -> None:
        """T10: the tree as it was, verified."""
        self.ports.tree.roll_back(self.start)
        self._tell("txn.rollback", "T10", tree=self.start.tree)

    def _baseline(self) -> Measurement | None:
        """How the tree fares without the change; None when its tests do not come to an end."""
        if self.terms.before is not None:
            return self.terms.before
        key = self.terms.baseline_key(self.start.tree)
        if key not in self.ports.baselines:
            report = self._run(self.terms.selection.tests, self.terms.limits.baseline_s)
            if report.timed_out:
                return None
            measurement = measured(report, churn=self._churn())
            self.ports.baselines[key] = self._steady(
                measurement, sorted(measurement.failing - measurement.hung)
            )
        return self.ports.baselines[key]

    def _applied(self, diff: Diff, ground: Ground) -> Result | None:
        """T4 and T5: the diff is staged exactly as it was understood, or why not."""
        if (refused := self.ports.tree.apply(self.text)) is not None:
            return Result(code="apply_failed", reasons=(refused,))
        self._tell("txn.applied", "T4", paths=list(diff.paths))
        for path, text in images(diff, ground).items():
            written = (
                None if text is None else hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
            )
            self._tell("file.write", "T4", path=path, sha256=written)
        if (mismatch := self._mismatch(diff, ground)) is not None:
            return mismatch
        if converted := _unstaged(self.ports.tree.dirt()):
            reason = f"git reads these files otherwise than the diff writes them: {', '.join(converted)}"
            return Result(code="apply_mismatch", reasons=(reason,))
        self._tell("txn.compared", "T5", paths=sorted(images(diff, ground)))
        return None

    def _mismatch(self, diff: Diff, ground: Ground) -> Result | None:
        """Why what is staged is not the diff; None when it is."""
        reason = staging_refusal(diff, images(diff, ground), self.ports.tree.staged())
        return None if reason is None else Result(code="apply_mismatch", reasons=(reason,))

    def _measured(self, diff: Diff, before: Measurement) -> Result:
        """T6 to T8: through the gates, and by the rule of sets."""
        present = [file.path for file in diff.files if file.kind != "delete"]
        parts = [self._static(present).model_copy(update={"churn": self._churn()})]
        reason = static_refusal(before, parts[0])
        self._tell("txn.gate", "T6", gate="static", reason=reason or "")
        if reason is not None:
            added = Worse((), (), (), worse(before, parts[0]).static)
            return Result(code="gate_static", reasons=(reason,), after=parts[0], worse=added)
        reports: list[TestReport] = []
        gates = gates_of(self.terms.selection, self.terms.limits)
        suite = self._short_suite()
        together = by_gate(suite, gates) if suite else self._together([gate for gate in gates if gate.tests])
        for gate in gates:
            report = together.get(gate.name) or self._run(gate.tests, gate.timeout_s)
            reports.append(report)
            measurement = measured(report)
            parts.append(self._steady(measurement, doubtful(gate, report, before=before, after=measurement)))
            reason = gate_refusal(gate, report, before=before, after=parts[-1])
            self._tell("txn.gate", "T6", gate=gate.name, reason=reason or "")
            if reason is not None:
                texts = printed(reports, known=before.failing)
                return Result(
                    code=GATE_CODES[gate.name],
                    reasons=(reason,),
                    printed=texts,
                    after=joined(parts),
                    worse=worse_at(gate, before, parts[-1]),
                    unproven=unproven((*gate.must_pass, *gate.proving), parts[-1]),
                )
        after = joined(parts)
        self._tell("txn.measured", "T7", failing=sorted(after.failing), flaky=sorted(after.flaky))
        result = self._judged(before, after)
        texts = () if result.is_kept else printed(reports, known=before.failing)
        steady = None if after.flaky else suite
        return result.model_copy(update={"printed": texts, "suite": steady})

    def _judged(self, before: Measurement, after: Measurement) -> Result:
        selection = self.terms.selection
        reason = refusal(
            before,
            after,
            landmark=selection.landmark,
            may_fail=selection.may_fail,
            must_pass=selection.targeted if selection.is_last else (),
            proving=selection.proving,
            is_part=selection.is_part,
        )
        if reason is None and after.churn > self.terms.max_total_churn:
            reason = (
                f"the changes so far have a churn of {after.churn:g}; at most {self.terms.max_total_churn:g}"
            )
        self._tell("txn.judged", "T8", reason=reason or "")
        if reason is not None:
            return Result(
                code="mu_regressed",
                reasons=(reason,),
                after=after,
                worse=worse(before, after),
                unproven=unproven((*selection.landmark, *selection.proving), after),
            )
        return Result(code="kept", after=after)

    def _steady(self, measurement: Measurement, failures: Sequence[str]) -> Measurement:
        """The measurement after these failures had more runs; what passes in one of them is flaky and has no further."""
        reruns: list[TestReport] = []
        left = tuple(failures)
        while left and len(reruns) < RERUNS:
            reruns.append(self._run(left, self.terms.limits.landmark_s))
            passed = ids(reruns[-1], {"passed"})
            left = tuple(test for test in left if test not in passed)
        return confirmed(measurement, reruns, failures)

    def _static_before(self, diff: Diff) -> Measurement:
        """What the static checks find in the files of a diff before it, looked up once for each state of the tree."""
        there = [file.old_path for file in diff.files if file.kind != "create"]
        key = (self.start.tree, frozenset(there))
        if key not in self.ports.static_baselines:
            self.ports.static_baselines[key] = self._static(there)
        return self.ports.static_baselines[key]

    def _static(self, paths: Sequence[str]) -> Measurement:
        if not self.terms.static:
            return Measurement()
        return Measurement(static=static_errors(self.ports.checks.static(paths)))

    def _churn(self) -> float:
        text = self.ports.tree.diff_from(self.terms.base)
        parsed = parse_diff(text)
        if text and parsed.problems:
            raise CodebaseError(f"git's own diff cannot be read: {parsed.problems[0].text}")
        return churn(parsed.diff)

    def _short_suite(self) -> TestReport | None:
        selection, limits = self.terms.selection, self.terms.limits
        return self._run((), limits.full_s) if selection.full and selection.is_short else None

    def _together(self, gates: Sequence[Gate]) -> Mapping[GateName, TestReport]:
        """The reports of as many gates as one run can answer for; the others have a run of their own."""
        checks = self.ports.checks
        if len(gates) < _SEVERAL or not isinstance(checks, RunsGroups):
            return {}
        report = checks.run_groups([gate.tests for gate in gates], timeout_s=gates[0].timeout_s)
        self._undo_litter()
        return parted(report, gates) if report else {}

    def _run(self, tests: Sequence[str], timeout_s: float) -> TestReport:
        """One run of these tests; what they wrote into the worktree must not judge the next one."""
        report = self.ports.checks.run(tests, timeout_s=timeout_s)
        self._undo_litter()
        return report

    def _undo_litter(self) -> None:
        if _unstaged(self.ports.tree.dirt()):
            self.ports.tree.settle(self.start)

    def _tell(self, kind: TransactionEventKind, step: StepOfTen, **data: object) -> None:
        self.ports.tell(TransactionEvent(kind=kind, step=step, data=data))


def _unstaged(dirt: Sequence[str]) -> list[str]:
    """The paths whose files are not what is staged; in git's short status the second column tells."""
    return [entry[3:] for entry in dirt if entry[1] != " "]


def _texts(violations: Sequence[Violation]) -> tuple[str, ...]:
    return tuple(f"{each.code}: {each.text}" for each in violations)
