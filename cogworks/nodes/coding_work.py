"""What each action of the coding cycle does to one sub-work-item's working copy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cogworks.coding.actions import Action, Outcome
from cogworks.coding.canonical import sha256
from cogworks.coding.comparison import compare
from cogworks.coding.context import CycleContext
from cogworks.coding.executor import Handler
from cogworks.coding.feedback import (
    Attempt,
    Trial,
    fingerprint,
    history,
    judge_comparison,
    judge_diagnostics,
)
from cogworks.coding.patches import added_files, without_object_names
from cogworks.coding.results import ActionResult, Candidate, Payload, TraceEntry
from cogworks.coding.testfacts import facts_of
from cogworks.domain_services.messages import TestReport
from cogworks.nodes.artifacts import planned_item
from cogworks.nodes.asking import as_previous, purpose_of, retry_variables
from cogworks.nodes.coding_prompt import coding_variables
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Workspace
from cogworks.nodes.deciding import changes, reason_for_a_person
from cogworks.nodes.replies import CodeChange, PlannedItem
from cogworks.nodes.suite import run_suite
from cogworks.vocabulary import CommitOid


@dataclass(frozen=True)
class Kept:
    """A change that was committed."""

    reply: CodeChange
    head: CommitOid
    after: TestReport
    """The suite with the change in it."""
    tree: str


class CodingWork:
    """One visit's work: carries out actions, and remembers what no log has room for."""

    def __init__(self, task: NodeTask, shell: NodeShell) -> None:
        self._task = task
        self._shell = shell
        self.workspace: Workspace = shell.workspace()
        self.workspace.roll_back()
        self.item: PlannedItem = planned_item(task)
        self.own = _own_files(task, self.workspace, self.item)
        """Files that only this sub-work-item brought in, on an earlier visit."""
        self.before: TestReport | None = None
        """The suite as it was found; None until it ran."""
        self.kept: Kept | None = None
        self.requests = 0
        self.refusal: Failed | None = None
        """What a person has to decide."""
        self._variables: Mapping[str, Any] | None = None
        self._previous: CodeChange | None = None

    def handlers(self) -> dict[Action, Handler]:
        """Who carries out which action."""
        return {
            Action.RUN_TESTS: self._run_tests,
            Action.ANALYZE_FAILURE: self._analyze,
            Action.GENERATE_PATCH: self._generate,
            Action.APPLY_PATCH: self._transact,
            Action.VALIDATE: self._validate,
        }

    def _run_tests(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        tree = self._tree()
        if self.before is None:
            self._shell.say(f"{self.item.key}: running the test suite as it is")
            self.before = run_suite(self._shell, self.workspace, who=self.item.key)
            return self._first_run(self.before, tree)
        if self.kept is not None and self.kept.tree == tree:
            # The transaction ran the whole suite on these very files.
            report = self.kept.after
        else:
            self._shell.say(f"{self.item.key}: running the test suite")
            report = run_suite(self._shell, self.workspace, who=self.item.key)
        facts = facts_of(report, before=self.before)
        return ActionResult(outcome=facts.outcome, tests=facts, tree=tree)

    def _first_run(self, report: TestReport, tree: str) -> ActionResult:
        if report.timed_out:
            self.refusal = Failed(
                reason="code_generation: the test suite did not finish in time before anything was changed. "
                "Make it faster or raise the service's time limit, then remove the trigger label and set it again.",
                category="service_failed",
            )
            return ActionResult(outcome=Outcome.ERROR, error_code="timeout", halt="the suite is too slow")
        facts = facts_of(report)
        return ActionResult(outcome=facts.outcome, tests=facts, tree=tree)

    def _analyze(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        # The sub-work-item is the one place to work on: the plan has made it small.
        del payload, context, deadline_ms
        return ActionResult(outcome=Outcome.FOUND, landmarks=(self.item.key,))

    def _generate(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, deadline_ms
        self.requests += 1
        self._shell.say(f"{self.item.key}: writing code and tests (attempt {self.requests})")
        reply = self._shell.model.ask(
            "code_generation",
            {**self._asked(), **self._again(context), "history": history(context.attempts)},
            CodeChange,
            purpose=purpose_of("code_generation", self._task.visit, self.requests),
        )
        self._previous = reply
        if refused := _reason_for_a_person(reply):
            self.refusal = refused
            return ActionResult(outcome=Outcome.NONE_VALID, halt=refused.reason)
        change = reply.model_dump(mode="json")
        return ActionResult(
            outcome=Outcome.PROPOSED, candidates=(Candidate(id=_fingerprint(reply), change=change),)
        )

    def _asked(self) -> Mapping[str, Any]:
        if self._variables is None:
            self._variables = coding_variables(self._task, self.workspace, self.item)
        return self._variables

    def _again(self, context: CycleContext) -> Mapping[str, Any]:
        if self._previous is None or not context.attempts:
            return retry_variables()
        return retry_variables(as_previous(self._previous), context.attempts[-1].trial.problems)

    def _transact(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """One transaction: the change is committed when nothing is worse, else the tree is as it was."""
        del context, deadline_ms
        reply = CodeChange.model_validate(payload.parameters["change"])
        # What a transaction that broke off half-way left behind is no part of this one.
        self.workspace.roll_back()
        trial, after = self._try(reply)
        begun = TraceEntry(kind="txn.applied", data={"files": [file.path for file in reply.files]})
        if trial.is_kept and after is not None:
            head = self.workspace.commit(self._commit_message(reply))
            self.kept = Kept(reply=reply, head=head, after=after, tree=self._tree())
            return ActionResult(
                outcome=Outcome.COMMITTED,
                tree=self.kept.tree,
                files=tuple(sorted(file.path for file in reply.files)),
                trace=(begun, TraceEntry(kind="txn.commit")),
            )
        self.workspace.roll_back()
        first = trial.problems[0].splitlines()[0]
        self._shell.say(f"{self.item.key}: attempt {self.requests} refused: {first}")
        return ActionResult(
            outcome=Outcome.ROLLED_BACK,
            summary=first,
            attempt=Attempt(fingerprint=_fingerprint(reply), trial=trial),
            reasons=trial.problems,
            trace=(begun, TraceEntry(kind="txn.rollback", data={"category": trial.category})),
        )

    def _try(self, reply: CodeChange) -> tuple[Trial, TestReport | None]:
        """Apply a change and have it judged; the tree is left with the change in it.

        Returns the verdict, and the run of the suite if it came so far.
        """
        if reason := self.workspace.apply(changes(reply.files)):
            return Trial(category="refused_change", problems=(reason,)), None
        if problems := _missing_tests(reply, self.workspace):
            return Trial(category="missing_tests", problems=tuple(problems)), None
        if self.workspace.diff("HEAD") == "":
            return Trial(
                category="no_change", problems=("the files are the same as before; nothing would change",)
            ), None
        verdict = self._diagnosed(reply)
        if not verdict.is_kept:
            return verdict, None
        self._shell.say(f"{self.item.key}: running the test suite")
        after = run_suite(self._shell, self.workspace, who=self.item.key)
        before = self.before or TestReport(cases=())
        return judge_comparison(compare(before, after, announced=reply.tests, own=self.own)), after

    def _validate(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        verdict = self._diagnosed(self.kept.reply) if self.kept else Trial()
        if verdict.is_kept:
            return ActionResult(outcome=Outcome.GREEN)
        return ActionResult(outcome=Outcome.DIAGNOSTICS, reasons=verdict.problems)

    def _diagnosed(self, reply: CodeChange) -> Trial:
        written = sorted(file.path for file in reply.files if file.action != "delete")
        return judge_diagnostics(self._shell.service.validate(self.workspace, written))

    def _tree(self) -> str:
        """A name for the files as they are; the same on every machine."""
        return sha256(without_object_names(self.workspace.diff(self._task.base_branch)))

    def _commit_message(self, reply: CodeChange) -> str:
        body = [
            f"Sub-work-item {self.item.key} of #{self._task.item.number}: {self.item.title}",
            reply.notes,
            f"Cogworks-Visit: {self._task.visit.visit_key}",
        ]
        return "\n\n".join([reply.summary, *(part.strip() for part in body if part.strip())]) + "\n"


def _own_files(task: NodeTask, workspace: Workspace, item: PlannedItem) -> frozenset[str]:
    if task.visit.ordinal == 1:
        return frozenset()
    added = added_files(workspace.diff(task.base_branch))
    # Merged dependencies are part of the same diff; their files are not ours.
    return added & frozenset(item.files) if task.merge_branches else added


def _missing_tests(reply: CodeChange, workspace: Workspace) -> list[str]:
    if not reply.tests:
        return ["no test file is listed in `tests`; add tests that fail without the change and pass with it"]
    return [
        f"{path} is listed in `tests` and does not exist; give the path under which the tests were written"
        for path in reply.tests
        if workspace.read(path) is None
    ]


def _reason_for_a_person(reply: CodeChange) -> Failed | None:
    return reason_for_a_person(
        "code_generation",
        reply.files,
        missing_capability=reply.missing_capability,
        bounds="specification and interfaces do",
    )


def _fingerprint(reply: CodeChange) -> str:
    files = [(file.path, file.action, file.content) for file in reply.files]
    return fingerprint([*files, *((path, "test", "") for path in reply.tests)])
