"""Which sub-work-items lead to the specification, and in which order: sub-issues with dependencies.

Is a plan sound, and in which order are its sub-work-items done?
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

from cogworks.forge.effects import CreateSubIssue, Effect, LinkDependency
from cogworks.nodes.artifacts import (
    interface_files,
    interface_names,
    spec_path,
    specification_text,
    to_change_the_specification,
)
from cogworks.nodes.asking import Question, ask_until_sound
from cogworks.nodes.contract import BuiltIn, Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.intake import issue
from cogworks.nodes.pull_request_texts import sub_issue_body
from cogworks.nodes.replies import DividedPart, InterfaceName, Plan, PlannedItem
from cogworks.nodes.shown import repository_view, shown_once, view_variables
from cogworks.nodes.task import NodeTask
from cogworks.sight.question import About
from cogworks.vocabulary import SubItemKey

Ordered = TypeVar("Ordered", PlannedItem, DividedPart)
MAX_ITEMS = 10
"""More than this is not one work item; a person has to split the issue."""


def plan_problems(plan: Plan, interfaces: Sequence[InterfaceName]) -> list[str]:
    """Everything that is wrong with a plan, in words the planner can act on; empty when it is sound."""
    items = plan.sub_work_items
    if not items:
        return ["the plan is empty; describe at least one sub-work-item"]
    problems = [
        *_repeated_keys(items),
        *_unknown_dependencies(items),
        *_unknown_interfaces(items, interfaces),
        *_bad_paths(items),
    ]
    if not problems and (cycle := find_cycle({item.key: item.depends_on for item in items})):
        problems.append(f"the dependencies run in a circle: {' -> '.join(cycle)}; remove one of them")
    covered = {name for item in items for name in item.interfaces}
    problems += [
        f"interface {interface.name!r} ({interface.path}) is implemented by no sub-work-item; "
        "add it to `interfaces` of the one that implements it"
        for interface in interfaces
        if interface.name not in covered
    ]
    return problems


def in_dependency_order(items: Sequence[Ordered]) -> tuple[Ordered, ...]:
    """Each item after everything it depends on; among those that are free, by key.

    The dependencies must be known and acyclic (`plan_problems` says so).
    """
    left = {item.key: item for item in items}
    ordered: list[Ordered] = []
    while left:
        free = min(key for key, item in left.items() if not any(other in left for other in item.depends_on))
        ordered.append(left.pop(free))
    return tuple(ordered)


def find_cycle(depends_on: Mapping[str, Iterable[str]]) -> list[str]:
    """One cycle, its first key repeated at the end, starting at its smallest key; empty when there is none."""
    done: set[str] = set()
    for start in sorted(depends_on):
        path: list[str] = []
        if cycle := _walk(start, depends_on, path, done):
            smallest = cycle.index(min(cycle))
            turned = cycle[smallest:] + cycle[:smallest]
            return [*turned, turned[0]]
    return []


def _walk(key: str, depends_on: Mapping[str, Iterable[str]], path: list[str], done: set[str]) -> list[str]:
    if key in path:
        return path[path.index(key) :]
    if key in done or key not in depends_on:
        return []
    path.append(key)
    for other in sorted(depends_on[key]):
        if cycle := _walk(other, depends_on, path, done):
            return cycle
    path.pop()
    done.add(key)
    return []


def _repeated_keys(items: Sequence[PlannedItem]) -> list[str]:
    keys = [item.key for item in items]
    return [
        f"key {key!r} is used {keys.count(key)} times; give every sub-work-item its own"
        for key in sorted(set(keys))
        if keys.count(key) > 1
    ]


def _unknown_dependencies(items: Sequence[PlannedItem]) -> list[str]:
    keys = {item.key for item in items}
    return [
        f"{item.key} depends on {other!r}, which is no key of this plan ({', '.join(sorted(keys))})"
        for item in items
        for other in item.depends_on
        if other not in keys
    ]


def _unknown_interfaces(items: Sequence[PlannedItem], interfaces: Sequence[InterfaceName]) -> list[str]:
    known = [interface.name for interface in interfaces]
    return [
        f"{item.key} names the interface {name!r}, which was not designed; known are {', '.join(known)}"
        for item in items
        for name in item.interfaces
        if name not in known
    ]


def _bad_paths(items: Sequence[PlannedItem]) -> list[str]:
    return [
        f"{item.key} lists the file {path!r}; paths are relative to the repository, name a file and have no `..`"
        for item in items
        for path in item.files
        if not _is_relative(path)
    ]


def _is_relative(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and not path.startswith("/")
        and not path.endswith("/")
        and ".." not in parts
        and "\0" not in path
        and "\\" not in path
    )


def run(task: NodeTask, ports: NodePorts) -> Outcome:
    """Plan the sub-work-items; each becomes a sub-issue, each dependency a link."""
    workspace = ports.workspace()
    specification = specification_text(task, workspace)
    interfaces = interface_files(task, workspace)
    names = interface_names(task)
    shown_apart = frozenset({spec_path(task), *(file.path for file in interfaces if file.is_whole)})
    about = About(title=task.item.title, text=specification, without=shown_apart)
    # A plan says which file the tests of each item go into.
    view = repository_view(task, ports, about._replace(wants_tests=True, most_tests=1, wants_change_log=True))
    ports.say("planning the sub-work-items")
    question = Question(
        prompt="planning",
        variables={
            "item": issue(task.item),
            "specification": specification,
            "interfaces": [file.model_dump() for file in shown_once(interfaces, view)],
            "interface_names": [name.model_dump(exclude={"purpose"}) for name in names],
            "max_items": MAX_ITEMS,
            **view_variables(view),
        },
        view=view,
        reply_type=Plan,
        check=lambda reply: plan_problems(reply, names),
    )
    reply = ask_until_sound(ports, task, question)
    if isinstance(reply, Failed):
        return reply
    if len(reply.sub_work_items) > MAX_ITEMS:
        return Failed(
            reason=f"planning found {len(reply.sub_work_items)} sub-work-items and the limit is {MAX_ITEMS}. Split "
            f"#{task.item.number} into several issues, or {to_change_the_specification(task, 'narrower')}, then remove the trigger label and "
            "set it again.",
            category="escalated",
            output=reply.model_dump(mode="json"),
        )
    ordered = in_dependency_order(reply.sub_work_items)
    return Succeeded(
        output={"sub_work_items": [item.model_dump(mode="json") for item in ordered]},
        effects=effects_of(task, ordered),
        summary=f"{len(ordered)} sub-work-item(s): "
        + "; ".join(f"{item.key} {item.title}" for item in ordered),
    )


def effects_of(task: NodeTask, ordered: tuple[PlannedItem, ...]) -> tuple[Effect, ...]:
    """Sub-issues in dependency order, then the links between them."""
    created = [
        CreateSubIssue(
            key=SubItemKey(item.key),
            title=item.title,
            body=sub_issue_body(task, item),
            labels=(task.conventions.sub_item_label,),
            visit_key=task.visit.visit_key,
        )
        for item in ordered
    ]
    links = [
        LinkDependency(blocked=SubItemKey(item.key), blocking=SubItemKey(other))
        for item in ordered
        for other in sorted(set(item.depends_on))
    ]
    return (*created, *links)


NODE = BuiltIn(run=run, replies={"planning": Plan})
