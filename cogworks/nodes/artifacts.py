"""What earlier nodes delivered, as it stands in the repository now: a person may have edited it before merging."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any

from cogworks.errors import NodeFailed
from cogworks.github.effects import CommitFiles, Effect, FileText, OpenPullRequest
from cogworks.nodes.contract import NodeTask, PullRequestRef, Workspace
from cogworks.nodes.edited_items import as_edited
from cogworks.nodes.replies import InterfaceName, PlannedItem
from cogworks.vocabulary import SubItemKey, Value

_SLOT = "interfaces"


class InterfaceFile(Value):
    """One interface file, whole, as people approved it."""

    path: str
    content: str
    change: str = ""
    """Unified diff from there to the file as it is now; empty: nobody changed it."""


def spec_path(task: NodeTask) -> str:
    """Where the specification of the issue is kept."""
    return f"{task.conventions.specs.rstrip('/')}/{task.item.number}.md"


def put_to_people(
    task: NodeTask, slug: str, files: Sequence[FileText], *, headline: str, title: str, body: str
) -> tuple[Effect, ...]:
    """The effects that make whole files a pull request, whose merge or approval is how people accept them.

    Args:
        headline: of the commit.
    """
    return (
        CommitFiles(
            branch=task.branch,
            base=task.base_branch,
            files=tuple(files),
            headline=headline,
            visit_key=task.visit.visit_key,
        ),
        OpenPullRequest(slug=slug, head=task.branch, base=task.base_branch, title=title, body=body),
    )


def output_of(task: NodeTask, slot: str) -> Any:
    """The output JSON of an earlier node.

    Raises: NodeFailed naming the slot when no node has produced it.
    """
    if slot not in task.inputs:
        given = ", ".join(sorted(task.inputs)) or "none"
        message = (
            f"{task.visit.node} needs the output {slot!r} and was handed {given}. "
            f"Declare it among the node's `inputs` in the pipeline."
        )
        raise NodeFailed(message)
    return task.inputs[slot]


def specification_text(task: NodeTask, workspace: Workspace) -> str:
    """The approved specification in Markdown, without trailing white space."""
    merged = workspace.read_newest(spec_path(task), task.item.default_branch)
    text: str = merged if merged is not None else output_of(task, "specification")["markdown"]
    return text.rstrip()


def interface_files(task: NodeTask, workspace: Workspace) -> tuple[InterfaceFile, ...]:
    """The approved interface files, in the order in which they were proposed; none where no node designed any.

    Approved is what the commit holds that people let pass: the working copy may have been changed by whoever implements
    it. Without a pull request, what was proposed counts where it is not in the working copy.
    """
    commit = task.approved.get(_SLOT)
    found = []
    for file in _interfaces(task)["files"]:
        path, now = file["path"], workspace.read(file["path"])
        if commit is None:
            found.append(InterfaceFile(path=path, content=file["content"] if now is None else now))
        elif (approved := workspace.read_at(commit, path)) is not None:
            found.append(
                InterfaceFile(path=path, content=approved, change=_change(path, approved, now or ""))
            )
    return tuple(found)


def _change(path: str, approved: str, now: str) -> str:
    before, after = approved.splitlines(keepends=True), now.splitlines(keepends=True)
    lines = unified_diff(before, after, f"approved/{path}", f"now/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def proposed_paths(task: NodeTask) -> tuple[str, ...]:
    """Where the interface files were proposed to be."""
    return tuple(file["path"] for file in _interfaces(task)["files"])


def interface_names(task: NodeTask) -> tuple[InterfaceName, ...]:
    """The public names that the plan has to cover, in the order in which they were proposed; none where no node designed any."""
    return tuple(InterfaceName.model_validate(name) for name in _interfaces(task)["interfaces"])


def planned_items(task: NodeTask) -> tuple[PlannedItem, ...]:
    """The plan in dependency order, with what people wrote into its sub-issues since."""
    edited = {ref.key: ref.edited for ref in task.sub_items}
    items = (PlannedItem.model_validate(item) for item in output_of(task, "plan")["sub_work_items"])
    return tuple(
        as_edited(item, text) if (text := edited.get(SubItemKey(item.key))) else item for item in items
    )


def planned_item(task: NodeTask) -> PlannedItem:
    """The sub-work-item this task is about.

    Raises: NodeFailed when the task has none or the plan does not know it.
    """
    key = task.visit.sub_item
    for item in planned_items(task):
        if item.key == key:
            return item
    message = f"{task.visit.node} works on a sub-work-item of the plan, and {key!r} is none. Restart the run."
    raise NodeFailed(message)


def pull_request(task: NodeTask, slug: str) -> PullRequestRef | None:
    """The run's pull request with this slug, if it is open or merged."""
    return next((pull for pull in task.pull_requests if pull.slug == slug), None)


def _interfaces(task: NodeTask) -> Mapping[str, Any]:
    """What Interface Design put out; a pipeline may do without that node."""
    found: Mapping[str, Any] = task.inputs.get(_SLOT) or {"files": (), "interfaces": ()}
    return found
