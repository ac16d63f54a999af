"""Opening, editing, closing and locking issues (and what pull requests share with them)."""

from collections.abc import Iterable
from typing import Literal

from cogworks.hub.actions.access import (
    Actor,
    actor_role,
    repository_of,
    require,
    require_author_or,
    role_of,
)
from cogworks.hub.actions.labels import label_permission, labels_named, set_labels
from cogworks.hub.actions.timeline import cross_reference, record_event
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Issue, Milestone, PullRequest, Repository, User
from cogworks.hub.refusals import Gone, NotFound, Unprocessable, invalid
from cogworks.hub.world import World

MAX_BODY = 65_536
MAX_TITLE = 256
StateReason = Literal["completed", "not_planned", "reopened", "duplicate"]
LockReason = Literal["off-topic", "too heated", "resolved", "spam"]


def check_text(resource: str, *, title: str | None = None, body: str | None = None) -> None:
    """Raises `Unprocessable` for a blank or overlong title and an overlong body."""
    if title is not None and not title.strip():
        raise invalid(resource, "title", "missing_field")
    if title is not None and len(title) > MAX_TITLE:
        raise invalid(resource, "title", "custom", f"title is too long (maximum is {MAX_TITLE} characters)")
    if body is not None and len(body) > MAX_BODY:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {MAX_BODY} characters)")


def create_issue(
    world: World,
    actor: Actor,
    repository: Repository,
    *,
    title: str,
    body: str | None = None,
    labels: Iterable[str] = (),
    assignees: Iterable[str] = (),
    milestone: int | None = None,
) -> Issue:
    """A new issue. As on GitHub, labels, assignees and milestone of someone without push access are dropped."""
    with world.changing():
        user = require(world, actor, repository, Role.READ, "issues")
        if not repository.has_issues:
            raise Gone("Issues are disabled for this repo")
        check_text("Issue", title=title, body=body)
        issue = new_issue(world, repository, user, title=title, body=body)
        if actor_role(world, actor, repository).covers(Role.TRIAGE):
            issue = set_labels(world, actor, issue, labels_named(world, actor, repository, labels))
            issue = add_assignees(world, actor, issue, assignees)
            if milestone is not None:
                issue = set_milestone(world, actor, issue, milestone)
        return issue


def new_issue(
    world: World,
    repository: Repository,
    user: User,
    *,
    title: str,
    body: str | None,
    pull: PullRequest | None = None,
) -> Issue:
    """Number and keep an issue or pull request whose author's right has been checked."""
    now = world.clock.now()
    issue = world.store.put(
        Issue(
            id=world.store.next_id(),
            repository_id=repository.id,
            number=world.store.next_number(f"number/{repository.id}"),
            author_id=user.id,
            title=title.strip(),
            body=body,
            created_at=now,
            updated_at=now,
            pull=pull,
        )
    )
    cross_reference(world, repository, issue, user.id, body)
    return issue


def edit_issue(
    world: World, actor: Actor, issue: Issue, *, title: str | None = None, body: str | None = None
) -> Issue:
    """Change title and body. Raises `Forbidden` for anyone but the author and writers."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require_author_or(world, actor, issue, author_id=issue.author_id)
        check_text("Issue", title=title, body=body)
        now = world.clock.now()
        if title is not None and title.strip() != issue.title:
            record_event(world, issue, user.id, "renamed", **{"from": issue.title, "to": title.strip()})
            issue = issue.model_copy(update={"title": title.strip(), "updated_at": now})
        if body is not None and body != issue.body:
            edited = {"body": body, "updated_at": now, "last_edited_at": now, "editor_id": user.id}
            issue = issue.model_copy(update=edited)
            cross_reference(world, repository_of(world, issue), issue, user.id, body)
        return world.store.put(issue)


def close_issue(world: World, actor: Actor, issue: Issue, reason: StateReason = "completed") -> Issue:
    """Close an issue; closing a closed one changes nothing but the reason."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require_author_or(world, actor, issue, author_id=issue.author_id, role=Role.TRIAGE)
        if not issue.is_open:
            return world.store.put(issue.model_copy(update={"state_reason": reason}))
        return closed(world, issue, user.id, reason)


def closed(world: World, issue: Issue, user_id: int, reason: StateReason | None, **details: str) -> Issue:
    """Write the closing of an open issue or pull request; the right has been checked."""
    now = world.clock.now()
    record_event(world, issue, user_id, "closed", state_reason=reason, **details)
    update = {
        "state": "closed",
        "state_reason": reason,
        "closed_at": now,
        "closed_by_id": user_id,
        "updated_at": now,
    }
    return world.store.put(issue.model_copy(update=update))


