"""What a unified diff of git says about files."""

import re
from collections.abc import Mapping
from typing import Literal

from cogworks.canonical import sha256
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import PlannedItem
from cogworks.nodes.task import NodeTask

Action = Literal["create", "modify", "delete"]

_FILE = re.compile(r'^diff --git "?a/.+ ("?b/.+)\n(new file|deleted file)?', re.MULTILINE)
_INDEX = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+.*\n", re.MULTILINE)
_ACTIONS: Mapping[str, Action] = {"new file": "create", "deleted file": "delete", "": "modify"}


def file_actions(diff: str) -> dict[str, Action]:
    """Path of every file in a diff -> what the diff does to it, in the diff's order; renames must be off."""
    return {_plain(name): _ACTIONS[mark] for name, mark in _FILE.findall(diff)}


def added_files(diff: str) -> frozenset[str]:
    """Paths of the files that a diff creates."""
    return frozenset(path for path, action in file_actions(diff).items() if action == "create")


def without_object_names(diff: str) -> str:
    """The diff without its `index` lines: how far git abbreviates them depends on the repository."""
    return _INDEX.sub("", diff)


def tree_name(diff: str) -> str:
    """64 hex digits naming the files as they are by their diff to a known base; the same on every machine."""
    return sha256(without_object_names(diff))


def _plain(name: str) -> str:
    """A path as it is: git ends names that hold blanks with a tab and quotes those that are not ASCII, byte by byte."""
    name = name.rstrip("\t")
    if name.startswith('"'):
        name = (
            name[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1").decode(errors="replace")
        )
    return name.removeprefix("b/")


def own_files(task: NodeTask, workspace: Workspace, item: PlannedItem) -> frozenset[str]:
    """Files that only this sub-work-item brought in, on an earlier visit."""
    if task.visit.ordinal == 1:
        return frozenset()
    added = added_files(workspace.diff(task.base_branch))
    # Merged dependencies are part of the same diff; their files are not ours.
    return added & frozenset(item.files) if task.merge_branches else added
