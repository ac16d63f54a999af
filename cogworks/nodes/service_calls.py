"""Nodes that ask the domain service: what it says of the code, as an output that edges can decide on."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogworks.coding.patches import file_actions
from cogworks.domain_services.failures import ServiceFailed
from cogworks.domain_services.messages import Diagnostic
from cogworks.nodes.contract import Failed, NodeProcedure, NodeShell, NodeTask, Outcome, Succeeded, Workspace
from cogworks.nodes.interface_design import diagnostic_line, left_out
from cogworks.pipeline.graph import Node
from cogworks.vocabulary import Severity

MAX_FAILURES = 50
"""So many failed tests are told one by one."""
Asking = Callable[[Workspace, Sequence[str]], Sequence[Diagnostic]]
_HIDDEN = (".cogworks/", ".git/")


def procedure_of_service(node: Node) -> NodeProcedure:
    """What a node with `method = "domain_service"` does; KeyError when there is no such operation."""
    operation = OPERATIONS[node.call or node.id]

    def run(task: NodeTask, shell: NodeShell) -> Outcome:
        workspace = shell.workspace()
        workspace.roll_back()
        shell.say(f"{node.id}: asking the domain service to {node.call or node.id}")
        try:
            return operation(task, shell, workspace)
        except ServiceFailed as error:
            return Failed(reason=f"{node.id}: {error}", category="service_failed")

    return run


def _validate(task: NodeTask, shell: NodeShell, workspace: Workspace) -> Succeeded:
    return _diagnosed(task, shell, workspace, shell.service.validate)


def _review_rules(task: NodeTask, shell: NodeShell, workspace: Workspace) -> Succeeded:
    return _diagnosed(task, shell, workspace, shell.service.review)


def _validate_deps(task: NodeTask, shell: NodeShell, workspace: Workspace) -> Succeeded:
    return _diagnosed(task, shell, workspace, shell.service.dependencies)


def _diagnosed(task: NodeTask, shell: NodeShell, workspace: Workspace, ask: Asking) -> Succeeded:
    """Of the files that the branch changes; where it changes none, of the whole repository."""
    actions = file_actions(workspace.diff(task.base_branch))
    changed = [path for path, action in actions.items() if action != "delete"]
    paths = changed or [path for path in workspace.files() if not path.startswith(_HIDDEN)]
    found = ask(workspace, sorted(paths))
    blocking = [each for each in found if each.severity is Severity.BLOCKING]
    output = {
        "passed": not blocking,
        "diagnostics": [each.model_dump(mode="json") for each in found],
        "blocking": len(blocking),
        "checked": len(paths),
        **left_out(shell),
    }
    first = f": {diagnostic_line(blocking[0])}" if blocking else ""
    return Succeeded(
        output=output,
        summary=f"{len(paths)} file(s) checked, {len(blocking)} blocking of {len(found)} diagnostic(s){first}",
    )


def _simulate(task: NodeTask, shell: NodeShell, workspace: Workspace) -> Succeeded:
    """The whole test suite."""
    del task
    report = shell.service.simulate(workspace)
    counts = Counter(case.outcome for case in report.cases)
    bad = [case for case in report.cases if case.outcome in ("failed", "error")]
    output: dict[str, Any] = {
        "passed": report.passed,
        "tests": {name: counts[name] for name in ("passed", "failed", "error", "skipped")},
        "failures": [{"id": case.id, "message": case.message} for case in bad[:MAX_FAILURES]],
        "collection_errors": list(report.collection_errors),
        "timed_out": report.timed_out,
        **left_out(shell),
    }
    late = ", out of time" if report.timed_out else ""
    return Succeeded(
        output=output, summary=f"{counts['passed']} of {len(report.cases)} tests pass, {len(bad)} fail{late}"
    )


OPERATIONS: Mapping[str, Callable[[NodeTask, NodeShell, Workspace], Succeeded]] = {
    "validate": _validate,
    "review_rules": _review_rules,
    "validate_deps": _validate_deps,
    "simulate": _simulate,
}
"""Every operation of a domain service that a node may call."""
