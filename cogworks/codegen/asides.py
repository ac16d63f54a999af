"""Actions that only look: whatever their outcome, the tree stays as it is and the flow goes on from where it was.

The actions of a coding visit, each kept within its time, and ended when people want it.

The audit of one coding visit's calls, kept in the visit's folder of the ledger as it grows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogworks.codegen.governed import ActionAudit
from cogworks.codegen.plan_bounds import file_actions
from cogworks.codegen.trial import facts_of
from cogworks.cycle.context import CycleContext
from cogworks.cycle.executor import DeadlinePassed, Handler
from cogworks.cycle.results import Action, ActionResult, Outcome, Payload, failed
from cogworks.cycle.signals import Forced
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.errors import BudgetReached, CogworksError, Interrupted, LostRace, VisitStopped
from cogworks.nodes.contract import NodePorts, Workspace
from cogworks.nodes.task import NodeTask
from cogworks.tools.records import Identity

MAX_FILES = 20
"""So many files are shown by one INSPECT_FILES; more would be cut off anyway."""


class Asides:
    """Carries out RUN_FOCUSED_TESTS, LINT, BUILD, INSPECT_FILES and ANALYZE_TRACEBACK on a working copy."""

    def __init__(
        self, ports: NodePorts, workspace: Workspace, latest: Callable[[], TestReport | None]
    ) -> None:
        """Args:
        latest: the last run of the tests; None before the first.
        """
        self._ports = ports
        self._workspace = workspace
        self._latest = latest

    def handlers(self) -> dict[Action, Handler]:
        """Who carries out which action."""
        return {
            Action.RUN_FOCUSED_TESTS: self._run_tests,
            Action.LINT: self._lint,
            Action.BUILD: self._build,
            Action.INSPECT_FILES: self._inspect,
            Action.ANALYZE_TRACEBACK: self._explain,
        }

    def _run_tests(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """The tests named by the parameter `tests`; by default those that failed last."""
        del deadline_ms
        tests = _named(payload.parameters, "tests") or context.failing
        if not tests:
            return failed("no_tests", "RUN_FOCUSED_TESTS: no test is named and none failed last")
        report = self._ports.service.simulate(self._workspace, tests)
        return ActionResult(outcome=Outcome.DONE, tests=facts_of(report), output=_traces(report))

    def _lint(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """The checks of the files named by the parameter `files`; by default of those that the last commit does not have."""
        del context, deadline_ms
        changed = file_actions(self._workspace.diff("HEAD"))
        files = _named(payload.parameters, "files") or tuple(
            path for path, action in changed.items() if action != "delete"
        )
        return self._checked(files)

    def _build(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """The checks of every file: what a service can say about the whole without running it."""
        del payload, context, deadline_ms
        return self._checked(self._workspace.files())

    def _checked(self, files: Sequence[str]) -> ActionResult:
        diagnostics = self._ports.service.validate(self._workspace, list(files)) if files else ()
        return ActionResult(
            outcome=Outcome.DONE, files=tuple(files), output="\n".join(_line(each) for each in diagnostics)
        )

    def _inspect(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """The texts of the files named by the parameter `files`."""
        del context, deadline_ms
        files = _named(payload.parameters, "files")[:MAX_FILES]
        if not files:
            return failed("no_files", "INSPECT_FILES: no file is named; give the parameter `files`")
        texts = {path: self._workspace.read(path) for path in files}
        shown = [f"{path}: no such text file" if text is None else f"{path}:\n{text}" for path, text in texts.items()]  # fmt: skip
        there = tuple(path for path, text in texts.items() if text is not None)
        return ActionResult(outcome=Outcome.DONE, files=there, output="\n".join(shown))

    def _explain(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        """What the last run of the tests said of each failure, and the working copy's files that it names."""
        del payload, context, deadline_ms
        report = self._latest()
        if report is None:
            return failed("no_tests", "ANALYZE_TRACEBACK: the tests have not run yet")
        output = _traces(report)
        named = tuple(path for path in self._workspace.files() if path in output)
        return ActionResult(outcome=Outcome.DONE, files=named, output=output)


def _named(parameters: dict[str, Any], name: str) -> tuple[str, ...]:
    return tuple(str(each) for each in parameters.get(name, ()))


def _traces(report: TestReport) -> str:
    failures = [
        f"{case.id} {case.outcome}:\n{case.message}"
        for case in report.cases
        if case.outcome in ("failed", "error")
    ]
    return "\n".join([*report.collection_errors, *failures])


def _line(diagnostic: Diagnostic) -> str:
    place = diagnostic.artifact if diagnostic.line is None else f"{diagnostic.artifact}:{diagnostic.line}"
    return f"{place}: {diagnostic.severity.value}: {diagnostic.category}: {diagnostic.message}"


PEOPLE = "people"
"""The source of signals that stand for what people want."""


def wishes(ports: NodePorts) -> Sequence[Forced]:
    """What people want of the run now.

    Raises:
        CogworksError: the visit is no longer ours, or its time is over.
    """
    try:
        ports.check()
    except VisitStopped as stop:
        return [Forced(PEOPLE, Action.ABORT, str(stop))]
    return []


def guarded(handlers: Mapping[Action, Handler], ports: NodePorts) -> dict[Action, Handler]:
    """The same handlers for a cycle to use."""
    return {action: _guarded(handler, ports) for action, handler in handlers.items()}


def _guarded(handler: Handler, ports: NodePorts) -> Handler:
    def carry_out(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        try:
            return _in_time(handler, ports, payload, context, deadline_ms)
        except VisitStopped as stop:
            # The next cycle meets the same wish as a signal, so that the log ends with a decision and its reason.
            return failed("stopped", str(stop))

    return carry_out


def _in_time(
    handler: Handler, ports: NodePorts, payload: Payload, context: CycleContext, deadline_ms: int
) -> ActionResult:
    limit_s = deadline_ms / 1000
    began_s = ports.now()
    try:
        with ports.within(limit_s):
            return handler(payload, context, deadline_ms)
    except (BudgetReached, LostRace, Interrupted):
        raise
    except CogworksError as error:
        if ports.now() - began_s < limit_s:
            raise
        # Whatever broke, broke because it was ended with the action's time.
        raise DeadlinePassed(
            f"{payload.action} took more than {limit_s:g} s, and what it had started was ended"
        ) from error


def audit_of(task: NodeTask, ports: NodePorts) -> ActionAudit:
    """An audit in the name of a visit."""
    visit = task.visit
    identity = Identity(
        run_id=visit.visit_key,
        node=visit.node,
        sub_item=visit.sub_item or "",
        trace_id=f"{visit.visit_key}/{visit.attempt}",
    )
    return ActionAudit(identity, now=ports.now, keep=ports.keep)
