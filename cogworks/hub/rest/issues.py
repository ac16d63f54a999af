"""Issues and what hangs on them over REST: labels, people, locks, timeline, sub-issues, dependencies."""

from cogworks.hub.actions import hierarchy
from cogworks.hub.actions.issues import (
    StateReason,
    add_assignees,
    close_issue,
    create_issue,
    edit_issue,
    lock_issue,
    remove_assignees,
    reopen_issue,
    set_assignees,
    set_milestone,
    unlock_issue,
)
from cogworks.hub.actions.labels import add_labels, find_label, labels_named, remove_labels, set_labels
from cogworks.hub.actions.pulls import close_pull, pull_commits, reopen_pull
from cogworks.hub.actions.timeline import events, timeline
from cogworks.hub.records import Issue, Label, User
from cogworks.hub.refusals import NotFound, Unprocessable
from cogworks.hub.rest.exchange import NO_CONTENT, Answer, Call, Fields, Route, created
from cogworks.hub.rest.shapes.events import UNLISTED, event, timeline_item
from cogworks.hub.rest.shapes.issues import issue as issue_shape
from cogworks.hub.rest.shapes.repositories import label as label_shape

_REASONS: dict[str, StateReason] = {"not_planned": "not_planned", "duplicate": "duplicate"}


def list_issues(call: Call) -> Answer:
    """Issues and pull requests, filtered as the query says, newest first unless told otherwise."""
    issues = [issue for issue in call.issues() if _wanted(call, issue)]
    by_update = call.query.get("sort") == "updated"
    issues.sort(
        key=lambda issue: (issue.updated_at if by_update else issue.created_at, issue.number),
        reverse=call.query.get("direction", "desc") != "asc",
    )
    return call.page(issues, lambda issue: issue_shape(call.world, issue))


def _wanted(call: Call, issue: Issue) -> bool:
    query, world = call.query, call.world
    if query.get("state", "open") not in ("all", issue.state):
        return False
    names = [name.lower() for name in query.get("labels", "").split(",") if name]
    worn = {label.name.lower() for label in world.store.many(Label, issue.label_ids)}
    if not worn.issuperset(names):
        return False
    if "creator" in query and world.user(issue.author_id).login.lower() != query["creator"].lower():
        return False
    logins = [user.login.lower() for user in world.store.many(User, issue.assignee_ids)]
    assignee = query.get("assignee", "")
    if assignee not in ("", "*", "none") and assignee.lower() not in logins:
        return False
    return "since" not in query or issue.updated_at.isoformat()[:19] >= query["since"][:19]


def post_issue(call: Call) -> Answer:
    fields = call.fields
    assignee = fields.text("assignee")
    issue = create_issue(
        call.world,
        call.actor,
        call.repository(),
        title=str(fields.get("title") or "") if fields.get("title") is not None else fields.required("title"),
        body=fields.text("body"),
        labels=label_names(fields) or (),
        assignees=fields.texts("assignees") or ((assignee,) if assignee else ()),
        milestone=fields.number("milestone"),
    )
    return created(issue_shape(call.world, issue))


def label_names(fields: Fields) -> tuple[str, ...] | None:
    """The names in `labels`, which may be strings or objects with a name; None when the field is missing."""
    entries = fields.get("labels")
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise Unprocessable("Invalid request.\n\nFor 'labels', an array is wanted.")
    names = [each.get("name") if isinstance(each, dict) else each for each in entries]
    if not all(isinstance(name, str) for name in names):
        raise Unprocessable("Invalid request.\n\nFor 'labels', names are wanted.")
    return tuple(str(name) for name in names)


def get_issue(call: Call) -> Answer:
    return Answer(issue_shape(call.world, call.issue()))


def patch_issue(call: Call) -> Answer:
    world, actor, fields = call.world, call.actor, call.fields
    with world.changing():
        issue = edit_issue(world, actor, call.issue(), title=_title(fields), body=_body(fields))
        names = label_names(fields)
        if names is not None:
            issue = set_labels(world, actor, issue, labels_named(world, actor, call.repository(), names))
        assignees = fields.texts("assignees")
        if assignees is not None:
            issue = set_assignees(world, actor, issue, assignees)
        if "milestone" in fields:
            issue = set_milestone(world, actor, issue, fields.number("milestone"))
        issue = _with_state(call, issue)
    return Answer(issue_shape(world, issue))


