"""Small deterministic procedures that any pipeline may call: check paths, open a pull request, label, comment."""

from collections.abc import Mapping
from typing import Any

from cogworks.codebase.changes import path_problem, protected_by
from cogworks.github.effects import PostComment, SetLabels
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Outcome, Succeeded
from cogworks.nodes.written_files import pull_request_for
from cogworks.pipeline.graph import Node
from cogworks.vocabulary import IssueNumber

COMMENT_FIELD = "comment"


def validate_paths(node: Node, task: NodeTask, shell: NodeShell) -> Outcome:
    """Whether every file that its inputs name under `files` may be written by a machine."""
    del shell
    paths = [path for slot in node.inputs for path in _paths_of(task.inputs.get(slot))]
    problems = [f"{path}: {problem}" for path in paths if (problem := _problem(path))]
    return Succeeded(
        output={"passed": not problems, "paths": paths, "problems": problems},
        summary=f"{len(paths)} path(s), {len(problems)} of them refused",
    )


def open_pull_request(node: Node, task: NodeTask, shell: NodeShell) -> Outcome:
    """The pull request of the node's branch, whose commits an earlier node pushed; adopted where there is one."""
    if task.branch == task.item.default_branch:
        return Failed(
            reason=f"{node.id} has no branch to open a pull request from; give the node the `slug` of the node that "
            "pushes it.",
            category="escalated",
        )
    shell.say(f"opening the pull request of {task.branch}")
    texts = [value for slot in node.inputs if isinstance(value := task.inputs.get(slot), Mapping)]
    title = _first_text(texts, "title") or f"{node.title} for #{task.item.number}"
    effect = pull_request_for(node, task, title=" ".join(title.split()), text=_first_text(texts, "summary"))
    return Succeeded(
        output={"passed": True, "head": task.branch, "base": task.base_branch, "title": effect.title},
        effects=(effect,),
        summary=f"pull request from {task.branch} into {task.base_branch}",
    )


def set_labels(node: Node, task: NodeTask, shell: NodeShell) -> Outcome:
    """The node's `labels` on the issue, or on the sub-issue that the visit is about."""
    del shell
    return Succeeded(
        output={"passed": True, "labels": list(node.labels)},
        effects=(SetLabels(number=_number(task), add=node.labels),),
        summary=f"labelled {', '.join(node.labels)}",
    )


def comment(node: Node, task: NodeTask, shell: NodeShell) -> Outcome:
    """The text `comment` of the first input that has one, posted once."""
    del shell
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


def _problem(path: str) -> str | None:
    protection = protected_by(path)
    return path_problem(path) or (f"is protected by the pattern {protection!r}" if protection else None)


def _first_text(values: list[Mapping[str, Any]], field: str) -> str:
    found = (value[field] for value in values if isinstance(value.get(field), str))
    return next((text.strip() for text in found if text.strip()), "")


def _number(task: NodeTask) -> IssueNumber:
    own = task.sub_item.number if task.sub_item else None
    return own or task.item.number
