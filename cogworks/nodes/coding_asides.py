"""Actions that only look: whatever comes of them, the tree stays as it is and the flow goes on from where it was."""

from collections.abc import Callable, Sequence
from typing import Any

from cogworks.coding.actions import Action, Outcome
from cogworks.coding.context import CycleContext
from cogworks.coding.executor import Handler
from cogworks.coding.patches import file_actions
from cogworks.coding.results import ActionResult, Payload, failed
from cogworks.coding.testfacts import facts_of
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.nodes.contract import NodeShell, Workspace

MAX_FILES = 20
"""So many files are shown by one INSPECT_FILES; more would be cut off anyway."""


class Asides:
    """Carries out RUN_FOCUSED_TESTS, LINT, BUILD, INSPECT_FILES and ANALYZE_TRACEBACK on a working copy."""

    def __init__(
        self, shell: NodeShell, workspace: Workspace, latest: Callable[[], TestReport | None]
    ) -> None:
        """Args:
        latest: the last run of the tests; None before the first.
        """
        self._shell = shell
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
        report = self._shell.service.simulate(self._workspace, tests)
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
        found = self._shell.service.validate(self._workspace, list(files)) if files else ()
        return ActionResult(
            outcome=Outcome.DONE, files=tuple(files), output="\n".join(_line(each) for each in found)
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


def _line(found: Diagnostic) -> str:
    place = found.artifact if found.line is None else f"{found.artifact}:{found.line}"
    return f"{place}: {found.severity.value}: {found.category}: {found.message}"
