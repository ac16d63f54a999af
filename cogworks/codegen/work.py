"""What each action of the coding cycle does to one sub-work-item's working copy."""

from collections.abc import Sequence

from cogworks.codegen import prompt
from cogworks.codegen.answer_forms import as_whole_files, in_one_form
from cogworks.codegen.asides import Asides
from cogworks.codegen.coder import Coder, fingerprint_of
from cogworks.codegen.disputing import PROMPT as DECIDING
from cogworks.codegen.disputing import Dispute, Disputes
from cogworks.codegen.handoff import TestHandoff, dropped, hands_over, regression_paths, wants_red
from cogworks.codegen.inline import code_with_tests, may_hold_tests, unshown
from cogworks.codegen.kept_proof import Proven, proof_of_kept
from cogworks.codegen.locating import Locator, telling
from cogworks.codegen.mending import Mender, mender_of
from cogworks.codegen.noticing import with_mistakes
from cogworks.codegen.plan_bounds import granted_before, own_files, tree_name
from cogworks.codegen.proving import (
    PROOF_FILE,
    PROVENANCE_FILE,
    Side,
    proof_text,
    provenance,
    side,
    unsteady,
    with_hidden,
)
from cogworks.codegen.suite import SLOW_S, Baseline, Scope, SuiteRuns
from cogworks.codegen.test_writing import TestWriting
from cogworks.codegen.testgate import without_handed_over
from cogworks.codegen.transaction import Kept, Transactions, Tried, Wanted
from cogworks.codegen.trial import KnownFaults, facts_of, without_own
from cogworks.cycle.context import CycleContext
from cogworks.cycle.executor import Handler
from cogworks.cycle.feedback import Attempt, Trial
from cogworks.cycle.results import Action, ActionResult, Candidate, Outcome, Payload, TraceEntry, failed
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.artifacts import planned_item, proposed_paths
from cogworks.nodes.contract import Failed, NodePorts, Workspace
from cogworks.nodes.replies import CodeChange, DisputedTest, PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.repair.probe.investigating import TreeChanged
from cogworks.repair.proof import Proof
from cogworks.repair.transact.measure import (
    Measurement,
    file_of,
    measured,
)
from cogworks.vocabulary import CommitOid

_UNTRIED = ("locked", "dirty_tree", "checkpoint_failed", "no_tests", "baseline_timeout", "commit_failed")
"""Ends of a transaction that say nothing about the change."""