def _title(fields: Fields) -> str | None:
    title = fields.get("title")
    return None if title is None else str(title)  # GitHub takes a number as a title


def _body(fields: Fields) -> str | None:
    """A body of null clears it."""
    return (fields.text("body") or "") if "body" in fields else None


def _with_state(call: Call, issue: Issue) -> Issue:
    state = call.fields.choice("state", ("open", "closed"))
    reason = call.fields.choice("state_reason", ("completed", "not_planned", "reopened", "duplicate"))
    if state == "closed" and issue.pull is not None:
        return close_pull(call.world, call.actor, issue)
    if state == "closed":
        return close_issue(call.world, call.actor, issue, _REASONS.get(reason or "", "completed"))
    if state == "open" and issue.pull is not None:
        return reopen_pull(call.world, call.actor, issue)
    return reopen_issue(call.world, call.actor, issue) if state == "open" else issue


def list_labels(call: Call) -> Answer:
    return _labels(call, call.issue())


def _labels(call: Call, issue: Issue) -> Answer:
    return call.page(
        call.world.store.many(Label, issue.label_ids), lambda each: label_shape(call.world, each)
    )


def _sent_labels(call: Call) -> tuple[Label, ...]:
    """GitHub takes `{"labels": [...]}` as well as the bare list."""
    fields = Fields({"labels": call.body}) if isinstance(call.body, list) else call.fields
    return labels_named(call.world, call.actor, call.repository(), label_names(fields) or ())


def post_labels(call: Call) -> Answer:
    with call.world.changing():
        return _labels(call, add_labels(call.world, call.actor, call.issue(), _sent_labels(call)))


def put_labels(call: Call) -> Answer:
    with call.world.changing():
        return _labels(call, set_labels(call.world, call.actor, call.issue(), _sent_labels(call)))


def delete_labels(call: Call) -> Answer:
    set_labels(call.world, call.actor, call.issue(), ())
    return NO_CONTENT


def delete_label(call: Call) -> Answer:
    issue = call.issue()
    label = find_label(call.world, call.repository(), call.path["name"])
    if label.id not in issue.label_ids:
        raise NotFound("Label does not exist")
    return _labels(call, remove_labels(call.world, call.actor, issue, (label,)))


def post_assignees(call: Call) -> Answer:
    changed = add_assignees(call.world, call.actor, call.issue(), call.fields.texts("assignees") or ())
    return created(issue_shape(call.world, changed))


def delete_assignees(call: Call) -> Answer:
    changed = remove_assignees(call.world, call.actor, call.issue(), call.fields.texts("assignees") or ())
    return Answer(issue_shape(call.world, changed))


def lock(call: Call) -> Answer:
    word = call.fields.choice("lock_reason", ("off-topic", "too heated", "resolved", "spam"))
    reason = next((each for each in ("off-topic", "too heated", "resolved", "spam") if each == word), None)
    lock_issue(call.world, call.actor, call.issue(), reason)
    return NO_CONTENT


def unlock(call: Call) -> Answer:
    unlock_issue(call.world, call.actor, call.issue())
    return NO_CONTENT


def list_events(call: Call) -> Answer:
    records = [each for each in events(call.world, call.issue()) if each.kind not in UNLISTED]
    return call.page(records, lambda each: event(call.world, each))


def list_timeline(call: Call) -> Answer:
    issue = call.issue()
    commits = () if issue.pull is None else tuple(pull_commits(call.world, issue))
    items = timeline(call.world, issue, commits)
    return call.page(items, lambda item: timeline_item(call.world, issue, item))


def list_sub_issues(call: Call) -> Answer:
    children = hierarchy.sub_issues(call.world, call.issue(pull=False))
    return call.page(children, lambda each: issue_shape(call.world, each))


def _named_issue(call: Call, field: str) -> Issue:
    """The issue whose database id is in the body."""
    number = call.fields.number(field)
    if number is None:
        call.fields.required(field)
    issue = call.world.store.get(Issue, number)
    if issue is None:
        raise NotFound("The provided sub-issue does not exist" if field == "sub_issue_id" else "Not Found")
    return issue


