"""Small deterministic procedures that any pipeline may call: check paths, open a pull request, label, comment.

Nodes that run a script of a built-in pipeline: its input, and what its end means.

Nodes that ask the domain service: what it says of the code, as an output that edges can decide on.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogworks.codebase.asking import is_asked_about
from cogworks.codebase.changes import path_problem, protected_by
from cogworks.codebase.scripts import ScriptRun
from cogworks.codegen.plan_bounds import file_actions
from cogworks.domain_services.messages import Diagnostic
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import NodeFailed
from cogworks.forge.effects import PostComment, SetLabels
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure, Outcome, Succeeded, Workspace, left_out
from cogworks.nodes.from_prompt import pull_request_for
from cogworks.nodes.intake import issue
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.graph import Node
from cogworks.vocabulary import IssueNumber, Severity

COMMENT_FIELD = "comment"


def validate_paths(node: Node, task: NodeTask, ports: NodePorts) -> Outcome:
    """Whether every file that its inputs name under `files` may be written by a machine."""
    del ports
    paths = [path for slot in node.inputs for path in _paths_of(task.inputs.get(slot))]
    problems = [
        f"{path}: {problem}" for path in paths if (problem := _problem(path, task.conventions.manifests))
    ]
    return Succeeded(
        output={"passed": not problems, "paths": paths, "problems": problems},
        summary=f"{len(paths)} path(s), {len(problems)} of them refused",
    )


def open_pull_request(node: Node, task: NodeTask, ports: NodePorts) -> Outcome:
    """The pull request of the node's branch, whose commits an earlier node pushed; adopted where there is one."""
    if task.branch == task.item.default_branch:
        return Failed(
            reason=f"{node.id} has no branch to open a pull request from; give the node the `slug` of the node that "
            "pushes it.",
            category="escalated",
        )
    ports.say(f"opening the pull request of {task.branch}")
    texts = [value for slot in node.inputs if isinstance(value := task.inputs.get(slot), Mapping)]
    title = _first_text(texts, "title") or f"{node.title} for #{task.item.number}"
    effect = pull_request_for(node, task, title=" ".join(title.split()), text=_first_text(texts, "summary"))
    return Succeeded(
        output={"passed": True, "head": task.branch, "base": task.base_branch, "title": effect.title},
        effects=(effect,),
        summary=f"pull request from {task.branch} into {task.base_branch}",
    )


def set_labels(node: Node, task: NodeTask, ports: NodePorts) -> Outcome:
    """The node's `labels` on the issue, or on the sub-issue that the visit is about."""
    del ports
    return Succeeded(
        output={"passed": True, "labels": list(node.labels)},
        effects=(SetLabels(number=_number(task), add=node.labels),),
        summary=f"labelled {', '.join(node.labels)}",
    )


def comment(node: Node, task: NodeTask, ports: NodePorts) -> Outcome:
    """The text `comment` of the first input that has one, posted once."""
    del ports
    texts = [value for slot in node.inputs if isinstance(value := task.inputs.get(slot), Mapping)]
    text = _first_text(texts, COMMENT_FIELD)
    if not text:
        return Failed(
            reason=f"{node.id}: none of its inputs ({', '.join(node.inputs)}) has a text `{COMMENT_FIELD}`; let the "
            "node before it put one out.",
            category="escalated",
        )
    number = _number(task)
    effect = PostComment(number=number, topic=f"node-{node.id}", body=text, visit_key=task.visit.visit_key)
    return Succeeded(
        output={"passed": True, "number": number}, effects=(effect,), summary=f"commented on #{number}"
    )


def _paths_of(value: Any) -> list[str]:
    files = value.get("files", ()) if isinstance(value, Mapping) else ()
    return [file["path"] for file in files if isinstance(file, Mapping) and isinstance(file.get("path"), str)]


def _problem(path: str, manifests: Sequence[str]) -> str | None:
    if problem := path_problem(path):
        return problem
    if protection := protected_by(path):
        return f"is protected by the pattern {protection!r}"
    return "says what is installed or how tests run" if is_asked_about(path, manifests) else None


def _first_text(values: list[Mapping[str, Any]], field: str) -> str:
    texts = (value[field] for value in values if isinstance(value.get(field), str))
    return next((text.strip() for text in texts if text.strip()), "")


def _number(task: NodeTask) -> IssueNumber:
    own = task.sub_item.number if task.sub_item else None
    return own or task.item.number


MAX_KEPT_CHARS = 20_000
"""Of each of the two outputs, in the ledger."""