class CodingWork:
    """One visit's work: carries out actions, and remembers what no log has room for."""

    def __init__(self, task: NodeTask, ports: NodePorts) -> None:
        self._task = task
        self._ports = ports
        self.workspace: Workspace = ports.workspace()
        self.workspace.roll_back()
        self.item: PlannedItem = planned_item(task)
        self.own = own_files(task, self.workspace, self.item)
        """Files that only this sub-work-item brought in, on an earlier visit."""
        self._baseline = Baseline(task.conventions.baseline, self.workspace, self.own)
        self.suite = SuiteRuns(ports, self.workspace, who=self.item.key)
        self.kept: Kept | None = None
        self._transactions = Transactions(task, ports, workspace=self.workspace, item=self.item)
        self._locator = Locator(ports, self.workspace, who=self.item.key, probes=task.conventions.probes)
        self._tried: dict[str, Trial] = {}
        """What became of the changes that were tried on the tree as it is."""
        self._faults = KnownFaults(ports.service, self.workspace)
        self._base: Side | None = None
        """What the change is proven against."""
        self.proof: Proof | None = None
        """Of the change that was kept, as it is now; None until it was validated."""
        self.refusal: Failed | None = None
        """What a person has to decide."""
        self.tests = (
            TestWriting(task, ports, workspace=self.workspace, item=self.item) if hands_over(task) else None
        )
        """The tests that are handed over; None where they come with the code."""
        self.in_code: tuple[str, ...] = ()
        """Files of code in which tests stand that come with it; known once the suite ran."""
        self.mender = mender_of(task, self.workspace, self.tests)
        self.coder: Coder | Mender = self.mender or Coder(
            task, ports, workspace=self.workspace, item=self.item, tests=self.tests
        )
        self.disputes = Disputes(task, ports, workspace=self.workspace, item=self.item)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The questions that this visit may ask; the header of its log says in which words."""
        if self.mender or self.tests is None:
            return () if self.mender else ("code_generation",)
        judging = (prompt.PROMPT,) if self._task.conventions.test_judge else ()
        may_come_along = self.tests.handoff is None and may_hold_tests(self.item)
        return (
            *("write_tests", *judging, "implementation", DECIDING),
            *(("code_generation",) if may_come_along else ()),
        )

    def handlers(self) -> dict[Action, Handler]:
        """Who carries out which action."""
        return {
            Action.RUN_TESTS: self._run_tests,
            Action.WRITE_TESTS: self._write_tests,
            Action.ANALYZE_FAILURE: self._analyze,
            Action.GENERATE_PATCH: self._generate,
            Action.APPLY_PATCH: self._transact,
            Action.REVERT_PATCH: self._revert,
            Action.VALIDATE: self._validate,
            **Asides(self._ports, self.workspace, lambda: self.suite.latest).handlers(),
        }

    def _run_tests(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        tree = self._tree()
        is_first = self.suite.baseline is None
        report = self.suite.run(tree, self._scope())
        if self.tests is not None:
            self.tests.latest = report
        if is_first:
            self._base = self._side(report)
            self._look_for_tests_in_code(report)
            self.refusal = self._baseline.refusal(report)
            if self.refusal is not None:
                return failed("baseline", self.refusal.reason).model_copy(
                    update={"halt": self.refusal.reason}
                )
        facts = facts_of(report, before=None if is_first else self._may_fail(report))
        return ActionResult(outcome=facts.outcome, tests=facts, tree=tree)

    def _look_for_tests_in_code(self, baseline: TestReport) -> None:
        """Tests that stand in the very files of the code are written with it; none are handed over then."""
        is_given = self.tests is not None and self.tests.handoff is not None
        self.in_code = () if is_given else code_with_tests(self.item, baseline)
        if self.in_code and isinstance(self.coder, Coder):
            self.tests = None
            self.coder.brings_tests(self.in_code)

    def _side(self, report: TestReport) -> Side:
        """The working copy as it is now, with what the suite as it was found can show of a change."""
        return side(self.workspace, report, self._baseline.judged(self.suite.baseline or report))

    def _scope(self, announced: Sequence[str] = ()) -> Scope:
        if self.tests is not None:
            announced = self.tests.announced
        return self._baseline.scope((*self._regressions(), *announced))

    def _may_fail(self, now: TestReport) -> TestReport:
        """The suite as it was found: what failed then may go on failing, but for what was handed over."""
        report = self.suite.baseline_with_tests_of(now)
        handoff = self.tests.handoff if self.tests else None
        return without_handed_over(report, handoff) if handoff else report

    @property
    def _handed_paths(self) -> tuple[str, ...]:
        handoff = self.tests.handoff if self.tests else None
        return handoff.paths if handoff else ()

    def _write_tests(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        if self.in_code:
            summary = f"tests stand in {', '.join(self.in_code)}, and are written with the code"
            self._ports.say(f"{self.item.key}: {summary}")
            entry = TraceEntry(kind="tests_in_code", data={"files": list(self.in_code)})
            return ActionResult(outcome=Outcome.DONE, summary=summary, trace=(entry,))
        if self.tests is None or self.suite.baseline is None:
            return ActionResult(outcome=Outcome.ERROR, error_code="out_of_turn", summary="no tests are due")
        reasons = payload.parameters.get("reasons", ())
        dispute = self.disputes.pending
        result = self.tests.write(
            self.suite.baseline, reasons, own=self.own, scope=self._scope(), dispute=dispute
        )
        if dispute is not None and self.tests.handoff is not None and self.tests.insists:
            settled = self.disputes.after_writer(self.tests.handoff, dispute, self.tests.insists)
            self.coder.ruling = self.disputes.ruling
            # The decision went against the writer, who has another word.
            return settled or self._write_tests(payload, context, deadline_ms)
        if self.tests.refusal is not None:
            self.refusal = self.tests.refusal
        if result.outcome is not Outcome.DONE or self.tests.handoff is None:
            return result
        self.disputes.settle()
        self.kept = self._tests_alone(self.tests, self.tests.handoff)
        self.suite.remember(self.kept.after, self.kept.tree)
        self.suite.forget(self.tests.restated)
        # The code is proven by tests that are there on both sides.
        self._base = self._side(with_hidden(self.tests.report, self.suite.baseline))
        return result.model_copy(update={"tree": self.kept.tree})

    def _tests_alone(self, tests: TestWriting, handoff: TestHandoff) -> Kept:
        """What is kept when the tests turn out to be all that was missing: the code of the earlier visit stays."""
        code = self._task.earlier.get("code") or {"summary": self.item.title[:72], "notes": ""}
        reply = CodeChange(summary=code["summary"], files=(), tests=tests.announced, notes=code["notes"])
        return Kept(reply=reply, head=CommitOid(handoff.commit), after=tests.report, tree=self._tree())

    def _analyze(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """The sub-work-item is the one landmark, for the plan has made it small; its spans lie where what fails leads."""
        del context, deadline_ms
        parameters = payload.parameters
        failing = TestReport(cases=())
        if (latest := self.suite.latest) is not None:
            modules = (*self.workspace.files(), *self.item.files, *proposed_paths(self._task))
            failing = telling(latest, self._may_fail(latest), modules)
        try:
            located = self._locator.locate(
                failing, is_wide=bool(parameters.get("widen") or parameters.get("mode")), suite=latest
            )
        except TreeChanged as error:
            return failed("tree_changed", str(error)).model_copy(update={"halt": str(error)})
        self.coder.suspects = located.places if located else ()
        self.coder.evidence = located.evidence if located else ()
        for name, text in (located.files() if located else {}).items():
            self._ports.keep(name, text)
        return ActionResult(
            outcome=Outcome.FOUND, landmarks=(self.item.key,), trace=located.trace if located else ()
        )

    def _generate(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, deadline_ms
        if self.tests is not None and (problem := self.tests.problem()) is not None:
            self.refusal = self.tests.stopped(problem.message)
            return ActionResult(
                outcome=Outcome.NONE_VALID, halt=self.refusal.reason, trace=(self.tests.event_of(problem),)
            )
        reply = self.coder.ask(context)
        if isinstance(reply, DisputedTest):
            return self._disputed(reply)
        if isinstance(reply, Failed):
            self.refusal = reply
            return ActionResult(outcome=Outcome.NONE_VALID, halt=reply.reason)
        change = reply.model_dump(mode="json")
        return ActionResult(
            outcome=Outcome.PROPOSED, candidates=(Candidate(id=fingerprint_of(reply), change=change),)
        )

    def _disputed(self, reply: DisputedTest) -> ActionResult:
        handoff = self.tests.handoff if self.tests else None
        if handoff is None:
            return failed("nothing_handed_over", "a test is disputed, and none was handed over")
        is_code_kept = self.kept is not None and self.kept.parent is not None
        result = self.disputes.raised(handoff, Dispute.of(reply), may_go_back=not is_code_kept)
        self.coder.ruling = self.disputes.ruling
        return result

    def _transact(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """One transaction: the change is committed when nothing is worse, else the tree is as it was."""
        del context, deadline_ms
        reply, problems = self._in_one_form(CodeChange.model_validate(payload.parameters["change"]))
        name = fingerprint_of(reply)
        if problems:
            return self._refused(name, Tried(Trial(category="unplaced", problems=problems)))
        if name in self._tried:
            return self._refused(name, Tried(self._tried[name]))
        if problems := self._unshown(reply):
            return self._refused(name, Tried(Trial(category="missing_tests", problems=problems)))
        parent = self.workspace.head
        tried = self._transactions.try_out(reply, self._wanted(reply), number=max(1, self.coder.requests))
        result = tried.result
        if result is not None and result.code == "rollback_failed":
            return failed(result.code, tried.trial.problems[0]).model_copy(
                update={"halt": tried.trial.problems[0], "trace": tried.trace}
            )
        if result is not None and result.code in _UNTRIED:
            return failed(result.code, "; ".join(tried.trial.problems)).model_copy(
                update={"trace": tried.trace}
            )
        if result is not None and result.before is not None:
            self._faults.learn((file.path for file in reply.files), result.before)
        if result is None or result.oid is None or tried.after is None:
            return self._refused(name, tried)
        self._tried.clear()
        self.kept = Kept(
            reply=reply,
            head=result.oid,
            after=tried.after,
            tree=self._tree(),
            parent=parent,
            earlier=self.kept,
            reruns=tried.reruns,
        )
        self.suite.remember(self.kept.after, self.kept.tree)
        return ActionResult(
            outcome=Outcome.COMMITTED,
            tree=self.kept.tree,
            files=tuple(sorted(file.path for file in reply.files)),
            trace=tried.trace,
        )

    def _in_one_form(self, reply: CodeChange) -> tuple[CodeChange, tuple[str, ...]]:
        """The answer as whole files; as it was given, with the reasons, when parts of it stand nowhere."""
        # What a transaction that broke off half-way left behind is not what the coder was shown.
        self.workspace.roll_back()
        files, problems = in_one_form(reply, self.workspace)
        if problems:
            return reply, problems
        return as_whole_files(reply, files), ()

    def _refused(self, name: str, tried: Tried) -> ActionResult:
        trial = self._tried[name] = tried.trial
        worse = tried.result.worse if tried.result else None
        if lost := [
            test for test in (worse.vanished if worse else ()) if file_of(test) in self._handed_paths
        ]:
            # The coder could do nothing about it: the tests cannot be loaded without its change, so the gate never saw them.
            self.refusal = dropped(self.item, lost)
        first = trial.problems[0].splitlines()[0]
        self._ports.say(f"{self.item.key}: attempt {self.coder.requests} refused: {first}")
        return ActionResult(
            outcome=Outcome.ROLLED_BACK,
            summary=first,
            halt=self.refusal.reason if self.refusal else "",
            attempt=Attempt(fingerprint=name, trial=trial),
            reasons=trial.problems,
            trace=tried.trace,
        )

    def _wanted(self, reply: CodeChange) -> Wanted:
        own = self.own
        if self.kept is not None:
            own |= {file.path for file in self.kept.reply.files if file.action == "create"}
        return Wanted(
            before=without_own(self._measured(), own),
            announced=reply.tests,
            regressions=self._regressions(),
            handed_over=None if self.tests is None else self._handed_paths,
            failing_before=self.tests.handoff.failing_before if self.tests and self.tests.handoff else (),
            own=own,
            granted=granted_before(self._task, self.kept.replies if self.kept else ()),
            scope=self._scope(reply.tests),
            is_slow=self.suite.longest_s > SLOW_S,
        )

    def _unshown(self, reply: CodeChange) -> tuple[str, ...]:
        """Why an answer brings no tests although it names files for them; tests of an earlier visit, or change, do as well."""
        is_first = self.kept is None and not self._task.earlier.get("code") and wants_red(self._task)
        if not is_first or self.suite.baseline is None:
            return ()
        return unshown(
            reply, {path: self.workspace.read(path) or "" for path in self.in_code}, self.suite.baseline
        )

    def _measured(self) -> Measurement:
        """The tree as it is, and what passed when it was found: tests may hide in a file that cannot be loaded now."""
        baseline = measured(self.suite.baseline or TestReport(cases=()))
        if self.kept is None:
            return baseline
        now = measured(self.kept.after)
        return now.model_copy(update={"passing": now.passing | (baseline.passing - now.failing)})

    def _regressions(self) -> tuple[str, ...]:
        """The tests of finished sub-work-items whose code is in the tree, where their hand-offs say."""
        outputs = [each["code"] for each in self._task.dependency_outputs.values() if "code" in each]
        return tuple(path for path in regression_paths(outputs) if self.workspace.read(path) is not None)

    def _revert(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """Take the last kept change back: the tree is what it was before that transaction."""
        del payload, context, deadline_ms
        undone = self.kept
        if undone is None or undone.parent is None:
            return failed("nothing_kept", "REVERT_PATCH: no change was kept in this visit")
        self.workspace.settle(undone.parent)
        self.kept = undone.earlier
        return ActionResult(
            outcome=Outcome.DONE,
            tree=self._tree(),
            trace=(TraceEntry(kind="txn.revert", data={"head": undone.head}),),
        )

    def _validate(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        if self.kept is None or self._base is None:
            return ActionResult(outcome=Outcome.GREEN)
        written = sorted(file.path for file in self.kept.reply.files if file.action != "delete")
        verdict = self._faults.judged(written)
        if not verdict.is_kept:
            return ActionResult(outcome=Outcome.DIAGNOSTICS, reasons=verdict.problems)
        tests = self.kept.reply.tests
        stated = self.tests.restated if self.tests else frozenset[str]()
        about = Proven(self.item, self._base, own=self.own, in_code=self.in_code, restated=stated)
        proven = proof_of_kept(self._task, self._ports, self.kept, about)
        flaky = unsteady(proven, tests)
        arguments = (self._task, self._ports, self.workspace, tests)
        self.proof = proven if flaky else with_mistakes(proven, *arguments)
        self._ports.keep(PROOF_FILE, proof_text(self.proof))
        self._ports.keep(PROVENANCE_FILE, provenance(self._task, self.proof))
        return ActionResult(outcome=Outcome.DIAGNOSTICS if flaky else Outcome.GREEN, reasons=flaky)

    def _tree(self) -> str:
        """A name for the files as they are; the same on every machine."""
        return tree_name(self.workspace.diff(self._task.base_branch))
