"""What the model is told when it writes the code of a sub-work-item."""

from typing import Any

from cogworks.nodes.artifacts import interface_files, planned_items, spec_path, specification_text
from cogworks.nodes.contract import NodeTask, Workspace
from cogworks.nodes.excerpts import survey
from cogworks.nodes.intake import issue
from cogworks.nodes.replies import PlannedItem
from cogworks.vocabulary import Severity, SubItemKey


def coding_variables(task: NodeTask, workspace: Workspace, item: PlannedItem) -> dict[str, Any]:
    """The variables that stay the same over all attempts of one visit."""
    specification = specification_text(task, workspace)
    interfaces = interface_files(task, workspace)
    dependencies = _dependencies(task, item)
    wanted = [*item.files, *(path for each in dependencies for path in each["files"])]
    shown_apart = [spec_path(task), *(file.path for file in interfaces)]
    view = survey(workspace, wanted=wanted, text=f"{item.description}\n{specification}", without=shown_apart)
    return {
        "item": issue(task.item),
        "sub_item": item.model_dump(mode="json"),
        "other_items": [
            {"key": other.key, "title": other.title} for other in planned_items(task) if other.key != item.key
        ],
        "specification": specification,
        "interfaces": [file.model_dump() for file in interfaces],
        "dependencies": dependencies,
        "findings": findings_to_resolve(task),
        **view.variables(),
    }


def findings_to_resolve(task: NodeTask) -> list[dict[str, Any]]:
    """The findings of the review that sent this sub-work-item back, blocking ones first; none on a first visit."""
    review = task.inputs.get("review")
    # The latest review may be another sub-work-item's; only our own can have sent us back.
    if task.visit.ordinal == 1 or review is None or review.get("sub_item") != task.visit.sub_item:
        return []
    found: list[dict[str, Any]] = list(review["findings"])
    return sorted(found, key=lambda finding: finding["severity"] != Severity.BLOCKING)


def _dependencies(task: NodeTask, item: PlannedItem) -> list[dict[str, Any]]:
    """What the sub-work-items this one depends on did; their code is in the repository."""
    found = []
    for key in sorted(set(item.depends_on)):
        code = task.dependency_outputs.get(SubItemKey(key), {}).get("code")
        if code is not None:
            paths = [file["path"] for file in code["files"] if file["action"] != "delete"]
            found.append({"key": key, "summary": code["summary"], "notes": code["notes"], "files": paths})
    return found
