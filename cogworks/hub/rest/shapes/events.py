"""The timeline of an issue, as REST writes it."""

from cogworks.hub.actions.access import association, repository_by_id, repository_of
from cogworks.hub.actions.timeline import TimelineItem
from cogworks.hub.clock import iso
from cogworks.hub.gitobjects import Commit
from cogworks.hub.records import Comment, Event, Issue, Review, User
from cogworks.hub.rest.shapes.gitdata import git_commit
from cogworks.hub.rest.shapes.issues import comment as comment_shape
from cogworks.hub.rest.shapes.issues import issue as issue_shape
from cogworks.hub.rest.shapes.people import Json, integration, simple_user
from cogworks.hub.rest.shapes.pulls import review as review_shape
from cogworks.hub.rest.shapes.repositories import repository, repository_url
from cogworks.hub.world import World

_ISSUE_FIELDS = {
    "sub_issue_added": ("sub_issue", "sub_issue_id"),
    "sub_issue_removed": ("sub_issue", "sub_issue_id"),
    "parent_issue_added": ("parent_issue", "parent_issue_id"),
    "parent_issue_removed": ("parent_issue", "parent_issue_id"),
    "blocked_by_added": ("blocked_by", "blocking_issue_id"),
    "blocked_by_removed": ("blocked_by", "blocking_issue_id"),
    "blocking_added": ("blocking", "blocked_issue_id"),
    "blocking_removed": ("blocking", "blocked_issue_id"),
}
_USER_FIELDS = {
    "assigned": ("assignee", "assignee_id"),
    "unassigned": ("assignee", "assignee_id"),
    "review_requested": ("requested_reviewer", "reviewer_id"),
    "review_request_removed": ("requested_reviewer", "reviewer_id"),
}
UNLISTED = frozenset({"cross_referenced"})
"""Kinds that the timeline shows and the list of events does not."""


def event(world: World, record: Event) -> Json:
    """One event; what its kind adds comes last."""
    actor = world.user(record.actor_id)
    root = repository_url(world, repository_by_id(world, record.repository_id))
    commit = record.details.get("commit_id")
    return {
        "id": record.id,
        "node_id": record.node_id,
        "url": f"{root}/issues/events/{record.id}",
        "actor": simple_user(world, actor),
        "event": record.kind,
        "commit_id": commit,
        "commit_url": None if commit is None else f"{root}/commits/{commit}",
        "created_at": iso(record.created_at),
        "performed_via_github_app": integration(world, actor),
        **_details(world, record),
    }


def _details(world: World, record: Event) -> Json:
    details = record.details
    match record.kind:
        case "labeled" | "unlabeled":
            return {"label": {"name": details["label_name"], "color": details["label_color"]}}
        case "renamed":
            return {"rename": {"from": details["from"], "to": details["to"]}}
        case "milestoned" | "demilestoned":
            return {"milestone": {"title": details["milestone_title"]}}
        case "closed":
            return {"state_reason": details.get("state_reason")}
        case "locked":
            return {"lock_reason": details.get("lock_reason")}
        case "review_dismissed":
            message = {"state": "dismissed", "review_id": details["review_id"]}
            return {"dismissed_review": {**message, "dismissal_message": details.get("message")}}
        case kind if kind in _USER_FIELDS:
            return _person(world, record)
        case kind if kind in _ISSUE_FIELDS:
            field, source = _ISSUE_FIELDS[kind]
            return {field: _reference(world, details.get(source))}
        case _:
            return {}


def _person(world: World, record: Event) -> Json:
    field, source = _USER_FIELDS[record.kind]
    user_id = record.details.get(source)
    person = None if not isinstance(user_id, int) else world.store.get(User, user_id)
    shape = {} if person is None else {field: simple_user(world, person)}
    by = simple_user(world, world.user(record.actor_id))
    return {**shape, "assigner": by} if field == "assignee" else {**shape, "review_requester": by}


def _reference(world: World, issue_id: object) -> Json | None:
    issue = world.store.get(Issue, issue_id) if isinstance(issue_id, int) else None
    if issue is None:
        return None
    return {
        "number": issue.number,
        "title": issue.title,
        "state": issue.state,
        "state_reason": issue.state_reason,
        "repository": repository(world, repository_of(world, issue)),
        "issue_type": None,
    }


def timeline_item(world: World, issue: Issue, item: TimelineItem) -> Json:
    """Anything that the timeline shows, told apart by `event`."""
    if isinstance(item, Commit):
        return {"event": "committed", **git_commit(world, repository_of(world, issue), item)}
    if isinstance(item, Comment):
        shape = comment_shape(world, item)
        return {**shape, "event": "commented", "actor": shape["user"]}
    if isinstance(item, Review):
        shape = review_shape(world, issue, item)
        return {**shape, "state": item.state.lower(), "event": "reviewed"}
    if item.kind == "cross_referenced":
        return _cross_reference(world, item)
    return event(world, item)


def _cross_reference(world: World, record: Event) -> Json:
    source = record.details.get("source_id")
    issue = world.store.get(Issue, source) if isinstance(source, int) else None
    shape: Json = {} if issue is None else {"type": "issue", "issue": issue_shape(world, issue)}
    return {
        "event": "cross-referenced",
        "actor": simple_user(world, world.user(record.actor_id)),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.created_at),
        "source": shape,
        "author_association": association(
            world, repository_by_id(world, record.repository_id), record.actor_id
        ),
    }