def post_sub_issue(call: Call) -> Answer:
    child = _named_issue(call, "sub_issue_id")
    replace = call.fields.flag("replace_parent") or False
    parent = call.issue(pull=False)
    hierarchy.add_sub_issue(call.world, call.actor, parent, child, replace_parent=replace)
    return created(issue_shape(call.world, call.issue()))


def delete_sub_issue(call: Call) -> Answer:
    child = _named_issue(call, "sub_issue_id")
    parent = hierarchy.remove_sub_issue(call.world, call.actor, call.issue(pull=False), child)
    return Answer(issue_shape(call.world, parent))


def move_sub_issue(call: Call) -> Answer:
    parent = hierarchy.move_sub_issue(
        call.world,
        call.actor,
        call.issue(pull=False),
        _named_issue(call, "sub_issue_id"),
        after_id=call.fields.number("after_id"),
        before_id=call.fields.number("before_id"),
    )
    return Answer(issue_shape(call.world, parent))


def get_parent(call: Call) -> Answer:
    parent = call.world.store.get(Issue, call.issue().parent_id)
    if parent is None:
        raise NotFound
    return Answer(issue_shape(call.world, parent))


def list_blocked_by(call: Call) -> Answer:
    blockers = hierarchy.blocked_by(call.world, call.issue(pull=False))
    return call.page(blockers, lambda each: issue_shape(call.world, each))


def post_blocked_by(call: Call) -> Answer:
    issue = call.issue(pull=False)
    hierarchy.add_blocked_by(call.world, call.actor, issue, _named_issue(call, "issue_id"))
    return created(issue_shape(call.world, issue))


def list_blocking(call: Call) -> Answer:
    blocked = hierarchy.blocking(call.world, call.issue(pull=False))
    return call.page(blocked, lambda each: issue_shape(call.world, each))


def delete_blocked_by(call: Call) -> Answer:
    issue = call.issue(pull=False)
    blocker = call.world.store.get(Issue, call.path_number("issue_id"))
    if blocker is None:
        raise NotFound
    hierarchy.remove_blocked_by(call.world, call.actor, issue, blocker)
    return Answer(issue_shape(call.world, issue))


_ROOT = "/repos/{owner}/{repo}/issues"
_ONE = f"{_ROOT}/{{issue_number}}"
ROUTES = (
    Route("GET", _ROOT, list_issues),
    Route("POST", _ROOT, post_issue),
    Route("GET", _ONE, get_issue),
    Route("PATCH", _ONE, patch_issue),
    Route("GET", f"{_ONE}/labels", list_labels),
    Route("POST", f"{_ONE}/labels", post_labels),
    Route("PUT", f"{_ONE}/labels", put_labels),
    Route("DELETE", f"{_ONE}/labels", delete_labels),
    Route("DELETE", f"{_ONE}/labels/{{name}}", delete_label),
    Route("POST", f"{_ONE}/assignees", post_assignees),
    Route("DELETE", f"{_ONE}/assignees", delete_assignees),
    Route("PUT", f"{_ONE}/lock", lock),
    Route("DELETE", f"{_ONE}/lock", unlock),
    Route("GET", f"{_ONE}/events", list_events),
    Route("GET", f"{_ONE}/timeline", list_timeline),
    Route("GET", f"{_ONE}/sub_issues", list_sub_issues),
    Route("POST", f"{_ONE}/sub_issues", post_sub_issue),
    Route("DELETE", f"{_ONE}/sub_issue", delete_sub_issue),
    Route("PATCH", f"{_ONE}/sub_issues/priority", move_sub_issue),
    Route("GET", f"{_ONE}/parent", get_parent),
    Route("GET", f"{_ONE}/dependencies/blocked_by", list_blocked_by),
    Route("POST", f"{_ONE}/dependencies/blocked_by", post_blocked_by),
    Route("DELETE", f"{_ONE}/dependencies/blocked_by/{{issue_id}}", delete_blocked_by),
    Route("GET", f"{_ONE}/dependencies/blocking", list_blocking),
)
