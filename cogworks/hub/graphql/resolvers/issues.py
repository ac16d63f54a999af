"""What is answered about issues, and about what pull requests have in common with them."""

from typing import Any

from cogworks.hub.actions.hierarchy import blocked_by, blocking, sub_issues
from cogworks.hub.actions.timeline import closing_numbers, is_visible
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.listings import issue_page, pull_page
from cogworks.hub.graphql.resolvers.paths import issue_path
from cogworks.hub.graphql.resolvers.repositories import sorted_labels
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Comment, Event, Issue, Label, Milestone, Repository, User
from cogworks.hub.refusals import NotFound

TABLE = Table()

BOTH = "Issue PullRequest"


def _viewer_covers(role: Role) -> Any:
    def covers(issue: Issue, request: Request) -> bool:
        return request.viewer_role(request.repository(issue.repository_id)).covers(role)

    return covers


def _may_close(issue: Issue, request: Request) -> bool:
    return request.is_viewer(issue.author_id) or bool(_viewer_covers(Role.TRIAGE)(issue, request))


def _summary(issue: Issue, request: Request) -> dict[str, int]:
    children = sub_issues(request.world, issue)
    done = sum(not child.is_open for child in children)
    percent = done * 100 // len(children) if children else 0
    return {"total": len(children), "completed": done, "percentCompleted": percent}


TABLE.plain(
    BOTH,
    Issue,
    {
        "number": lambda issue, _: issue.number,
        "title": lambda issue, _: issue.title,
        "closed": lambda issue, _: not issue.is_open,
        "closedAt": lambda issue, _: issue.closed_at,
        "locked": lambda issue, _: issue.is_locked,
        "activeLockReason": lambda issue, _: lock_reason(issue.lock_reason),
        "milestone": lambda issue, request: request.store.get(Milestone, issue.milestone_id),
        "viewerCanLabel": _viewer_covers(Role.TRIAGE),
        "viewerCanClose": lambda issue, request: issue.is_open and _may_close(issue, request),
        "viewerCanReopen": lambda issue, request: not issue.is_open and _may_close(issue, request),
        "viewerCanSubscribe": lambda _issue, request: request.actor.user is not None,
    },
)
TABLE.plain(
    "Issue",
    Issue,
    {
        "state": lambda issue, _: issue.state.upper(),
        "titleHTML": lambda issue, _: issue.title,
        "viewerCanDelete": _viewer_covers(Role.ADMIN),
        "parent": lambda issue, request: request.issue(issue.parent_id),
        "bodyUrl": lambda issue, request: request.url(f"{issue_path(issue, request)}#issue-{issue.id}"),
        "bodyResourcePath": lambda issue, request: f"{issue_path(issue, request)}#issue-{issue.id}",
        "isPinned": lambda _issue, _request: False,
        "subIssuesSummary": _summary,
        "issueDependenciesSummary": lambda issue, request: {
            # Only what is still open counts, though `blockedBy` lists closed ones too.
            "blockedBy": sum(each.is_open for each in blocked_by(request.world, issue)),
            "blocking": sum(each.is_open for each in blocking(request.world, issue)),
        },
    },
)


def lock_reason(reason: str | None) -> str | None:
    """GraphQL's LockReason for REST's word: `too heated` -> `TOO_HEATED`."""
    return None if reason is None else reason.upper().replace(" ", "_").replace("-", "_")


@TABLE.field("Issue", "stateReason")
def state_reason(issue: Issue, _request: Request, enable_duplicate: bool = False) -> str | None:
    if issue.state_reason == "duplicate" and not enable_duplicate:
        return "NOT_PLANNED"
    return None if issue.state_reason is None else issue.state_reason.upper()


@TABLE.field(BOTH, "labels")
def labels(issue: Issue, request: Request, order_by: Any = None, **paging: Any) -> Connection[Label]:
    worn = request.store.many(Label, issue.label_ids)
    return connect(sorted_labels(worn, order_by), paging, key=lambda label: label.id)


@TABLE.field(BOTH, "assignees")
def assignees(issue: Issue, request: Request, **paging: Any) -> Connection[User]:
    users = request.store.many(User, issue.assignee_ids)
    return connect(users, paging, key=lambda user: user.id)


