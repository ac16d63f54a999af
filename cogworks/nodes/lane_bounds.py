"""Does a change that was made on the short way stay within it? What the item learns where it does not.

The files that a change touches are counted, and the public names that it changes are asked of the domain service.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.codegen.patches import file_actions, without_object_names
from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Interface
from cogworks.nodes.contract import Failed, NodePorts, Succeeded, Workspace
from cogworks.nodes.task import NodeTask
from cogworks.sight.kinds import Kind, kind_of
from cogworks.vocabulary import CommitOid

MAX_NAMES = 5
"""So many names that changed are listed."""
_VALUES = frozenset({"attribute", "alias", "constant", "variable", "static", "const"})
"""What these kinds say beside their name is a value, no promise to who calls."""


def beyond(task: NodeTask, ports: NodePorts, *, found_at: CommitOid) -> str:
    """Why a change that was kept does not belong on the short way, as the end of a sentence; empty: it does, or the item
    is on no such way.

    Args:
        found_at: where the working copy stood before the visit.
    """
    most = task.conventions.lane_files
    if not most:
        return ""
    workspace = ports.workspace()
    files = tuple(file_actions(workspace.diff(task.base_branch)))
    if len(files) > most:
        return f"the change touches {len(files)} files, and `small` is for at most {most}"
    names = _changed_names(ports, workspace, files, found_at)
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"the change alters public interfaces, which `small` leaves as they are: {listed}{more}"


def moving_up(why: str, output: Mapping[str, Any], *, diff: str) -> Succeeded:
    """The end of a visit on the short way that showed that the item needs the whole one; nothing is published.

    Args:
        output: what the visit would have put out.
        diff: the change that was made, empty where there is none.
    """
    return Succeeded(
        output={**output, "moves_up": why, "change": without_object_names(diff)},
        summary=f"moves up to `default`: {why}",
        moves_up=why,
    )


def needs_more(task: NodeTask, refusal: Failed) -> str:
    """Why a refusal is no end on the short way, but shows that the item needs the whole one; empty: it is an end."""
    if not task.conventions.lane_files or not refusal.missing:
        return ""
    return f"the work needs what `small` leaves as it is: {refusal.missing.rstrip('. ')}"


def _changed_names(
    ports: NodePorts, workspace: Workspace, files: Sequence[str], found_at: CommitOid
) -> tuple[str, ...]:
    """Public names outside of tests that are gone or have another signature; new ones are no promise that anybody relies on."""
    now = workspace.head
    source = [path for path in files if kind_of(path) is Kind.SOURCE]
    after = _offered(ports, workspace, source)
    workspace.settle(found_at)
    try:
        before = _offered(ports, workspace, source)
    finally:
        workspace.settle(now)
    if before is None or after is None:
        return ()
    return tuple(name for name, signature in before.items() if after.get(name) != signature)


def _offered(ports: NodePorts, workspace: Workspace, paths: Sequence[str]) -> Mapping[str, str] | None:
    """Name -> signature; None where no service can tell for sure."""
    there = [path for path in paths if workspace.read(path) is not None]
    if not there:
        return {}
    found = ports.service.interfaces(workspace, there)
    if isinstance(found, NotOffered) or found.status == "incomplete":
        return None
    return {each.name: _signature(each) for each in found.interfaces}


def _signature(each: Interface) -> str:
    return "" if each.kind in _VALUES else each.signature
