"""The actions of a coding cycle that repairs failing tests by small diffs, each tried as one transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.codebase.diffmodel import Diff
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.branching import Branching, Chronicle
from cogworks.codegen.diagnosing import Diagnosis
from cogworks.codegen.doubting import Doubts, doubts
from cogworks.codegen.repair_job import Job, Notes, Tools, Tried, budgets_of, listed
from cogworks.codegen.repair_terms import RepairTerms
from cogworks.codegen.suitability import (
    known_before,
    misnamed,
    of_targets,
    proven_tree,
    repair_proof,
    state_of,
    unfit,
    unproven,
)
from cogworks.codegen.trial import facts_of
from cogworks.cycle.context import CycleContext
from cogworks.cycle.executor import Handler
from cogworks.cycle.feedback import Attempt, Trial
from cogworks.cycle.flow import NEXT_BRANCH
from cogworks.cycle.results import Action, ActionResult, Candidate, Outcome, Payload, TraceEntry, failed
from cogworks.domain_services.messages import TestReport
from cogworks.errors import InvalidReply
from cogworks.repair.interview import ModelUnusable
from cogworks.repair.judging import judge
from cogworks.repair.ladder import Rung
from cogworks.repair.landmarks import RepairTarget
from cogworks.repair.localise.localising import HOPS, WIDER_HOPS, Localised
from cogworks.repair.offline import NobodyAsked
from cogworks.repair.probe.investigating import TreeChanged
from cogworks.repair.proof import Proof, Runs
from cogworks.repair.proposing import Proposals, Request, judged
from cogworks.repair.transact.measure import RERUNS, limited_to, with_hidden_tests
from cogworks.repair.transact.outcomes import Result
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.repair.weakening import weakened_lines
from cogworks.vocabulary import CommitOid

_FATAL = ("locked", "dirty_tree", "checkpoint_failed", "no_tests", "baseline_timeout")
_MAX_REASONS = 12


class PatchRun:
    """One repair from the first run of the tests to the proof; its handlers are called one at a time."""

    def __init__(self, job: Job, tools: Tools) -> None:
        self._job = job
        self._tools = tools
        self._chronicle = Chronicle(tools.now)
        self._note = self._chronicle.tell
        self._ports = TransactionPorts(tree=tools.tree, checks=tools.checks, tell=self._chronicle.tell_moment)
        with tools.tree.hold():
            tools.tree.go_back()
        self._base = state_of(tools.tree)
        self._head = self._base
        self._before: TestReport | None = None
        self._report = TestReport(cases=())
        self._kept_run: tuple[str, TestReport] | None = None
        """The tree of the change that was kept last, and the run of the whole suite that its transaction made there."""
        self._suite: tuple[str, ...] = ()
        """What the last of these runs was about; empty: everything."""
        self._landmarks: dict[str, RepairTarget] = {}
        self._tried: dict[str, set[str]] = {}
        """Tree -> fingerprints of the diffs that failed on it."""
        self._taken_back = 0
        """Commits that were undone and that no result has reported yet."""
        self._step = ""
        """The landmark that is begun with; empty: none is."""
        self._undone = ""
        """How the last transaction of this step ended; empty: none has ended badly."""
        self._beyond_budget = 0
        """Diffs of the last answer that are not tried."""
        self.notes = Notes()
        self._diagnosis = Diagnosis(job, tools, self.notes, self._note)
        self._branching = Branching(tools.tree, self.notes, self._note)
        self._terms = RepairTerms(
            job, self._diagnosis, self._branching, base=self._base.head, steady=tools.steady
        )

    @property
    def base(self) -> CommitOid:
        """Where the repair started."""
        return self._base.head

    @property
    def unreported(self) -> tuple[TraceEntry, ...]:
        """What happened in an action that ended the run before it could report."""
        return self._chronicle.unreported

    def settle(self) -> None:
        """Undo what landed of changes that only together are a repair; for the end of a run, whatever ended it."""
        self._undo_part()

    def handlers(self) -> dict[Action, Handler]:
        """Who carries out which action, for the cycle."""
        handlers: dict[Action, Handler] = {
            Action.RUN_TESTS: self._run_tests,
            Action.ANALYZE_FAILURE: self._analyse,
            Action.GENERATE_PATCH: self._generate,
            Action.APPLY_PATCH: self._apply,
            Action.REVERT_PATCH: self._revert,
            Action.VALIDATE: self._validate,
            Action.FINALIZE: self._finalize,
        }
        return {action: self._chronicle.guarded(handler) for action, handler in handlers.items()}

    def _run_tests(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context
        limit_s = min(self._job.limits.baseline_s, deadline_ms / 1000)
        known = self._known()
        self._suite = () if known else self._wanted()
        report = self._report = known or self._run(self._suite, limit_s)
        halt = ""
        if self._before is None:
            self._before = report
            halt = unfit(report, self._job.instance)
            self.notes.misnamed = misnamed(report, self._job.instance)
            self._note_checkpoint("base")
        baseline = known_before(with_hidden_tests(self._before, report), self._job.instance)
        facts = facts_of(report, before=baseline)
        return self._ended(
            facts.outcome,
            summary=f"{facts.passed} passed, {len(facts.failing)} to repair or new, {facts.known_failures} known",
            tree=self._head.tree,
            tests=facts,
            halt=halt,
        )

    def _known(self) -> TestReport | None:
        """The whole suite, where it ran on these very files: in the search for what fails, or in the transaction."""
        if self._before is None:
            return self._tools.steady.first if self._tools.steady else None
        return self._kept_run[1] if self._kept_run and self._kept_run[0] == self._head.tree else None

    def _analyse(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del deadline_ms
        parameters = payload.parameters
        reasons = tuple(parameters.get("reasons", ()))[-_MAX_REASONS:]
        mode = parameters.get("mode", "")
        if mode:
            self._note("replan", mode=mode)
            self._undo_part()
            for each in context.landmarks[:1]:
                self._diagnosis.give_up(self._landmarks[each])
        if mode == NEXT_BRANCH:
            self._branching.turn()
            return self._planned(reasons)
        try:
            localised = self._places(mode, is_wide=bool(parameters.get("widen")))
        except TreeChanged as error:
            return self._stopped(error)
        if not localised.suspects:
            return self._ended(
                Outcome.NOTHING_FOUND, summary="the failure points at no definition", reasons=reasons
            )
        keep_pattern = mode == Rung.PLAN_AGAIN
        self._branching.begin(self._diagnosis.plan(localised, reasons, keep_pattern=keep_pattern))
        return self._planned(reasons)

    def _places(self, mode: str, *, is_wide: bool) -> Localised:
        """Where the fault may be: as it is known, looked at further, or looked for anew."""
        known = self.notes.localised
        if known is not None and mode == Rung.PLAN_AGAIN:
            return known
        if known is not None and mode == Rung.COMBINE_AGAIN:
            return self._diagnosis.look_further(known)
        hops = WIDER_HOPS if is_wide or mode == Rung.WIDEN else HOPS
        places = self._diagnosis.localise(
            [self._report, *([self._before] if self._before else [])], hops=hops
        )
        if (steady := self._tools.steady) is not None:
            self._report, self._before = map(steady.numbered, (self._report, self._before or self._report))
        return places

    def _planned(self, reasons: tuple[str, ...]) -> ActionResult:
        landmarks = self.notes.landmarks = self._branching.landmarks
        self._step = ""
        if not landmarks:
            return self._ended(Outcome.NOTHING_FOUND, summary="no place is left to try", reasons=reasons)
        self._landmarks = {each.id: each for each in landmarks}
        ways = self._branching.ways_left
        return self._ended(
            Outcome.FOUND, landmarks=tuple(self._landmarks), alternatives=ways, reasons=reasons
        )

    def _generate(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del context, deadline_ms
        landmark = self._landmarks[payload.parameters["landmark"]]
        reasons = tuple(payload.parameters.get("reasons", ()))
        request = self._diagnosis.request(landmark, reasons)
        self._note_step(landmark, reasons)
        self._note("proposer.start", landmark=landmark.id, diffs=request.most)
        try:
            replies = self._tools.proposer.propose(request)
        except InvalidReply as error:
            self._note("proposer.done", kept=0, refused=[str(error)])
            halt = str(error) if isinstance(error, NobodyAsked | ModelUnusable) else ""
            return self._ended(Outcome.NONE_VALID, summary=str(error), reasons=(str(error),), halt=halt)
        # Looks before the answer may have shown more than the question did.
        request = request.model_copy(update={"step": self._diagnosis.step(landmark)})
        batch = judged(replies, request, self._ports, tried=self._failed_here(), rejected=self.notes.rejected)
        self._note("proposer.done", kept=len(batch.kept), refused=list(batch.refused))
        self.notes.proposals += batch.kept
        self.notes.refused += batch.refused
        self.notes.refused_diffs += batch.refused_diffs
        self.notes.unread += batch.unread
        self.notes.doubted |= batch.doubted
        if not batch.kept:
            return self._ended(
                Outcome.NONE_VALID, summary="no diff keeps the rules", reasons=batch.refused[:_MAX_REASONS]
            )
        budgets = budgets_of(self._job.options)
        batch = self._judged(batch, request, finalists=budgets.most)
        self._note("rerank.done", order=[[each.id, round(each.score, 6)] for each in batch.kept])
        self._beyond_budget = max(0, len(batch.kept) - budgets.most)
        origin = {"landmark": landmark.id, "request": request.purpose}
        candidates = tuple(Candidate(id=each.id, change={**origin, "diff": each.diff}) for each in batch.kept)
        return self._ended(Outcome.PROPOSED, candidates=candidates)

    def _judged(self, proposals: Proposals, request: Request, *, finalists: int) -> Proposals:
        """The proposals in the order they are tried, as the judge has it where one is wanted."""
        if not self._job.options.search.judge:
            return proposals
        ruling = judge(proposals.kept, request, self._tools.model, finalists=finalists)
        self._note("judge.done", order=list(ruling.order), problem=ruling.problem)
        return proposals.model_copy(update={"kept": ruling.proposals})

    def _apply(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del deadline_ms
        change: Mapping[str, Any] = payload.parameters["change"]
        landmark = self._landmarks[change["landmark"]]
        if together := self._branching.before_change():
            self._note_checkpoint("savepoint", landmarks=list(together))
        name = payload.parameters["candidate"]
        if self._undone:
            self._note("txn.retry", landmark=landmark.id, candidate=name, after=self._undone)
        self._note("txn.start", landmark=landmark.id, candidate=name)
        terms = self._terms.of(landmark, parse_diff(change["diff"]).diff.paths, at=self._head.head)
        result = transact(change["diff"], terms, self._ports, tried=frozenset(self._failed_here()))
        self._note("txn.result", code=result.code, reasons=list(result.reasons))
        self.notes.tried.append(Tried(landmark=landmark.id, candidate=result.proposal, result=result))
        if result.is_kept:
            self._branching.after_change(result)
            self._step = ""
            self._moved("kept")
            self._kept_run = (self._head.tree, result.suite) if result.suite else None
            ways = self._branching.ways_left
            return self._ended(
                Outcome.COMMITTED, tree=self._head.tree, alternatives=ways, summary=landmark.intent
            )
        if result.code == "rollback_failed":
            return self._broken(result, halt="; ".join(result.reasons))
        if result.code in _FATAL:
            return self._broken(result)
        self._undone = result.code
        if self._beyond_budget and len(context.candidates) <= 1:
            names, left = list(budgets_of(self._job.options).reached), self._beyond_budget
            self._note("budget.reached", names=names, untried=left)
        self._failed_here().add(result.proposal)
        self.notes.rejected.append(change["diff"])
        problems = result.reasons or (result.code,)
        return self._ended(
            Outcome.ROLLED_BACK,
            summary="; ".join(problems),
            attempt=Attempt(
                fingerprint=result.proposal,
                trial=Trial(category=f"{result.code} {' '.join(problems)}"[:200], problems=problems),
                request=change["request"],
            ),
            reasons=tuple(f"{result.code}: {each}" for each in problems) + result.shown,
        )

    def _revert(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        with self._tools.tree.hold() as is_ours:
            if not is_ours:
                return failed("locked", "another process works in this worktree")
            self._taken_back += self._branching.take_back()
        self._moved("taken_back")
        self._report = self._before or self._report
        return self._ended(Outcome.DONE)

    def _validate(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """Whether what the last run of the suite found makes a proof, its targets run again."""
        del payload, context
        ends_s = self._tools.now() + deadline_ms / 1000
        limit_s = min(self._job.limits.targeted_s, deadline_ms / 1000)
        proof = self.notes.proof = self._proof_by(())
        doubted = Doubts()
        if not unproven(proof, self._job.instance):
            doubted = doubts(
                self._changes(),
                self._job,
                self.notes,
                diagnosis=self._diagnosis,
                tools=self._tools,
                ends_s=ends_s,
            )
        # The transaction that was kept ran them as well, on the same files, and the doubts may have done so too.
        reruns = list(doubted.reruns)
        wanted = RERUNS if self._report is self._known() else RERUNS - 1
        reruns += [self._run(self._job.instance.failing_tests, limit_s) for _ in range(wanted - len(reruns))]
        proof = self.notes.proof = self._proof_by(reruns)
        problems = unproven(proof, self._job.instance)
        flaky = [test for test in proof.having("flaky") if of_targets(test, self._job.instance)]
        halt = f"flaky, so that they prove nothing: {', '.join(flaky)}" if flaky else ""
        if problems or flaky:
            return self._ended(Outcome.DIAGNOSTICS, reasons=problems, halt=halt)
        self.notes.proof = proof.model_copy(update={"warnings": doubted.warnings})
        return self._ended(Outcome.GREEN, tree=self._head.tree)

    def _proof_by(self, reruns: Sequence[TestReport]) -> Proof:
        return repair_proof(
            (proven_tree(self._base), proven_tree(self._head)),
            Runs(limited_to(self._before or self._report, self._suite), self._report, reruns),
            weakened=weakened_lines(self._changes(), self._job.rules),
            command=self._job.command,
            unstable=self._tools.steady.unstable.names if self._tools.steady else (),
            targets=self._job.instance.failing_tests,
        )

    def _finalize(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        proof = self.notes.proof
        if proof is None or proof.head != proven_tree(self._head) or unproven(proof, self._job.instance):
            return failed("unproven", "FINALIZE: nothing proves the tree as it is now")
        return self._ended(Outcome.DONE, summary=f"{len(proof.having('fail_to_pass'))} test(s) repaired")

    def _run(self, tests: Sequence[str], timeout_s: float) -> TestReport:
        """One run outside of a transaction; what the tests wrote into the worktree must not stop the next one."""
        report = self._tools.checks.run(tests, timeout_s=timeout_s)
        if self._tools.tree.dirt():
            with self._tools.tree.hold():
                self._tools.tree.settle(self._head)
        return report

    def _wanted(self) -> tuple[str, ...]:
        """The tests that have to be seen now; none: all of them."""
        if self._before is None or self._job.options.gates.full_before_finalize:
            return ()
        reaching = self._diagnosis.regression(self._changes().paths)
        return () if reaching is None else (*self._job.instance.failing_tests, *reaching)

    def _changes(self) -> Diff:
        return parse_diff(self._tools.tree.diff_from(self.base)).diff

    def _moved(self, why: str) -> None:
        self._head = state_of(self._tools.tree)
        self._note_checkpoint(why)

    def _note_checkpoint(self, why: str, **data: Any) -> None:
        """The tree is as it may be gone back to."""
        self._note("vcs.checkpoint", why=why, head=self._head.head, tree=self._head.tree, **data)

    def _note_step(self, landmark: RepairTarget, reasons: Sequence[str]) -> None:
        """A landmark is begun with, or once more asked for."""
        if landmark.id == self._step:
            self._note("proposer.retry", landmark=landmark.id, reasons=list(reasons))
            return
        self._step, self._undone = landmark.id, ""
        tests = self._terms.of(landmark).selection.tests
        spans = [[span.artifact, *span.lines] for span in landmark.target_spans]
        self._note("step.begin", landmark=landmark.id, intent=landmark.intent, spans=spans)
        self._note("step.test_cmd", landmark=landmark.id, command=self._job.command, tests=listed(tests))

    def _failed_here(self) -> set[str]:
        """The diffs that failed on the tree as it is now."""
        return self._tried.setdefault(self._head.tree, set())

    def _undo_part(self) -> None:
        with self._tools.tree.hold() as is_ours:
            count = self._branching.undo_part() if is_ours else 0
        if count:
            self._taken_back += count
            self._moved("undone")

    def _broken(self, result: Result, *, halt: str = "") -> ActionResult:
        return self._failed(result.code, "; ".join(result.reasons) or result.code, halt=halt)

    def _stopped(self, error: TreeChanged) -> ActionResult:
        """What was only to be looked at is changed; a person has to see why."""
        return self._failed("tree_changed", str(error), halt=str(error))

    def _failed(self, code: str, why: str, *, halt: str) -> ActionResult:
        return failed(code, why).model_copy(update={"halt": halt, "trace": self._chronicle.take_entries()})

    def _ended(self, outcome: Outcome, **more: Any) -> ActionResult:
        undone, self._taken_back = self._taken_back, 0
        changed: dict[str, Any] = {"tree": self._head.tree, "taken_back": undone} if undone else {}
        return ActionResult(outcome=outcome, trace=self._chronicle.take_entries(), **(changed | more))