@TABLE.field(BOTH, "participants")
def participants(issue: Issue, request: Request, **paging: Any) -> Connection[User]:
    """The author, then everybody who commented, in the order they appeared; apps are left out, as on GitHub."""
    ids = dict.fromkeys((issue.author_id, *(comment.author_id for comment in request.comments(issue))))
    users = [request.world.user(user_id) for user_id in ids]
    return connect([user for user in users if user.kind == "User"], paging, key=lambda user: user.id)


@TABLE.field(BOTH, "comments")
def comments(issue: Issue, request: Request, order_by: Any = None, **paging: Any) -> Connection[Comment]:
    records = request.comments(issue)
    if order_by is not None:
        is_descending = order_by["direction"] == "DESC"
        records = sorted(records, key=lambda comment: (comment.updated_at, comment.id), reverse=is_descending)
    return connect(records, paging, key=lambda comment: comment.id)


@TABLE.field("Issue", "subIssues")
def sub_issue_page(issue: Issue, request: Request, **paging: Any) -> Connection[Issue]:
    return connect(sub_issues(request.world, issue), paging, key=lambda child: child.id)


@TABLE.field("Issue", "blockedBy")
def blocked_by_page(issue: Issue, request: Request, **paging: Any) -> Connection[Issue]:
    return connect(blocked_by(request.world, issue), paging, key=lambda other: other.id)


@TABLE.field("Issue", "blocking")
def blocking_page(issue: Issue, request: Request, **paging: Any) -> Connection[Issue]:
    return connect(blocking(request.world, issue), paging, key=lambda other: other.id)


@TABLE.field("Issue", "closedByPullRequestsReferences")
def closed_by(
    issue: Issue, request: Request, include_closed_prs: bool = False, **paging: Any
) -> Connection[Issue]:
    """Pull requests whose text says that they close the issue; those that were closed only on demand."""
    sources = [
        request.issue(int(event.details["source_id"] or 0))
        for event in request.store.children(Event, issue.id, tag="cross_referenced")
        if is_visible(request.world, event)
    ]
    pulls = [
        pull
        for pull in sources
        if pull is not None
        and pull.pull is not None
        and issue.number in closing_numbers(pull.body)
        and (pull.is_open or pull.pull.merged_at is not None or include_closed_prs)
    ]
    return connect(pulls, paging, key=lambda pull: pull.id)


@TABLE.field("Repository", "issue")
def issue(repository: Repository, request: Request, number: int) -> Issue:
    record = by_number(repository, request, number)
    if record is None or record.pull is not None:
        raise NotFound(f"Could not resolve to an Issue with the number of {number}.")
    return record


@TABLE.field("Repository", "issueOrPullRequest")
def issue_or_pull(repository: Repository, request: Request, number: int) -> Issue:
    record = by_number(repository, request, number)
    if record is None:
        raise NotFound(f"Could not resolve to an issue or pull request with the number of {number}.")
    return record


def by_number(repository: Repository, request: Request, number: int) -> Issue | None:
    return request.store.find(Issue, f"{repository.id}/{number}")


@TABLE.field("Repository", "issues")
def issues(repository: Repository, request: Request, **arguments: Any) -> Connection[Issue]:
    return issue_page(request.issues(repository), request, arguments)


@TABLE.field("Repository", "pullRequests")
def pulls(repository: Repository, request: Request, **arguments: Any) -> Connection[Issue]:
    return pull_page(request.issues(repository), request, arguments)


@TABLE.field("Label Milestone", "issues")
def issues_of_group(group: Label | Milestone, request: Request, **arguments: Any) -> Connection[Issue]:
    return issue_page(_of_group(group, request), request, arguments)


@TABLE.field("Label Milestone", "pullRequests")
def pulls_of_group(group: Label | Milestone, request: Request, **arguments: Any) -> Connection[Issue]:
    return pull_page(_of_group(group, request), request, arguments)


def _of_group(group: Label | Milestone, request: Request) -> list[Issue]:
    everything = request.issues(request.repository(group.repository_id))
    if isinstance(group, Label):
        return [issue for issue in everything if group.id in issue.label_ids]
    return [issue for issue in everything if issue.milestone_id == group.id]


@TABLE.field("Repository", "pullRequest")
def pull(repository: Repository, request: Request, number: int) -> Issue:
    record = by_number(repository, request, number)
    if record is None or record.pull is None:
        raise NotFound(f"Could not resolve to a PullRequest with the number of {number}.")
    return record
