"""A proposed change as one transaction on the node's working copy: kept as a commit, or the tree is as it was.

What judges a change in the node's working copy; remembers what was printed, for those who have to hear of it.

The words of the commits on a sub-work-item's branch.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from cogworks.codebase.changes import FileChange, normalised
from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import diff_of
from cogworks.codegen.plan_bounds import bounds_of
from cogworks.codegen.suite import Scope, near_tests, run_scope, run_suite, scope_in_words
from cogworks.codegen.trial import ChangeOnTrial, FilesBefore, Observed, steadied, trial_of
from cogworks.cycle.feedback import Trial
from cogworks.cycle.results import MAX_LISTED, TraceEntry
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.leaving import in_commit_message, in_title
from cogworks.nodes.asking import changes
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.nodes.customs import titled_at
from cogworks.nodes.replies import CodeChange, PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.measure import (
    Measurement,
    file_of,
)
from cogworks.repair.transact.outcomes import Result, Terms, TransactionEvent
from cogworks.repair.transact.transaction import TransactionPorts, transact
from cogworks.repair.transact.validators import HANDED_OVER
from cogworks.repair.violations import Reading, Step, TestRules
from cogworks.vocabulary import VISIT_TRAILER, CommitOid, RunId


class ChangeChecks:
    """The domain service's view of the working copy; obeys `cogworks.repair.transact.transaction.Checks`."""

    def __init__(self, ports: NodePorts, workspace: Workspace, *, who: str) -> None:
        self._ports = ports
        self._workspace = workspace
        self._who = who
        self._scope: Scope = None
        self._reports: list[TestReport] = []
        self._findings: Sequence[Diagnostic] = ()
        self.whole: TestReport | None = None
        """The last run of the whole suite since `forget`."""

    def forget(self, scope: Scope = None) -> None:
        """Begin anew, for the next transaction, whose suite is made of `scope`."""
        self._scope = scope
        self._reports, self._findings, self.whole = [], (), None

    @property
    def observed(self) -> Observed:
        return Observed(tuple(self._reports), self._findings)

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        self._findings = self._ports.service.validate(self._workspace, paths) if paths else ()
        return self._findings

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        """Like every run of the node's tests this one ends at the service's own limit, or with its action."""
        del timeout_s
        what = f"{len(tests)} of the tests" if tests else scope_in_words(self._scope)
        self._ports.say(f"{self._who}: running {what}")
        if tests:
            report = run_suite(self._ports, self._workspace, tests, who=self._who)
        else:
            report = run_scope(self._ports, self._workspace, self._scope, who=self._who)
        self._reports.append(report)
        if not tests:
            self.whole = report
        return report

    def read(self, images: Mapping[str, str | None]) -> Reading:
        """Nothing: syntax is the static gate's, and public names change as the approved interfaces say."""
        del images
        return Reading()


MAX_SUBJECT_CHARS = 72


def commit_message(task: NodeTask, item: PlannedItem, *, subject: str, notes: str) -> str:
    """A commit's message: what it does, for which sub-work-item, and the key of the visit that made it."""
    part = f"Sub-work-item {item.key} of" if task.visit.sub_item else "For"
    body = [
        f"{part} #{task.item.number}: {in_title(item.title)}",
        in_commit_message(notes),
        f"{VISIT_TRAILER}{task.visit.visit_key}",
    ]
    return (
        "\n\n".join(
            [
                shorten(in_title(subject), MAX_SUBJECT_CHARS, placeholder=" …"),
                *(part.strip() for part in body if part.strip()),
            ]
        )
        + "\n"
    )


_WITH_TESTS = TestRules(
    files=(), configuration=tuple(name for name in TestRules().configuration if name != "conftest.py")
)
"""Where tests come with the code, its writer changes them too."""
_OF_THE_MOMENT = ("head", "oid")
"""A commit's name depends on its parent's date; the log of a visit must not."""


