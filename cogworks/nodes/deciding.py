"""What a model proposed that a person has to decide on, so that the node ends at once."""

from collections.abc import Sequence

from cogworks.codebase.changes import FileChange, matching, protected_by
from cogworks.nodes.contract import Failed
from cogworks.nodes.replies import ProposedFile


def reason_for_a_person(
    node: str,
    paths: Sequence[str],
    *,
    missing_capability: str,
    bounds: str,
    manifests: Sequence[str] = (),
) -> Failed | None:
    """Why nothing of a reply is used: it needs more than it may have, or touches a protected path or a manifest.

    Args:
        paths: of all files that it touches.
        missing_capability: what the model says it needs; empty = nothing.
        bounds: the documents that do not allow it, e.g. `the specification does`.
        manifests: patterns of the files that only a person changes, for they decide what is installed.
    """
    if missing_capability:
        return Failed(
            reason=f"{node} needs what {bounds} not allow: {missing_capability} "
            "Extend the specification, merge it, then remove the trigger label and set it again.",
            category="escalated",
        )
    if touched := [path for path in paths if protected_by(path) is not None]:
        return Failed(
            reason=f"{node} proposed to change protected path(s) {', '.join(touched)}; nothing was written. "
            "If that change is wanted, make it by hand.",
            category="refused_change",
        )
    if edited := [path for path in paths if matching(path, manifests)]:
        return Failed(
            reason=f"{node} proposed to change {', '.join(edited)}, which says what is installed and run; nothing was "
            "written. If that change is wanted, make it by hand on the base branch, and on the sub-work-item's own branch where "
            "that is there already, then remove the trigger label and set it again. "
            '`dependencies.changes = "allow"` in `.cogworks/config.toml` lets every such change pass.',
            category="refused_change",
        )
    return None


def changes(files: Sequence[ProposedFile]) -> tuple[FileChange, ...]:
    """Proposed files as changes to a working copy."""
    return tuple(FileChange(path=file.path, action=file.action, content=file.content) for file in files)