def reopen_issue(world: World, actor: Actor, issue: Issue) -> Issue:
    """Reopen a closed issue; an open one stays as it is."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require_author_or(world, actor, issue, author_id=issue.author_id, role=Role.TRIAGE)
        return issue if issue.is_open else reopened(world, issue, user.id)


def reopened(world: World, issue: Issue, user_id: int) -> Issue:
    """Write the reopening of a closed issue or pull request; the right has been checked."""
    record_event(world, issue, user_id, "reopened")
    update = {
        "state": "open",
        "state_reason": "reopened" if issue.pull is None else None,
        "closed_at": None,
        "closed_by_id": None,
        "updated_at": world.clock.now(),
    }
    return world.store.put(issue.model_copy(update=update))


def add_assignees(world: World, actor: Actor, issue: Issue, logins: Iterable[str]) -> Issue:
    """Assign users; those who may not read the repository are passed over, as GitHub does."""
    with world.changing():
        issue = refreshed(world, issue)
        repository = repository_of(world, issue)
        user = require(world, actor, repository, Role.TRIAGE, label_permission(actor, issue))
        for login in logins:
            other = world.store.find(User, login.lower())
            if other is None or other.id in issue.assignee_ids:
                continue
            if role_of(world, repository, other).covers(Role.READ):
                record_event(world, issue, user.id, "assigned", assignee_id=other.id)
                ids = (*issue.assignee_ids, other.id)
                issue = issue.model_copy(update={"assignee_ids": ids, "updated_at": world.clock.now()})
        return world.store.put(issue)


def remove_assignees(world: World, actor: Actor, issue: Issue, logins: Iterable[str]) -> Issue:
    """Unassign users; those who are not assigned are passed over."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, label_permission(actor, issue))
        for login in logins:
            other = world.store.find(User, login.lower())
            if other is not None and other.id in issue.assignee_ids:
                record_event(world, issue, user.id, "unassigned", assignee_id=other.id)
                ids = tuple(each for each in issue.assignee_ids if each != other.id)
                issue = issue.model_copy(update={"assignee_ids": ids, "updated_at": world.clock.now()})
        return world.store.put(issue)


def set_assignees(world: World, actor: Actor, issue: Issue, logins: Iterable[str]) -> Issue:
    """Replace all assignees."""
    with world.changing():
        wanted = {login.lower() for login in logins}
        present = [world.user(user_id).login for user_id in issue.assignee_ids]
        issue = remove_assignees(world, actor, issue, [one for one in present if one.lower() not in wanted])
        return add_assignees(world, actor, issue, sorted(wanted))


def create_milestone(
    world: World, actor: Actor, repository: Repository, *, title: str, description: str | None = None
) -> Milestone:
    """A new open milestone. Raises `Unprocessable` for a title that exists."""
    with world.changing():
        user = require(world, actor, repository, Role.TRIAGE, "issues")
        if any(each.title == title for each in world.store.children(Milestone, repository.id)):
            raise invalid("Milestone", "title", "already_exists")
        now = world.clock.now()
        return world.store.put(
            Milestone(
                id=world.store.next_id(),
                repository_id=repository.id,
                number=world.store.next_number(f"milestone/{repository.id}"),
                title=title,
                description=description,
                creator_id=user.id,
                created_at=now,
                updated_at=now,
            )
        )


def set_milestone(world: World, actor: Actor, issue: Issue, number: int | None) -> Issue:
    """Put the issue into a milestone, or into none. Raises `Unprocessable` for an unknown number."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.TRIAGE, label_permission(actor, issue))
        old = world.store.get(Milestone, issue.milestone_id)
        new = None if number is None else world.store.find(Milestone, f"{issue.repository_id}/{number}")
        if number is not None and new is None:
            raise invalid("Issue", "milestone")
        if old == new:
            return issue
        if old is not None:
            record_event(world, issue, user.id, "demilestoned", milestone_title=old.title)
        if new is not None:
            record_event(world, issue, user.id, "milestoned", milestone_title=new.title)
        update = {"milestone_id": None if new is None else new.id, "updated_at": world.clock.now()}
        return world.store.put(issue.model_copy(update=update))


def lock_issue(world: World, actor: Actor, issue: Issue, reason: LockReason | None = None) -> Issue:
    """Let only writers comment."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.WRITE, label_permission(actor, issue))
        if not issue.is_locked:
            record_event(world, issue, user.id, "locked", lock_reason=reason)
        return world.store.put(issue.model_copy(update={"is_locked": True, "lock_reason": reason}))


def unlock_issue(world: World, actor: Actor, issue: Issue) -> Issue:
    """Let everybody comment again."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.WRITE, label_permission(actor, issue))
        if issue.is_locked:
            record_event(world, issue, user.id, "unlocked")
        return world.store.put(issue.model_copy(update={"is_locked": False, "lock_reason": None}))


def refreshed(world: World, issue: Issue) -> Issue:
    """The issue as it is now; the one in hand was read before the lock was taken. Raises `NotFound`."""
    stored = world.store.get(Issue, issue.id)
    if stored is None:
        raise NotFound
    return stored


def check_is_issue(issue: Issue) -> None:
    """Raises `Unprocessable` for a pull request where only an issue will do."""
    if issue.pull is not None:
        raise Unprocessable(f"#{issue.number} is a pull request; an issue is wanted")
