"""One diff as a transaction: checkpoint, validate, apply, gates, measure, and commit or roll back (T0 to T10)."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.failures import CodebaseError, RollbackFailed
from cogworks.codebase.patchtree import StagedFile, Surroundings, TreeState
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.repair.churn import churn
from cogworks.repair.diffrules import fingerprint
from cogworks.repair.gates import gate_refusal, gates_of, newly_failing, static_refusal, worse_at
from cogworks.repair.measure import (
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
from cogworks.repair.outcomes import (
    GATE_CODES,
    Moment,
    MomentKind,
    Result,
    StepOfTen,
    Terms,
    commit_message,
    staging_refusal,
)
from cogworks.repair.printed import printed
from cogworks.repair.validators import diff_violations, has_images, images, language_violations
from cogworks.repair.violations import Ground, Reading, Step, Violation
from cogworks.vocabulary import CommitOid


class Tree(Protocol):
    """The worktree that transactions write in; `cogworks.codebase.patchtree.PatchTree`.

    Raises: CodebaseError when it cannot do what it is asked.
    """

    def hold(self) -> AbstractContextManager[bool]: ...
    def recover(self) -> bool: ...
    def dirt(self) -> tuple[str, ...]: ...
    def checkpoint(self) -> TreeState: ...
    def surroundings(self, paths: Sequence[str]) -> Surroundings: ...
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


@dataclass(frozen=True)
class Bench:
    """What transactions work with."""

    tree: Tree
    checks: Checks
    tell: Callable[[Moment], None] = lambda _: None
    baselines: MutableMapping[str, Measurement] = field(default_factory=dict)
    """Measurements known from earlier transactions, by tree, selection and command."""


class Ruled(NamedTuple):
    """A diff as it was understood, what it is judged against, and every rule it breaks."""

    diff: Diff
    ground: Ground
    violations: tuple[Violation, ...]
    is_lint_clean: bool = True
    """Whether the static checks would find nothing that they do not find now."""


def ruled(text: str, step: Step, bench: Bench, *, tried: frozenset[str] = frozenset()) -> Ruled:
    """Judge a diff by all rules V1 to V16 against the tree as it is; nothing is written.

    Args:
        tried: fingerprints of diffs that failed on this tree before.
    """
    parsed = parse_diff(text)
    around = bench.tree.surroundings(parsed.diff.paths)
    ground = Ground(sources=around.sources, existing=around.existing, links=around.links, tried=tried)
    found = diff_violations(text, parsed, step, ground)
    if not has_images(found):
        return Ruled(parsed.diff, ground, found)
    reading = bench.checks.read(images(parsed.diff, ground))
    return Ruled(parsed.diff, ground, (*found, *language_violations(reading, step)), not reading.lint)


def transact(text: str, terms: Terms, bench: Bench, *, tried: frozenset[str] = frozenset()) -> Result:
    """Try one diff: afterwards it is committed, or the tree is byte by byte what it was.

    Args:
        tried: fingerprints of diffs that failed on this tree before.

    Raises:
        whatever the checks raise; the tree is rolled back first.
    """
    with bench.tree.hold() as is_ours:
        if not is_ours:
            return Result(code="locked", reasons=("another process works in this worktree",))
        try:
            bench.tree.recover()
            if dirt := bench.tree.dirt():
                return Result(code="dirty_tree", reasons=tuple(f"not committed: {entry}" for entry in dirt))
            start = bench.tree.checkpoint()
        except CodebaseError as error:
            return Result(code="checkpoint_failed", reasons=(str(error),))
        bench.tell(Moment(kind="txn.checkpoint", step="T1", data={"head": start.head, "tree": start.tree}))
        return _ended(_Attempt(text, terms, bench, start), tried)


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
        # The journal stays: whoever looks at the worktree finds the way back in it.
        return Result(code="rollback_failed", reasons=(str(error),))
    attempt.bench.tree.finish()
    return result


@dataclass(frozen=True)
class _Attempt:
    """One diff under its terms, from the checkpoint on."""

    text: str
    terms: Terms
    bench: Bench
    start: TreeState

    def judge(self, tried: frozenset[str]) -> Result:
        """T2 to T8: `kept` when the staged tree may be committed, otherwise why not."""
        if self.terms.selection.is_empty:
            return Result(code="no_tests", reasons=("no test is selected; nothing could be proven",))
        before = self._baseline()
        if before is None:
            return Result(code="baseline_timeout", reasons=("the tests did not finish before the change",))
        self._tell("txn.measured", "T2", failing=sorted(before.failing))
        diff, ground, found, _ = ruled(self.text, self.terms.step, self.bench, tried=tried)
        self._tell("txn.validated", "T3", violations=[f"{each.code}: {each.text}" for each in found])
        name = fingerprint(diff)
        if found:
            return Result(code="rejected", reasons=_texts(found), violations=found, proposal=name)
        there = [file.old_path for file in diff.files if file.kind != "create"]
        before = before.model_copy(update={"static": self._static(there).static})
        refused = self._applied(diff, ground)
        if refused is not None:
            return refused.model_copy(update={"proposal": name, "before": before})
        return self._measured(diff, before).model_copy(update={"proposal": name, "before": before})

    def commit(self, result: Result) -> Result:
        """T9: the commit, or why there is none."""
        try:
            oid = self.bench.tree.commit(commit_message(self.terms, result), self.start)
        except CodebaseError as error:
            return result.model_copy(update={"code": "commit_failed", "reasons": (str(error),)})
        self._tell("txn.commit", "T9", oid=oid)
        return result.model_copy(update={"oid": oid})

    def roll_back(self) -> None:
        """T10: the tree as it was, verified."""
        self.bench.tree.roll_back(self.start)
        self._tell("txn.rollback", "T10", tree=self.start.tree)

    def _baseline(self) -> Measurement | None:
        """How the tree fares without the change; None when its tests do not come to an end."""
        if self.terms.before is not None:
            return self.terms.before
        key = self.terms.baseline_key(self.start.tree)
        if key not in self.bench.baselines:
            report = self._run(self.terms.selection.tests, self.terms.limits.baseline_s)
            if report.timed_out:
                return None
            found = measured(report, churn=self._churn())
            self.bench.baselines[key] = self._steady(found, sorted(found.failing))
        return self.bench.baselines[key]

    def _applied(self, diff: Diff, ground: Ground) -> Result | None:
        """T4 and T5: the diff is staged exactly as it was understood, or why not."""
        if (refused := self.bench.tree.apply(self.text)) is not None:
            return Result(code="apply_failed", reasons=(refused,))
        self._tell("txn.applied", "T4", paths=list(diff.paths))
        staged = self.bench.tree.staged()
        if (mismatch := staging_refusal(diff, images(diff, ground), staged)) is not None:
            return Result(code="apply_mismatch", reasons=(mismatch,))
        if converted := _unstaged(self.bench.tree.dirt()):
            reason = f"git reads these files otherwise than the diff writes them: {', '.join(converted)}"
            return Result(code="apply_mismatch", reasons=(reason,))
        self._tell("txn.compared", "T5", paths=[file.path for file in staged])
        return None

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
        for gate in gates_of(self.terms.selection, self.terms.limits):
            report = self._run(gate.tests, gate.timeout_s)
            reports.append(report)
            found = measured(report)
            # What ran out of time is refused as it is; running it again would only take longer.
            doubtful = () if report.timed_out else newly_failing(before, found)
            parts.append(self._steady(found, doubtful))
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
        return result.model_copy(update={"printed": texts})

    def _judged(self, before: Measurement, after: Measurement) -> Result:
        selection = self.terms.selection
        reason = refusal(
            before,
            after,
            landmark=selection.landmark,
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

    def _steady(self, found: Measurement, doubtful: Sequence[str]) -> Measurement:
        """The measurement after its doubtful failures had more runs; what passes in one of them is flaky."""
        if not doubtful:
            return found
        reruns, left = list[TestReport](), list(doubtful)
        while left and len(reruns) < RERUNS:
            reruns.append(self._run(left, self.terms.limits.landmark_s))
            passed = ids(reruns[-1], {"passed"})
            # What passed once is flaky; how often it would pass decides nothing.
            left = [test for test in left if test not in passed]
        return confirmed(found, reruns, doubtful)

    def _static(self, paths: Sequence[str]) -> Measurement:
        if not self.terms.static:
            return Measurement()
        return Measurement(static=static_errors(self.bench.checks.static(paths)))

    def _churn(self) -> float:
        text = self.bench.tree.diff_from(self.terms.base)
        parsed = parse_diff(text)
        if text and parsed.problems:
            raise CodebaseError(f"git's own diff cannot be read: {parsed.problems[0].text}")
        return churn(parsed.diff)

    def _run(self, tests: Sequence[str], timeout_s: float) -> TestReport:
        """One run of these tests; what they wrote into the worktree must not judge the next one."""
        report = self.bench.checks.run(tests, timeout_s=timeout_s)
        if _unstaged(self.bench.tree.dirt()):
            self.bench.tree.settle(self.start)
        return report

    def _tell(self, kind: MomentKind, step: StepOfTen, **data: object) -> None:
        self.bench.tell(Moment(kind=kind, step=step, data=data))


def _unstaged(dirt: Sequence[str]) -> list[str]:
    """The paths whose files are not what is staged; in git's short status the second column tells."""
    return [entry[3:] for entry in dirt if entry[1] != " "]


def _texts(found: Sequence[Violation]) -> tuple[str, ...]:
    return tuple(f"{each.code}: {each.text}" for each in found)
