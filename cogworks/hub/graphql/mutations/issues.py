"""Mutations of issues, of their place among other issues, and of what they share with pull requests."""

from collections.abc import Mapping
from typing import Any

from cogworks.hub.actions.hierarchy import (
    add_blocked_by,
    add_sub_issue,
    move_sub_issue,
    remove_sub_issue,
)
from cogworks.hub.actions.issues import (
    LockReason,
    StateReason,
    add_assignees,
    close_issue,
    create_issue,
    edit_issue,
    lock_issue,
    refreshed,
    remove_assignees,
    reopen_issue,
    set_assignees,
    set_milestone,
    unlock_issue,
)
from cogworks.hub.actions.labels import set_labels
from cogworks.hub.graphql.nodes import issue_node, node_of, repository_node
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.roots import resource
from cogworks.hub.graphql.tables import InputFields, Table
from cogworks.hub.records import Issue, Label, Milestone, User
from cogworks.hub.refusals import NotFound, Unprocessable

TABLE = Table()

BOTH = "Issue PullRequest"
_STATE_REASONS: dict[str, StateReason] = {
    "COMPLETED": "completed",
    "DUPLICATE": "duplicate",
    "NOT_PLANNED": "not_planned",
}
_LOCK_REASONS: dict[str, LockReason] = {
    "OFF_TOPIC": "off-topic",
    "RESOLVED": "resolved",
    "SPAM": "spam",
    "TOO_HEATED": "too heated",
}


def labels_of(request: Request, ids: list[str] | None) -> list[Label]:
    return [node_of(request, each, Label, names="Label") for each in ids or ()]


def logins_of(request: Request, ids: list[str] | None) -> list[str]:
    return [node_of(request, each, User, names="User Bot").login for each in ids or ()]


def milestone_number(request: Request, node_id: str | None) -> int | None:
    return None if node_id is None else node_of(request, node_id, Milestone, names="Milestone").number


@TABLE.mutation("createIssue")
def create(request: Request, fields: InputFields) -> Mapping[str, object]:
    """With `parentIssueId` it is a sub-issue from the start: both happen or neither."""
    world, actor = request.world, request.actor
    where = repository_node(request, fields["repository_id"])
    parent = issue_node(request, fields["parent_issue_id"]) if fields.get("parent_issue_id") else None
    with world.changing():
        issue = create_issue(
            world,
            actor,
            where,
            title=fields["title"],
            body=fields.get("body"),
            labels=[label.name for label in labels_of(request, fields.get("label_ids"))],
            assignees=logins_of(request, fields.get("assignee_ids")),
            milestone=milestone_number(request, fields.get("milestone_id")),
        )
        if parent is not None:
            add_sub_issue(world, actor, parent, issue)
            issue = refreshed(world, issue)
    return {"issue": issue}


@TABLE.mutation("updateIssue")
def update(request: Request, fields: InputFields) -> Mapping[str, object]:
    """What is given changes, all of it or nothing; a given null clears."""
    issue = issue_node(request, fields["id"])
    with request.world.changing():
        issue = changed(request, issue, fields)
        if fields.get("state") == "CLOSED" and issue.is_open:
            issue = close_issue(request.world, request.actor, issue)
        elif fields.get("state") == "OPEN":
            issue = reopen_issue(request.world, request.actor, issue)
    return {"issue": issue, "actor": request.actor.user}


def changed(request: Request, issue: Issue, fields: InputFields) -> Issue:
    """The issue or pull request after the changes of title, body, labels, assignees and milestone that are given."""
    world, actor = request.world, request.actor
    if fields.get("title") is not None or fields.get("body") is not None:
        issue = edit_issue(world, actor, issue, title=fields.get("title"), body=fields.get("body"))
    if "label_ids" in fields:
        issue = set_labels(world, actor, issue, labels_of(request, fields["label_ids"]))
    if "assignee_ids" in fields:
        issue = set_assignees(world, actor, issue, logins_of(request, fields["assignee_ids"]))
    if "milestone_id" in fields:
        issue = set_milestone(world, actor, issue, milestone_number(request, fields["milestone_id"]))
    return issue