@dataclass(frozen=True)
class Wanted:
    """What a change has to bring, and what it is measured against."""

    before: Measurement
    """The tree without it."""
    announced: tuple[str, ...]
    """The files whose tests it is about."""
    regressions: tuple[str, ...]
    """Test files of finished work that its tree holds, as they were handed over."""
    handed_over: tuple[str, ...] | None
    """Every file of the tests that were there first; None: the tests come with the code."""
    failing_before: tuple[str, ...]
    """Tests of those files that failed before they were written, and may go on failing."""
    own: Collection[str]
    """Files that only this sub-work-item brought in."""
    granted: Mapping[str, str]
    """Files beyond the plan that were asked for and granted before: path -> reason."""
    scope: Scope = None
    """What the whole suite is made of."""
    is_slow: bool = False
    """Whether the whole suite takes so long that the tests near a change are worth a run before it."""

    @property
    def selection(self) -> Selection:
        """The tests between a change and its commit; those that were handed over have to pass, all of them."""
        is_first = self.handed_over is not None
        return Selection(
            landmark=self.announced if is_first else (),
            may_fail=self.failing_before if is_first else (),
            proving=(*(() if is_first else self.announced), *self.regressions),
            regression=self.regressions,
            full=True,
        )


@dataclass(frozen=True)
class Tried:
    """What became of one change."""

    trial: Trial
    result: Result | None = None
    """None: it never came to a transaction."""
    after: TestReport | None = None
    """The whole suite with a kept change in it; flaky tests have the outcome in which they passed."""
    reruns: tuple[TestReport, ...] = ()
    """Runs of single tests with a kept change in the tree."""
    trace: tuple[TraceEntry, ...] = ()


class Transactions:
    """The transactions of one visit."""

    def __init__(self, task: NodeTask, ports: NodePorts, *, workspace: Workspace, item: PlannedItem) -> None:
        self._task = task
        self._ports = ports
        self._workspace = workspace
        self._item = item
        self._base = workspace.head
        self._files = FilesBefore(ports.service, workspace)
        self._checks = ChangeChecks(ports, workspace, who=item.key)

    def try_out(self, reply: CodeChange, wanted: Wanted, *, number: int) -> Tried:
        """Commit a change when nothing is worse with it and its tests prove it.

        Args:
            number: of the attempt; names the step.
        """
        # What a transaction that broke off half-way left behind is no part of this one.
        self._workspace.roll_back()
        if problems := _missing_tests(reply, self._workspace):
            return Tried(Trial(category="missing_tests", problems=tuple(problems)))
        bounds = bounds_of(
            self._task,
            self._item,
            besides=(*(wanted.handed_over or ()), *wanted.own),
            granted=wanted.granted,
        )
        if bounds is not None and (beyond := tuple(bounds.problems(reply))):
            return _out_of_scope(self._item, beyond)
        written, refused = self._formatted(changes(reply.files))
        if refused is not None:
            return Tried(Trial(category="refused_change", problems=(refused,)))
        tree = self._workspace.transactions()
        around = tree.view_of([normalised(each.path) for each in written])
        diff = diff_of(written, around.sources)
        if not diff.files:
            problem = "the files are the same as before; nothing would change"
            return Tried(Trial(category="no_change", problems=(problem,)))
        trace: list[TraceEntry] = []
        self._checks.forget(wanted.scope)
        files = bounds.within(diff.paths, reply) if bounds else diff.paths
        terms = self._terms(reply, diff, wanted, files=files, number=number)
        ports = TransactionPorts(
            tree=tree, checks=self._checks, tell=lambda moment: trace.append(_entry(moment))
        )
        result = transact(render(diff), terms, ports)
        return self._ended(result, terms.selection, tuple(trace))

    def _formatted(self, wanted: tuple[FileChange, ...]) -> tuple[tuple[FileChange, ...], str | None]:
        """The change in the project's own formatting, or why it cannot be written; the tree is as it was."""
        if reason := self._workspace.apply(wanted):
            return (), reason
        change = ChangeOnTrial(wanted, self._files)
        if tidied := change.tidy():
            self._ports.say(f"{self._item.key}: formatted {', '.join(tidied)}")
        self._workspace.roll_back()
        return tuple(change.changes), None

    def _terms(
        self, reply: CodeChange, diff: Diff, wanted: Wanted, *, files: tuple[str, ...], number: int
    ) -> Terms:
        limits = self._task.conventions.change_limits
        step = Step(
            id=f"{self._item.key.removeprefix('#')}-{number}",
            files=files,
            create=tuple(file.path for file in diff.files if file.kind == "create"),
            delete=tuple(file.path for file in diff.files if file.kind == "delete"),
            max_files=limits.max_files_per_diff,
            max_changed_lines=limits.max_loc_changes,
            max_diff_bytes=_MAX_DIFF_BYTES,
            counts_new_files=False,
            handed_over=wanted.handed_over or (),
            own_tests=tuple(sorted(wanted.own)),
            may_watch=True,
            asked=self._task.conventions.manifests,
            tests=_WITH_TESTS if wanted.handed_over is None else TestRules(),
        )
        return Terms(
            run=RunId(self._task.visit.visit_key),
            sub_item=self._item.key,
            step=step,
            selection=self._selection(diff, wanted),
            base=self._base,
            max_total_churn=limits.max_total_churn,
            message=commit_message(
                self._task,
                self._item,
                subject=titled_at(self._workspace, reply.summary, self._task.kind, diff.paths),
                notes=reply.notes,
            ),
            before=wanted.before,
        )

    def _selection(self, diff: Diff, wanted: Wanted) -> Selection:
        """The wanted tests; of a slow suite those near the change before the others."""
        if not wanted.is_slow or wanted.scope is not None:
            return wanted.selection
        tests = {file_of(test) for test in wanted.before.passing}
        near = near_tests(self._ports, self._workspace, diff.paths, tests)
        return wanted.selection.model_copy(update={"smoke": near})

    def _ended(self, result: Result, selection: Selection, trace: tuple[TraceEntry, ...]) -> Tried:
        observed = self._checks.observed
        trial = _with_dispute(trial_of(result, observed, selection))
        whole = self._checks.whole
        if not result.is_kept or whole is None or result.after is None:
            return Tried(trial, result, trace=trace)
        reruns = tuple(report for report in observed.reports if report is not whole)
        after = steadied(whole, reruns, result.after.flaky)
        return Tried(trial, result, after, reruns, trace)


