"""The files a node of the repository wrote: are they fit to be published, and as what?"""

from collections.abc import Mapping
from typing import Any

from cogworks.codebase.changes import FileChange
from cogworks.codegen.trial import ChangeOnTrial, FilesAsFound
from cogworks.forge.bases import part_of
from cogworks.forge.effects import CommitFiles, Effect, FileText, OpenPullRequest
from cogworks.leaving import in_markdown
from cogworks.nodes.asking import reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, Workspace
from cogworks.nodes.interface_design import diagnostic_line
from cogworks.nodes.pull_request_texts import packs_section, stacking
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.graph import Node
from cogworks.vocabulary import Severity

FILES_FIELD = "files"
"""The field of an output whose entries `{path, content}` are published."""


def writes_files(node: Node) -> bool:
    """Whether what the node answers is published: it produces code and has a branch for it."""
    return node.produces_code and node.slug is not None


def changes_in(output: Mapping[str, Any], workspace: Workspace) -> tuple[FileChange, ...]:
    """The files of an output as changes to a working copy."""
    existing = set(workspace.files())
    return tuple(
        FileChange(
            path=file["path"],
            action="modify" if file["path"] in existing else "create",
            content=file["content"],
        )
        for file in output.get(FILES_FIELD, ())
    )


def file_problems(
    node: Node, task: NodeTask, output: Mapping[str, Any], workspace: Workspace, ports: NodePorts
) -> list[str]:
    """What the model has to correct; the working copy is left as it was found.

    A protected path or a manifest is no problem here: it ends the node, for a person has to decide on it.
    """
    workspace.roll_back()
    changes = changes_in(output, workspace)
    if not changes or refused_change(node, task, output):
        return []
    if reason := workspace.apply(changes):
        return [reason]
    try:
        if node.validation != "domain-service":
            return []
        as_found = FilesAsFound(ports.service, workspace)
        found = ChangeOnTrial(changes, as_found).new_findings()
    finally:
        workspace.roll_back()
    return [diagnostic_line(each) for each in found if each.severity is Severity.BLOCKING]


def refused_change(node: Node, task: NodeTask, output: Mapping[str, Any]) -> Failed | None:
    """The end of a node that wanted to change what only people change."""
    return reason_for_a_person(
        node.id,
        [file["path"] for file in output.get(FILES_FIELD, ())],
        missing_capability="",
        bounds="",
        manifests=task.conventions.manifests,
    )


def publication(node: Node, task: NodeTask, output: Mapping[str, Any]) -> tuple[Effect, ...]:
    """One commit and its pull request; nothing when no file was written."""
    files = tuple(FileText(path=file["path"], text=file["content"]) for file in output[FILES_FIELD])
    if not files:
        return ()
    title = _text(output, "title") or f"{node.title} for #{task.item.number}"
    return (
        CommitFiles(
            branch=task.branch,
            base=task.base_branch,
            files=files,
            headline=title[:72],
            visit_key=task.visit.visit_key,
        ),
        pull_request_for(node, task, title=title, text=_text(output, "summary", whole=True), files=files),
    )


def pull_request_for(
    node: Node, task: NodeTask, *, title: str, text: str, files: tuple[FileText, ...] = ()
) -> OpenPullRequest:
    """The pull request of the node's branch."""
    listed = "\n".join(f"- `{file.path}`" for file in files)
    part = part_of(task.item.number, closes=task.closes_issue)
    parts = [
        f"{part}.",
        stacking(task),
        in_markdown(text),
        f"### Files\n\n{listed}" if files else "",
        packs_section(task),
    ]
    return OpenPullRequest(
        slug=slug_for(node, task),
        head=task.branch,
        base=task.base_branch,
        title=title,
        body="\n\n".join(part for part in parts if part),
    )


def slug_for(node: Node, task: NodeTask) -> str:
    """The pull request's name within the run."""
    ordinal = f"-{task.sub_item.ordinal}" if task.sub_item else ""
    return f"{node.slug or node.id}{ordinal}"


def _text(output: Mapping[str, Any], field: str, *, whole: bool = False) -> str:
    value = output.get(field)
    if not isinstance(value, str):
        return ""
    return value.strip() if whole else " ".join(value.split())
