"""Sub-issues and "blocked by": how issues hang together."""

from cogworks.hub.actions.access import Actor, repository_of, require
from cogworks.hub.actions.issues import check_is_issue, refreshed
from cogworks.hub.actions.timeline import record_event
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Dependency, Issue
from cogworks.hub.refusals import NotFound, Unprocessable
from cogworks.hub.world import World

MAX_SUB_ISSUES = 100
MAX_DEPTH = 8


def add_sub_issue(
    world: World, actor: Actor, parent: Issue, child: Issue, *, replace_parent: bool = False
) -> Issue:
    """Hang `child` under `parent`, last; returns the parent. Raises `Unprocessable` for a second parent or a cycle."""
    with world.changing():
        parent, child = refreshed(world, parent), refreshed(world, child)
        user = require(world, actor, repository_of(world, parent), Role.TRIAGE, "issues")
        _check_new_child(world, parent, child, replace_parent=replace_parent)
        old = world.store.get(Issue, child.parent_id)
        if old is not None:
            remove_sub_issue(world, actor, old, child)
            child = refreshed(world, child)
        now = world.clock.now()
        world.store.put(child.model_copy(update={"parent_id": parent.id, "updated_at": now}))
        record_event(world, parent, user.id, "sub_issue_added", sub_issue_id=child.id)
        record_event(world, child, user.id, "parent_issue_added", parent_issue_id=parent.id)
        ids = (*parent.sub_issue_ids, child.id)
        return world.store.put(parent.model_copy(update={"sub_issue_ids": ids, "updated_at": now}))


def _check_new_child(world: World, parent: Issue, child: Issue, *, replace_parent: bool) -> None:
    check_is_issue(parent)
    check_is_issue(child)
    if child.parent_id == parent.id:
        raise Unprocessable(
            "An error occurred while adding the sub-issue to the parent issue. Issue may not contain duplicate sub-issues"
        )
    if child.parent_id is not None and not replace_parent:
        raise Unprocessable(
            "An error occurred while adding the sub-issue to the parent issue. Sub issue may only have one parent"
        )
    if len(parent.sub_issue_ids) >= MAX_SUB_ISSUES:
        raise Unprocessable(
            f"An error occurred while adding the sub-issue to the parent issue. Parent cannot have more than {MAX_SUB_ISSUES} sub-issues"
        )
    above = ancestors(world, parent)
    if child.id in {parent.id, *(issue.id for issue in above)}:
        raise Unprocessable(
            "An error occurred while adding the sub-issue to the parent issue. Sub issue may not create a circular dependency"
        )
    if len(above) + 2 > MAX_DEPTH:
        raise Unprocessable(
            f"An error occurred while adding the sub-issue to the parent issue. Sub-issues may not be more than {MAX_DEPTH} levels deep"
        )


def ancestors(world: World, issue: Issue) -> list[Issue]:
    """Parent, its parent, and so on."""
    issues: list[Issue] = []
    above = world.store.get(Issue, issue.parent_id)
    while above is not None:
        issues.append(above)
        above = world.store.get(Issue, above.parent_id)
    return issues


def remove_sub_issue(world: World, actor: Actor, parent: Issue, child: Issue) -> Issue:
    """Take `child` from under `parent`; returns the parent. Raises `NotFound` when it is not there."""
    with world.changing():
        parent, child = refreshed(world, parent), refreshed(world, child)
        user = require(world, actor, repository_of(world, parent), Role.TRIAGE, "issues")
        if child.id not in parent.sub_issue_ids:
            raise NotFound
        now = world.clock.now()
        world.store.put(child.model_copy(update={"parent_id": None, "updated_at": now}))
        record_event(world, parent, user.id, "sub_issue_removed", sub_issue_id=child.id)
        record_event(world, child, user.id, "parent_issue_removed", parent_issue_id=parent.id)
        ids = tuple(each for each in parent.sub_issue_ids if each != child.id)
        return world.store.put(parent.model_copy(update={"sub_issue_ids": ids, "updated_at": now}))


def move_sub_issue(
    world: World, actor: Actor, parent: Issue, child: Issue, *, after_id: int | None, before_id: int | None
) -> Issue:
    """Put `child` right after or right before a sibling; returns the parent."""
    with world.changing():
        parent = refreshed(world, parent)
        require(world, actor, repository_of(world, parent), Role.TRIAGE, "issues")
        anchor = after_id if after_id is not None else before_id
        others = [each for each in parent.sub_issue_ids if each != child.id]
        if child.id not in parent.sub_issue_ids:
            raise NotFound
        if anchor is None or (after_id is not None and before_id is not None) or anchor not in others:
            raise Unprocessable("One of after_id and before_id must name another sub-issue of the parent")
        place = others.index(anchor) + (1 if after_id is not None else 0)
        ids = (*others[:place], child.id, *others[place:])
        return world.store.put(parent.model_copy(update={"sub_issue_ids": ids}))


def add_blocked_by(world: World, actor: Actor, issue: Issue, blocking: Issue) -> Dependency:
    """Say that `issue` waits for `blocking`. Raises `Unprocessable` when it does already or would for ever."""
    with world.changing():
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, "issues")
        check_is_issue(issue)
        check_is_issue(blocking)
        key = f"{issue.id}/{blocking.id}"
        if world.store.find(Dependency, key) is not None:
            raise Unprocessable("Validation failed: Target issue has already been taken")
        if issue.id == blocking.id or issue.id in _blockers(world, blocking.id):
            raise Unprocessable("Validation failed: Dependencies may not form a cycle")
        record_event(world, issue, user.id, "blocked_by_added", blocking_issue_id=blocking.id)
        record_event(world, blocking, user.id, "blocking_added", blocked_issue_id=issue.id)
        return world.store.put(
            Dependency(id=world.store.next_id(), issue_id=issue.id, blocking_id=blocking.id)
        )


def remove_blocked_by(world: World, actor: Actor, issue: Issue, blocking: Issue) -> None:
    """Take a dependency back. Raises `NotFound` when there is none."""
    with world.changing():
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, "issues")
        link = world.store.find(Dependency, f"{issue.id}/{blocking.id}")
        if link is None:
            raise NotFound
        record_event(world, issue, user.id, "blocked_by_removed", blocking_issue_id=blocking.id)
        record_event(world, blocking, user.id, "blocking_removed", blocked_issue_id=issue.id)
        world.store.remove(link)


def blocked_by(world: World, issue: Issue) -> list[Issue]:
    """What the issue waits for, closed ones included, in the order the links were made."""
    links = world.store.children(Dependency, issue.id)
    return world.store.many(Issue, tuple(link.blocking_id for link in links))


def blocking(world: World, issue: Issue) -> list[Issue]:
    """What waits for the issue."""
    links = world.store.tagged(Dependency, str(issue.id))
    return world.store.many(Issue, tuple(link.issue_id for link in links))


def sub_issues(world: World, issue: Issue) -> list[Issue]:
    """The sub-issues in the order of their priority."""
    return world.store.many(Issue, issue.sub_issue_ids)


def _blockers(world: World, issue_id: int) -> set[int]:
    """Everything that must be done before an issue, through all links."""
    blockers: set[int] = set()
    waiting = [issue_id]
    while waiting:
        for link in world.store.children(Dependency, waiting.pop()):
            if link.blocking_id not in blockers:
                blockers.add(link.blocking_id)
                waiting.append(link.blocking_id)
    return blockers