_MAX_DIFF_BYTES = 2_000_000
SCOPE_VIOLATION: Final = "SCOPE_VIOLATION"
"""The kind of problem of a change that goes beyond its plan."""


def _with_dispute(trial: Trial) -> Trial:
    """The verdict, with the way out for a writer who may not change a test and holds it to be wrong."""
    hint = ". If one of them is wrong, answer with `test_dispute`"
    problems = (f"{each}{hint}" if each.endswith(HANDED_OVER) else each for each in trial.problems)
    return trial.model_copy(update={"problems": tuple(problems)})


def _out_of_scope(item: PlannedItem, problems: tuple[str, ...]) -> Tried:
    data = {"sub_item": item.key, "problems": list(problems[:MAX_LISTED])}
    return Tried(
        Trial(category=SCOPE_VIOLATION, problems=problems),
        trace=(TraceEntry(kind="scope_violation", data=data),),
    )


def _missing_tests(reply: CodeChange, workspace: Workspace) -> list[str]:
    if not reply.tests:
        return ["no test file is listed in `tests`; add tests that fail without the change and pass with it"]
    gone = {normalised(file.path) for file in reply.files if file.action == "delete"}
    written = {normalised(file.path) for file in reply.files if file.action != "delete"}
    return [
        f"{path} is listed in `tests` and does not exist; give the path under which the tests were written"
        for path in reply.tests
        if path not in written and (path in gone or workspace.read(path) is None)
    ]


def _entry(moment: TransactionEvent) -> TraceEntry:
    data = {name: _short(value) for name, value in moment.data.items() if name not in _OF_THE_MOMENT}
    return TraceEntry(kind=moment.kind, data={"step": moment.step, **data})


def _short(value: object) -> object:
    return value[:MAX_LISTED] if isinstance(value, list) else value


@dataclass(frozen=True)
class Kept:
    """A change that was committed."""

    reply: CodeChange
    head: CommitOid
    after: TestReport
    """The suite with the change in it."""
    tree: str
    parent: CommitOid | None = None
    """Where the working copy stood before it; None for handed-over tests, which are not taken back."""
    earlier: "Kept | None" = None
    """The change that was kept before it in this visit."""
    reruns: tuple[TestReport, ...] = ()
    """Further runs of single tests with the change in it."""

    @property
    def replies(self) -> tuple[CodeChange, ...]:
        """The answers that were kept in this visit, the first one first."""
        return (*(self.earlier.replies if self.earlier else ()), self.reply)
