"""The tests of one sub-work-item: asked for before its code, let through the gate, committed and handed over."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from cogworks.canonical import canonical, sha256
from cogworks.codebase.changes import normalised, protected_by
from cogworks.codegen.admitting import (
    alters,
    beyond_tests,
    entry_of,
    existing,
    harm,
    restated_by,
    trial_for,
    undisputed_lost,
    with_new,
)
from cogworks.codegen.answer_forms import amended, as_whole_files, paths_of
from cogworks.codegen.disputing import Dispute
from cogworks.codegen.handoff import (
    TestHandoff,
    convention_of,
    request_of,
    resolved,
    stored_handoff,
    wants_red,
)
from cogworks.codegen.prompt import HandedOver, coding_opening, findings_to_resolve, judged, shown_tests
from cogworks.codegen.restating import rewritten
from cogworks.codegen.suite import Scope, run_scope, scope_in_words, unrun
from cogworks.codegen.testgate import (
    WAIVABLE,
    Claim,
    FirstRun,
    GateProblem,
    absent,
    announced,
    escaping,
    odd_failures,
    red_run,
    standing,
    tried,
    unreadable,
    with_readers,
    without_failing_before,
)
from cogworks.codegen.transaction import commit_message
from cogworks.codegen.trial import ChangeOnTrial, FilesBefore
from cogworks.cycle.feedback import Trial, judge_setback
from cogworks.cycle.flow import TEST_WRITINGS
from cogworks.cycle.results import ActionResult, Outcome, TraceEntry
from cogworks.domain_services.failing import failed_ids, failures_of, listed
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.artifacts import MENDING, bounds_of, proposed_paths, to_allow_more
from cogworks.nodes.asking import Question, changes, conversation_about, purpose_of, reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, Talk, Workspace
from cogworks.nodes.customs import TESTS, titled_at
from cogworks.nodes.replies import PlannedItem, ProposedFile, WrittenTests
from cogworks.nodes.task import NodeTask
from cogworks.repair.transact.measure import file_of
from cogworks.repair.transact.renamed import as_called_in
from cogworks.vocabulary import CommitOid, Severity

PROMPT = "write_tests"
WRITER = "test-writer"
ODD = "TEST_ODD"
HANDOFF_FILE = "test_handoff.json"


class TestWriting:
    """One visit's tests: those that an earlier visit handed over, or new ones."""

    __test__ = False

    def __init__(self, task: NodeTask, ports: NodePorts, *, workspace: Workspace, item: PlannedItem) -> None:
        self._task = task
        self._ports = ports
        self._workspace = workspace
        self._item = item
        self._stored = stored_handoff(task)
        self._previous: WrittenTests | None = None
        self._unkept: Sequence[ProposedFile] = ()
        """The files of the last answer while they are not handed over; the next answer corrects them."""
        self._talk: Talk[WrittenTests] | None = None
        self.handoff = self._stored
        """What the coder has to make pass; None until there is something."""
        self.report = TestReport(cases=())
        """The suite with the new tests in it, before any other change."""
        self.latest: TestReport | None = None
        """The last run of the suite, whoever ran it."""
        self.announced: tuple[str, ...] = announced(self._stored, self.report) if self._stored else ()
        """The handed-over files that hold tests."""
        self.insists = ""
        """Why the writer stands by a test that it was asked about; empty when it changed something, or nobody asked."""
        self._odd: WrittenTests | None = None
        """The tests about whose odd failures the writer was asked."""
        self._about_dispute: Dispute | None = None
        """The dispute, as the writer was told of it."""
        self.requests = 0
        self.restated: frozenset[str] = frozenset()
        """Cases of tests that were there before and that the handed-over tests state in another way, by their old ids."""
        self.sent_back: Trial | None = None
        """Why the last tests were not handed over; None when they were."""
        self.refusal: Failed | None = None
        """What a person has to decide."""

    @property
    def is_due(self) -> bool:
        """Whether tests have to be written now: there are none, they are not what they were, they are for another text than
        the sub-issue has now, or a finding is about them."""
        is_given = self._stored is not None and not self._is_outdated
        return not is_given or bool(self._findings_about_tests()) or self.problem() is not None

    @property
    def _is_outdated(self) -> bool:
        return self._stored is not None and self._stored.request != request_of(self._task)

    @property
    def is_all(self) -> bool:
        """Whether this visit may end with tests alone: everything that blocks is about them."""
        blocking = [
            finding for finding in findings_to_resolve(self._task) if finding["severity"] == Severity.BLOCKING
        ]
        about_tests = self._findings_about_tests()
        return bool(blocking) and all(finding in about_tests for finding in blocking)

    def problem(self) -> GateProblem | None:
        """Why the coder may not be asked now."""
        if self.handoff is None:
            return None
        return self._first(standing(self.handoff, self._claim_of(self.handoff), self._workspace))

    def event_of(self, problem: GateProblem) -> TraceEntry:
        """The problem as an event."""
        claim = self._claim_of(self.handoff) if self.handoff else None
        return entry_of(problem.code, claim) if claim else TraceEntry(kind=problem.code)

    def stopped(self, message: str) -> Failed:
        """The end of the visit because of its tests; nobody was asked for code."""
        return Failed(
            reason=f"{message}\ncode_generation: {self._item.key} ({self._item.title}) has no tests that could be handed "
            f"over, so no code was written. {MENDING}",
            category="retry_exhausted",
        )

    @property
    def files(self) -> frozenset[str]:
        """The files that hold tests, as the last run says."""
        run = self.latest or self.report
        return frozenset(map(file_of, (*(case.id for case in run.cases), *run.collection_errors)))

    def handed_over(self) -> HandedOver:
        """What the coder is shown of the tests.

        Raises:
            ValueError: nothing was handed over; nobody may be asked for code.
        """
        handoff = self.handoff
        paths, run = handoff.paths if handoff else (), self.latest or self.report
        return HandedOver(
            test_path=handoff.test_path if handoff else "",
            files=tuple(shown_tests(self._ports, self._workspace, paths, base=self._task.base_branch)),
            missing=handoff.red.missing if handoff and self.requests else (),
            failures=failures_of(without_failing_before(run, handoff), handoff.paths) if handoff else (),
            failing_before=listed(handoff.failing_before) if handoff else "",
            unrun=listed(unrun(paths, run)),
            notes=self._previous.notes if self._previous else "",
        )

    def write(
        self,
        before: TestReport,
        reasons: Sequence[str],
        *,
        own: Collection[str],
        scope: Scope = None,
        dispute: Dispute | None = None,
    ) -> ActionResult:
        """Ask for tests, try them, and commit them when the gate lets them through; else the tree is as it was.

        Args:
            before: the suite without them.
            reasons: why those of the last answer were sent back.
            own: files that only this sub-work-item brought in; tests in them may be renamed.
            scope: what the suite was made of; the new tests are run in any case.
            dispute: about one of the tests that are handed over; the others stay. `insists` says when nothing was changed.
        """
        self.requests += 1
        self.insists = ""
        self._ports.say(f"{self._item.key}: writing the tests (attempt {self.requests})")
        reply = self._confirmed(self._answer(reasons, dispute, before))
        # The suite may run for long on what it says: a runner that takes over then must not pay for it again.
        self._ports.checkpoint()
        # Protected paths are for the gate: tests can be written elsewhere.
        if refused := reason_for_a_person(
            "code_generation",
            [path for path in paths_of(reply) if protected_by(path) is None],
            missing_capability=reply.missing_capability,
            bounds=bounds_of(self._task),
            remedy=to_allow_more(self._task),
            manifests=self._task.conventions.manifests,
        ):
            self.refusal = refused
            return ActionResult(outcome=Outcome.NONE_VALID, halt=refused.reason)
        self._workspace.roll_back()
        claim = self._claim(reply)
        # What was tried was tried without the last answer.
        unkept = () if reply.tried else self._unkept
        files, problems = amended(reply, unkept, self._workspace, kept=claim.paths)
        if problems:
            return self._sent_back(Trial(category="unplaced", problems=problems), claim)
        reply = as_whole_files(reply, files)
        if dispute is not None and not alters(reply, self._workspace):
            self.insists = reply.confirmed or reply.notes or "no reason was given"
            self.sent_back = None
            return ActionResult(outcome=Outcome.DONE, summary="the writer stands by the disputed test")
        self._previous, self._unkept = reply, reply.files
        trial, run = self._try(reply, claim, before, with_new(scope, claim))
        claim = with_readers(claim, run) if run else claim
        if trial.is_kept and run is not None:
            trial = judge_setback(harm(claim.paths, run, own))
        if trial.is_kept and run is not None and dispute is not None and self.handoff is not None:
            trial = undisputed_lost(self.handoff, run.report, dispute)
        if trial.is_kept and run is not None and dispute is None:
            trial = self._asked_about_odd(reply, claim, run)
        if trial.is_kept and self._task.conventions.test_judge and self.requests < TEST_WRITINGS:
            # A judgement is worth one more answer; the last one is judged by what can be measured alone.
            trial = judged(
                self._task, self._ports, workspace=self._workspace, item=self._item, paths=claim.paths
            )
        if not trial.is_kept or run is None:
            self._workspace.roll_back()
            return self._sent_back(trial, claim)
        return self._commit(reply, claim, run)

    def _confirmed(self, reply: WrittenTests) -> WrittenTests:
        """The tests that the writer was asked about, where it says why they are right and gives no others."""
        if self._odd is None or paths_of(reply) or not reply.confirmed:
            return reply
        self._ports.say(f"{self._item.key}: the writer confirms its tests: {reply.confirmed}")
        return self._odd.model_copy(update={"confirmed": reply.confirmed})

    def _asked_about_odd(self, reply: WrittenTests, claim: Claim, run: FirstRun) -> Trial:
        """Tests that fail in existing code are asked about once, while an answer is left."""
        problem = (
            odd_failures(claim.paths, run) if self._odd is None and self.requests < TEST_WRITINGS else ""
        )
        if not problem:
            return Trial()
        self._odd = reply
        return Trial(category=ODD, problems=(problem,))

    def _answer(self, reasons: Sequence[str], dispute: Dispute | None, before: TestReport) -> WrittenTests:
        """The next tests of this visit's conversation."""
        is_news = dispute is not None and dispute != self._about_dispute
        if self._talk is None:
            opening = coding_opening(self._task, self._ports, self._item)
            more = {"standing": self._wrong_with_standing(), "failing": listed(failed_ids(before))}
            question = Question(
                prompt=PROMPT,
                variables={**opening.variables, **more},
                reply_type=WrittenTests,
                check=lambda _: (),
                view=opening.view,
                hidden=opening.hidden,
                says_changes=True,
            )
            self._talk = conversation_about(self._ports, self._task, question)
        elif reasons and not is_news:
            self._talk.tell("_tests_sent_back", {"problems": list(reasons)})
        if dispute is not None and is_news:
            ruling = dispute.decision if dispute.is_wrong else ""
            disputed = {"test": dispute.test_id, "dispute": dispute.coder, "ruling": ruling}
            self._talk.tell("_test_disputed", disputed)
            self._about_dispute = dispute
        return self._talk.answer(purpose=purpose_of(PROMPT, self._task.visit, self.requests))

    def _wrong_with_standing(self) -> dict[str, Any]:
        """What is wrong with an earlier hand-off; empty where nothing is."""
        wrong = [problem.message] if (problem := self.problem()) else []
        if self._is_outdated:
            wrong.append("The sub-issue was edited since: hand over tests of what it asks for now.")
        if not wrong or self.handoff is None:
            return {}
        return {"handoff": canonical(self.handoff.as_json()), "problems": wrong}

    def _try(
        self, reply: WrittenTests, claim: Claim, before: TestReport, scope: Scope
    ) -> tuple[Trial, FirstRun | None]:
        """Every check in its order, with the tests in the tree; the run of the suite if it came so far."""
        if problem := self._first(escaping(claim, self._workspace)):
            return trial_for(problem), None
        if problems := list(beyond_tests(reply, claim, self._item, self._workspace)):
            return Trial(category="refused_change", problems=tuple(problems)), None
        wanted = changes(reply.files)
        if reason := self._workspace.apply(wanted):
            return Trial(category="refused_change", problems=(reason,)), None
        if tidied := ChangeOnTrial(wanted, FilesBefore(self._ports.service, self._workspace)).tidy():
            self._ports.say(f"{self._item.key}: formatted {', '.join(tidied)}")
        diagnostics = self._ports.service.validate(self._workspace, existing(claim.paths, self._workspace))
        checks = (*absent(claim, self._workspace), *unreadable(claim.paths, diagnostics))
        if problem := self._first(iter(checks)):
            return trial_for(problem), None
        what = "the test suite with the new tests" if scope is None else scope_in_words(scope)
        self._ports.say(f"{self._item.key}: running {what}")
        report = run_scope(self._ports, self._workspace, scope, who=self._item.key)
        run = FirstRun(
            report=as_called_in(before, report, but=claim.paths),
            before=before,
            modules=(*self._workspace.files(), *self._item.files, *proposed_paths(self._task)),
            wants_red=self._stored is None and wants_red(self._task),
            asked=self.handoff.asked if self.handoff else frozenset(),
            rewritten=rewritten(self._workspace, claim.paths),
        )
        if problem := self._first(tried(with_readers(claim, run).paths, run)):
            return trial_for(problem), None
        return Trial(), run

    def _first(self, problems: Iterator[GateProblem]) -> GateProblem | None:
        """The first problem that is not waived; those that are, are said."""
        for problem in problems:
            if problem.code not in WAIVABLE or problem.code not in self._task.conventions.test_warnings:
                return problem
            self._ports.say(f"{self._item.key}: WARNING: {problem.code}: {problem.message}")
        return None

    def _sent_back(self, trial: Trial, claim: Claim) -> ActionResult:
        self.sent_back = trial
        first = trial.problems[0].splitlines()[0]
        self._ports.say(f"{self._item.key}: tests sent back to their writer: {first}")
        return ActionResult(
            outcome=Outcome.NONE_VALID,
            summary=first,
            reasons=trial.problems,
            trace=(entry_of(trial.category.split()[0], claim),),
        )

    def _commit(self, reply: WrittenTests, claim: Claim, run: FirstRun) -> ActionResult:
        subject = titled_at(self._workspace, f"Add tests: {self._item.title}", TESTS, claim.paths)
        message = commit_message(self._task, self._item, subject=subject, notes=reply.notes)
        handoff = self._handoff(claim, run, self._workspace.commit(message))
        self.handoff, self.report, self.sent_back, self._unkept = handoff, run.report, None, ()
        self.restated |= restated_by(claim.paths, run)
        self.announced = announced(handoff, run.report)
        # A commit's name depends on its parent's date; the log of a visit must not.
        data = {name: value for name, value in handoff.as_json().items() if name != "commit"}
        self._ports.keep(HANDOFF_FILE, f"{canonical(handoff.as_json())}\n")
        red = handoff.red
        missing = f", and these are still to be written: {'; '.join(red.missing)}" if red.missing else ""
        summary = f"{handoff.test_path} ({handoff.source}): {red.failed} fail, {red.passed} pass{missing}"
        self._ports.say(f"{self._item.key}: tests handed over: {summary}")
        return ActionResult(
            outcome=Outcome.DONE,
            summary=summary,
            files=handoff.paths,
            trace=(TraceEntry(kind="test_handoff", data=data),),
        )

    def _handoff(self, claim: Claim, run: FirstRun, head: CommitOid) -> TestHandoff:
        digests = [sha256(self._workspace.read(path) or "") for path in claim.paths]
        sub_item = self._task.sub_item
        return TestHandoff(
            schema=1,
            work_item=self._task.item.number,
            sub_work_item=sub_item.number if sub_item else None,
            feature_id=claim.convention.feature_id,
            test_path=claim.place.path,
            extra_paths=claim.extra_paths,
            source=claim.place.source,
            sha256=digests[0],
            extra_sha256=tuple(digests[1:]),
            test_ids=tuple(case.id for case in run.report.cases if file_of(case.id) in claim.paths),
            red=red_run(claim.paths, run),
            written_by=WRITER,
            attempt=self.requests,
            commit=head,
            request=request_of(self._task),
        )

    def _claim(self, reply: WrittenTests) -> Claim:
        convention = convention_of(self._task, self._item)
        place = resolved(
            reported=normalised(reply.test_path),
            stored=self._stored.test_path if self._stored else "",
            planned=self._item.files,
            convention=convention,
        )
        extra = dict.fromkeys(path for path in map(normalised, reply.extra_paths) if path != place.path)
        return Claim(place, tuple(extra), written_by=WRITER, convention=convention)

    def _claim_of(self, handoff: TestHandoff) -> Claim:
        convention = convention_of(self._task, self._item)
        place = resolved(reported="", stored=handoff.test_path, convention=convention)
        return Claim(place, handoff.extra_paths, written_by=handoff.written_by, convention=convention)

    def _findings_about_tests(self) -> list[dict[str, Any]]:
        paths = self._stored.paths if self._stored else ()
        return [finding for finding in findings_to_resolve(self._task) if finding["file"] in paths]
