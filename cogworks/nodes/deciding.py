"""What a model proposed that a person has to decide on, so that the node ends at once."""

from collections.abc import Sequence

from cogworks.codebase.changes import FileChange, protected_touched
from cogworks.nodes.contract import Failed
from cogworks.nodes.replies import ProposedFile


def reason_for_a_person(
    node: str, files: Sequence[ProposedFile], *, missing_capability: str, bounds: str
) -> Failed | None:
    """Why nothing of a reply is used: it needs more than it may have, or it touches a protected path.

    Args:
        missing_capability: what the model says it needs; empty = nothing.
        bounds: the documents that do not allow it, e.g. `the specification does`.
    """
    if missing_capability:
        return Failed(
            reason=f"{node} needs what {bounds} not allow: {missing_capability} "
            "Extend the specification, merge it, then remove the trigger label and set it again.",
            category="escalated",
        )
    if touched := protected_touched(changes(files)):
        return Failed(
            reason=f"{node} proposed to change protected path(s) {', '.join(touched)}; nothing was written. "
            "If that change is wanted, make it by hand.",
            category="refused_change",
        )
    return None


def changes(files: Sequence[ProposedFile]) -> tuple[FileChange, ...]:
    """Proposed files as changes to a working copy."""
    return tuple(FileChange(path=file.path, action=file.action, content=file.content) for file in files)
