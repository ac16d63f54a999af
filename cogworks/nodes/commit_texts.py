"""The words of the commits on a sub-work-item's branch."""

from cogworks.nodes.contract import NodeTask
from cogworks.nodes.replies import PlannedItem

MAX_SUBJECT_CHARS = 72


def commit_message(task: NodeTask, item: PlannedItem, *, subject: str, notes: str) -> str:
    """A commit's message: what it does, for which sub-work-item, and the key of the visit that made it."""
    body = [
        f"Sub-work-item {item.key} of #{task.item.number}: {item.title}",
        notes,
        f"Cogworks-Visit: {task.visit.visit_key}",
    ]
    return "\n\n".join([subject[:MAX_SUBJECT_CHARS], *(part.strip() for part in body if part.strip())]) + "\n"