@TABLE.mutation("closeIssue")
def close(request: Request, fields: InputFields) -> Mapping[str, object]:
    reason = _STATE_REASONS[fields.get("state_reason") or "COMPLETED"]
    issue = issue_node(request, fields["issue_id"])
    return {"issue": close_issue(request.world, request.actor, issue, reason)}


@TABLE.mutation("reopenIssue")
def reopen(request: Request, fields: InputFields) -> Mapping[str, object]:
    return {"issue": reopen_issue(request.world, request.actor, issue_node(request, fields["issue_id"]))}


@TABLE.mutation("addSubIssue")
def add_child(request: Request, fields: InputFields) -> Mapping[str, object]:
    parent, child = issue_node(request, fields["issue_id"]), _child(request, fields)
    replace = bool(fields.get("replace_parent"))
    parent = add_sub_issue(request.world, request.actor, parent, child, replace_parent=replace)
    return {"issue": parent, "subIssue": refreshed(request.world, child)}


def _child(request: Request, fields: InputFields) -> Issue:
    if fields.get("sub_issue_id") is not None:
        return issue_node(request, fields["sub_issue_id"])
    url = fields.get("sub_issue_url")
    if url is None:
        raise Unprocessable("One of `subIssueId` and `subIssueUrl` must be provided")
    child: Any = resource(None, request, url)
    if not isinstance(child, Issue) or child.pull is not None:
        raise NotFound(f"Could not resolve to an Issue with the URL '{url}'")
    return child


@TABLE.mutation("removeSubIssue")
def remove_child(request: Request, fields: InputFields) -> Mapping[str, object]:
    parent, child = issue_node(request, fields["issue_id"]), issue_node(request, fields["sub_issue_id"])
    parent = remove_sub_issue(request.world, request.actor, parent, child)
    return {"issue": parent, "subIssue": refreshed(request.world, child)}


@TABLE.mutation("reprioritizeSubIssue")
def move_child(request: Request, fields: InputFields) -> Mapping[str, object]:
    after, before = (
        None if fields.get(name) is None else issue_node(request, fields[name]).id
        for name in ("after_id", "before_id")
    )
    parent, child = issue_node(request, fields["issue_id"]), issue_node(request, fields["sub_issue_id"])
    moved = move_sub_issue(request.world, request.actor, parent, child, after_id=after, before_id=before)
    return {"issue": moved}


@TABLE.mutation("addBlockedBy")
def block(request: Request, fields: InputFields) -> Mapping[str, object]:
    issue, blocker = issue_node(request, fields["issue_id"]), issue_node(request, fields["blocking_issue_id"])
    add_blocked_by(request.world, request.actor, issue, blocker)
    return {"issue": refreshed(request.world, issue), "blockingIssue": refreshed(request.world, blocker)}


@TABLE.mutation("addAssigneesToAssignable")
def assign(request: Request, fields: InputFields) -> Mapping[str, object]:
    issue = node_of(request, fields["assignable_id"], Issue, names=BOTH)
    logins = logins_of(request, fields["assignee_ids"])
    return {"assignable": add_assignees(request.world, request.actor, issue, logins)}


@TABLE.mutation("removeAssigneesFromAssignable")
def unassign(request: Request, fields: InputFields) -> Mapping[str, object]:
    issue = node_of(request, fields["assignable_id"], Issue, names=BOTH)
    logins = logins_of(request, fields["assignee_ids"])
    return {"assignable": remove_assignees(request.world, request.actor, issue, logins)}


@TABLE.mutation("lockLockable")
def lock(request: Request, fields: InputFields) -> Mapping[str, object]:
    issue = node_of(request, fields["lockable_id"], Issue, names=BOTH)
    name = fields.get("lock_reason")
    reason = None if name is None else _LOCK_REASONS[name]
    return {
        "lockedRecord": lock_issue(request.world, request.actor, issue, reason),
        "actor": request.actor.user,
    }


@TABLE.mutation("unlockLockable")
def unlock(request: Request, fields: InputFields) -> Mapping[str, object]:
    issue = node_of(request, fields["lockable_id"], Issue, names=BOTH)
    return {
        "unlockedRecord": unlock_issue(request.world, request.actor, issue),
        "actor": request.actor.user,
    }