def procedure_of_script(node: Node) -> NodeProcedure:
    """What a deterministic node with `method = "script"` does."""

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        done = ran(node, task, ports)
        if done.exit_code is None:
            return Failed(reason=f"{node.id}: its script was killed at the time limit", category="timed_out")
        passed = done.exit_code == 0
        answer = decided(node, done) if passed and done.stdout.strip() else {}
        output = {
            "passed": passed,
            "exit_code": done.exit_code,
            "stdout": done.stdout[:MAX_KEPT_CHARS],
            "stderr": done.stderr[:MAX_KEPT_CHARS],
            **answer,
        }
        return Succeeded(output=output, summary=f"script {node.call or node.id} ended with {done.exit_code}")

    return run


def ran(node: Node, task: NodeTask, ports: NodePorts) -> ScriptRun:
    """Run the node's script with the issue and the declared inputs as one JSON object on its standard input."""
    name = node.call or node.id
    ports.say(f"{node.id}: running script {name}")
    request = {"item": issue(task.item), "inputs": {slot: task.inputs.get(slot) for slot in node.inputs}}
    return ports.script(name, json.dumps(request, sort_keys=True))


def decided(node: Node, done: ScriptRun) -> dict[str, Any]:
    """The JSON object that a script printed.

    Raises: NodeFailed when it printed something else.
    """
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise NodeFailed(
            f"{node.id}: script {node.call or node.id!r} (exit code {done.exit_code}) printed no JSON object; its "
            f"standard error ends with: {done.stderr[-500:].strip() or 'nothing'}"
        )
    return answer


MAX_FAILURES = 50
"""So many failed tests are listed one by one."""
Asking = Callable[[Workspace, Sequence[str]], Sequence[Diagnostic]]
_HIDDEN = (".cogworks/", ".git/")


def procedure_of_service(node: Node) -> NodeProcedure:
    """What a node with `method = "domain_service"` does; KeyError when there is no such operation."""
    operation = OPERATIONS[node.call or node.id]

    def run(task: NodeTask, ports: NodePorts) -> Outcome:
        workspace = ports.workspace()
        workspace.roll_back()
        ports.say(f"{node.id}: asking the domain service to {node.call or node.id}")
        try:
            return operation(task, ports, workspace)
        except ServiceFailed as error:
            return Failed(reason=f"{node.id}: {error}", category="service_failed")

    return run


def _validate(task: NodeTask, ports: NodePorts, workspace: Workspace) -> Succeeded:
    return _diagnosed(task, ports, workspace, ports.service.validate)


def _review_rules(task: NodeTask, ports: NodePorts, workspace: Workspace) -> Succeeded:
    return _diagnosed(task, ports, workspace, ports.service.review)


def _validate_deps(task: NodeTask, ports: NodePorts, workspace: Workspace) -> Succeeded:
    return _diagnosed(task, ports, workspace, ports.service.dependencies)


def _diagnosed(task: NodeTask, ports: NodePorts, workspace: Workspace, ask: Asking) -> Succeeded:
    """Of the files that the branch changes; where it changes none, of the whole repository."""
    actions = file_actions(workspace.diff(task.base_branch))
    changed = [path for path, action in actions.items() if action != "delete"]
    paths = changed or [path for path in workspace.files() if not path.startswith(_HIDDEN)]
    diagnostics = ask(workspace, sorted(paths))
    blocking = [each for each in diagnostics if each.severity is Severity.BLOCKING]
    output = {
        "passed": not blocking,
        "diagnostics": [each.model_dump(mode="json") for each in diagnostics],
        "blocking": len(blocking),
        "checked": len(paths),
        **left_out(ports),
    }
    first = f": {blocking[0].in_one_line}" if blocking else ""
    return Succeeded(
        output=output,
        summary=f"{len(paths)} file(s) checked, {len(blocking)} blocking of {len(diagnostics)} diagnostic(s){first}",
    )


def _simulate(task: NodeTask, ports: NodePorts, workspace: Workspace) -> Succeeded:
    """The whole test suite."""
    del task
    report = ports.service.simulate(workspace)
    counts = Counter(case.outcome for case in report.cases)
    bad = [case for case in report.cases if case.outcome in ("failed", "error")]
    output: dict[str, Any] = {
        "passed": report.passed,
        "tests": {name: counts[name] for name in ("passed", "failed", "error", "skipped")},
        "failures": [{"id": case.id, "message": case.message} for case in bad[:MAX_FAILURES]],
        "collection_errors": list(report.collection_errors),
        "timed_out": report.timed_out,
        **left_out(ports),
    }
    late = ", out of time" if report.timed_out else ""
    return Succeeded(
        output=output, summary=f"{counts['passed']} of {len(report.cases)} tests pass, {len(bad)} fail{late}"
    )


OPERATIONS: Mapping[str, Callable[[NodeTask, NodePorts, Workspace], Succeeded]] = {
    "validate": _validate,
    "review_rules": _review_rules,
    "validate_deps": _validate_deps,
    "simulate": _simulate,
}
"""Every operation of a domain service that a node may call."""
