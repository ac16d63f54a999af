"""Which files a change of a sub-work-item may touch: those of its plan, tests, and what it asks for with a reason."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from cogworks.canonical import sha256
from cogworks.codebase.changes import folded, normalised
from cogworks.codegen.handoff import is_test_path
from cogworks.nodes.artifacts import planned_items, proposed_paths
from cogworks.nodes.contract import Workspace
from cogworks.nodes.replies import CodeChange, PlannedItem
from cogworks.nodes.task import NodeTask
from cogworks.packs.artefacts import patterns_required
from cogworks.packs.patterns import fits

SLOT = "beyond_plan"
"""Under this name the output of a visit says what it was granted."""


@dataclass(frozen=True)
class PlanBounds:
    """What one sub-work-item may change. Paths are compared as `folded` spells them."""

    key: str
    planned: tuple[str, ...]
    """As people read them."""
    allowed: frozenset[str]
    others: Mapping[str, str]
    """Path -> key of the item of the plan that it belongs to, where this one does not build on that item."""
    granted: Mapping[str, str]
    """What was asked for and granted before: path -> reason."""
    most: int
    """So many files beyond the plan are granted."""
    required: tuple[str, ...] = ()
    """Patterns of files that context packs of the run require."""

    def holds(self, path: str) -> bool:
        """Whether a file may be changed without a word."""
        name = _name(path)
        is_named = name in self.allowed or name in map(_name, self.granted)
        return is_named or is_test_path(path) or fits(path, self.required)

    def problems(self, reply: CodeChange) -> Iterator[str]:
        """Why an answer goes too far, in words that the next one can act on."""
        asked = {_name(path) for path in reasons_in(reply)}
        outside = [path for path in _paths(reply) if not self.holds(path)]
        for path in outside:
            if owner := self.others.get(_name(path)):
                yield (
                    f"{path!r} belongs to {owner}, another item of the plan; leave it as it is. If {self.key} cannot be done "
                    "without that change, say so in `missing_capability`, and a person decides"
                )
            elif _name(path) not in asked:
                yield (
                    f"{path!r} is not among the files of {self.key}, which are {', '.join(map(repr, self.planned))}; leave it "
                    f"as it is. If {self.key} cannot be done without that change, give its path and the reason in "
                    "`beyond_plan` of the same answer"
                )
        total = len(outside) + len(self.granted)
        if outside and total > self.most:
            yield (
                f"{total} files beyond the plan of {self.key} are asked for, and at most {self.most} are granted; do with "
                "fewer, or say in `missing_capability` what the plan has to allow"
            )

    def within(self, paths: Iterable[str], reply: CodeChange) -> tuple[str, ...]:
        """Those of the paths that the plan holds, or the answer asks for."""
        asked = {_name(path) for path in reasons_in(reply)}
        return tuple(path for path in paths if self.holds(path) or _name(path) in asked)


def bounds_of(
    task: NodeTask, item: PlannedItem, *, besides: Collection[str], granted: Mapping[str, str]
) -> PlanBounds | None:
    """What a sub-work-item may change; None where no plan says it.

    Args:
        besides: files of its own, whatever the plan says: handed-over tests, what it brought in before.
    """
    if task.visit.sub_item is None:
        return None
    asked_for = [change.file for change in task.asked_changes if change.file]
    allowed = {*item.files, *proposed_paths(task), *besides, *asked_for}
    items = {each.key: each for each in planned_items(task)}
    below = _below(item, items)
    others = {
        _name(path): each.key
        for each in items.values()
        if each.key != item.key and each.key not in below
        for path in each.files
        if not is_test_path(path)
    }
    return PlanBounds(
        key=item.key,
        planned=item.files,
        allowed=frozenset(map(_name, allowed)),
        others=others,
        granted=granted,
        most=task.conventions.change_limits.max_files_beyond_plan,
        required=patterns_required(task.packs),
    )


def reasons_in(reply: CodeChange) -> dict[str, str]:
    """What an answer asks for beyond the plan: path -> reason; a request without a reason is none."""
    return {normalised(each.path): each.reason for each in reply.beyond_plan if each.reason.strip()}


def granted_before(task: NodeTask, kept: Iterable[CodeChange]) -> dict[str, str]:
    """What was granted so far: by earlier visits of this sub-work-item, and with the changes that this one kept."""
    granted = {each["path"]: each["reason"] for each in (task.earlier.get("code") or {}).get(SLOT, ())}
    for reply in kept:
        written = set(_paths(reply))
        granted |= {path: reason for path, reason in reasons_in(reply).items() if path in written}
    return granted


def as_output(granted: Mapping[str, str], item: PlannedItem, files: Collection[str]) -> dict[str, object]:
    """What the output says of files beyond the plan; empty where there are none.

    Args:
        files: that the whole work changes.
    """
    planned = set(map(_name, item.files))
    entries = [
        {"path": path, "reason": reason}
        for path, reason in sorted(granted.items())
        if path in files and _name(path) not in planned
    ]
    return {SLOT: entries} if entries else {}


def _below(item: PlannedItem, items: Mapping[str, PlannedItem]) -> frozenset[str]:
    """The keys of all items that this one builds on."""
    keys: set[str] = set()
    waiting = list(item.depends_on)
    while waiting:
        key = waiting.pop()
        if key not in keys and key in items:
            keys.add(key)
            waiting += items[key].depends_on
    return frozenset(keys)


def _paths(reply: CodeChange) -> tuple[str, ...]:
    return tuple(dict.fromkeys(normalised(file.path) for file in reply.files))


def _name(path: str) -> str:
    return folded(normalised(path))


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
