"""What is answered about the timeline of issues and pull requests."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cogworks.hub.actions.pulls import pull_part
from cogworks.hub.actions.timeline import closing_numbers, moment, timeline
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import GitCommit, GitRef, PullCommit
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.gitobjects import commit_of, pull_commits
from cogworks.hub.graphql.resolvers.issues import lock_reason
from cogworks.hub.graphql.resolvers.paths import event_path
from cogworks.hub.graphql.resolvers.refs import HEADS, find_ref
from cogworks.hub.graphql.scalars import html_of
from cogworks.hub.graphql.tables import Table, event_type, item_type, typename
from cogworks.hub.records import Comment, Event, Issue, Label, PullRequest, Repository, Review, User
from cogworks.hub.refusals import NotFound

TABLE = Table()

Item = Event | Comment | Review | PullCommit

_ISSUE_EVENTS = {
    "assigned", "closed", "comment_deleted", "cross_referenced", "demilestoned", "labeled", "locked", "milestoned",
    "parent_issue_added", "parent_issue_removed", "renamed", "reopened", "sub_issue_added", "sub_issue_removed",
    "transferred", "unassigned", "unlabeled", "unlocked",
}  # fmt: skip
_PULL_EVENTS = (_ISSUE_EVENTS - {"transferred"}) | {
    "base_ref_changed", "base_ref_deleted", "base_ref_force_pushed", "convert_to_draft",
    "head_ref_deleted", "head_ref_force_pushed", "head_ref_restored", "merged", "ready_for_review",
    "review_dismissed", "review_request_removed", "review_requested",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timeline(Connection[Item]):
    """A page of a timeline; it also counts what is left on either side of it."""

    issue: Issue
    bounded: int
    """How many items lie between `after` and `before`."""


@TABLE.field("Issue PullRequest", "timelineItems")
def timeline_items(issue: Issue, request: Request, **arguments: Any) -> Timeline:
    """Items of the wanted types, oldest first, none of them older than `since`; `skip` leaves some out at the start."""
    items = request.once(("timeline", issue.id), lambda: _items(issue, request))
    wanted, since, skip = arguments.get("item_types"), arguments.get("since"), arguments.get("skip") or 0
    names = None if wanted is None else frozenset(wanted)
    kept = [
        item
        for item in items
        if (names is None or item_type(typename(item)) in names) and (since is None or _moment(item) >= since)
    ][skip:]
    page = connect(kept, arguments, key=_key)
    bounds = connect(kept, {name: arguments.get(name) for name in ("after", "before")}, key=_key)
    return Timeline(
        items=kept,
        start=page.start,
        stop=page.stop,
        key=_key,
        node=page.node,
        issue=issue,
        bounded=bounds.stop - bounds.start,
    )


def _items(issue: Issue, request: Request) -> list[Item]:
    """Everything on the timeline that GitHub's union has a type for."""
    known = _ISSUE_EVENTS if issue.pull is None else _PULL_EVENTS
    commits = [] if issue.pull is None else pull_commits(issue, request)
    by_oid = {commit.commit.oid: commit for commit in commits}
    items: list[Item] = []
    for item in timeline(request.world, issue, tuple(commit.commit.commit for commit in commits)):
        if isinstance(item, Comment | Review):
            items.append(item)
        elif isinstance(item, Event):
            items += [item] if item.kind in known else []
        else:
            items.append(by_oid[item.oid])
    return items


def _key(item: Item) -> str:
    return item.node_id


def _moment(item: Item) -> datetime:
    return moment(item.commit.commit if isinstance(item, PullCommit) else item)


TABLE.plain(
    "IssueTimelineItemsConnection PullRequestTimelineItemsConnection",
    Timeline,
    {
        "filteredCount": lambda page, _: page.bounded,
        "pageCount": lambda page, _: len(page.page),
        "updatedAt": lambda page, _: page.issue.updated_at,
    },
)

_EVENT_TYPES = " ".join(sorted({event_type(kind) for kind in _ISSUE_EVENTS | _PULL_EVENTS}))

TABLE.plain(
    _EVENT_TYPES,
    Event,
    {
        "id": lambda event, _: event.node_id,
        "actor": lambda event, request: request.user(event.actor_id),
        "createdAt": lambda event, _: event.created_at,
    },
)

Read = Callable[[Event, Request], object]


def _subject(event: Event, request: Request) -> Issue | None:
    return request.issue(event.issue_id)


def _detail(name: str) -> Read:
    return lambda event, _request: event.details.get(name)


def _related(name: str) -> Read:
    """The issue or pull request whose id the event keeps under `name`."""

    def read(event: Event, request: Request) -> Issue | None:
        related = event.details.get(name)
        return request.issue(related) if isinstance(related, int) else None

    return read


def _person(name: str) -> Read:
    def read(event: Event, request: Request) -> User | None:
        person = event.details.get(name)
        return request.user(person) if isinstance(person, int) else None

    return read


def _label(event: Event, request: Request) -> Label:
    """The label as it is now, or, when it is gone, as it was then."""
    label_id = event.details["label_id"]
    label = request.store.get(Label, label_id) if isinstance(label_id, int) else None
    return label or Label(
        id=int(label_id or 0),
        repository_id=event.repository_id,
        name=str(event.details["label_name"]),
        color=str(event.details.get("label_color") or "ededed"),
        created_at=event.created_at,
    )


def _reason(event: Event, _request: Request) -> str | None:
    reason = event.details.get("state_reason")
    return reason.upper() if isinstance(reason, str) else None


def _repository(event: Event, request: Request) -> Repository:
    return request.repository(event.repository_id)


def _commit(name: str) -> Read:
    def read(event: Event, request: Request) -> GitCommit | None:
        oid = event.details.get(name)
        return commit_of(_repository(event, request), request, oid) if isinstance(oid, str) else None

    return read


def _branch(event: Event, request: Request, name: str) -> GitRef | None:
    """The branch; null when it is gone."""
    return find_ref(_repository(event, request), request, HEADS + name)


def _ref(name: str) -> Read:
    """The branch whose name the event keeps under `name`; null when it is gone."""
    return lambda event, request: _branch(event, request, str(event.details.get(name)))


def _part(event: Event, request: Request) -> PullRequest:
    subject = _subject(event, request)
    if subject is None:
        raise NotFound
    return pull_part(subject)


def _review(event: Event, request: Request) -> Review | None:
    review_id = event.details.get("review_id")
    return request.store.get(Review, review_id) if isinstance(review_id, int) else None


def _will_close(event: Event, request: Request) -> bool:
    """Whether the source is a pull request that closes the target when it is merged."""
    source, target = _related("source_id")(event, request), _subject(event, request)
    if not isinstance(source, Issue) or source.pull is None or target is None:
        return False
    into_default = source.pull.base_branch == _repository(event, request).default_branch
    return into_default and target.pull is None and target.number in closing_numbers(source.body)


def _closer(event: Event, request: Request) -> Issue | GitCommit | None:
    """What closed the item, when it was not done by hand: the pull request whose merge did."""
    commit = _commit("commit_id")(event, request)
    if not isinstance(commit, GitCommit):
        return None
    merged = (pull for pull in request.issues(_repository(event, request)) if pull.pull is not None)
    pulls = (pull for pull in merged if pull.pull and pull.pull.merge_commit_oid == commit.oid)
    return next(pulls, None) or commit


TABLE.plain("LabeledEvent UnlabeledEvent", Event, {"label": _label, "labelable": _subject})
TABLE.plain("ClosedEvent ReopenedEvent", Event, {"closable": _subject, "stateReason": _reason})
TABLE.plain("ClosedEvent", Event, {"closer": _closer})
TABLE.plain(
    "ClosedEvent MergedEvent CrossReferencedEvent ReadyForReviewEvent ConvertToDraftEvent ReviewDismissedEvent",
    Event,
    {"resourcePath": event_path, "url": lambda event, request: request.url(event_path(event, request))},
)
TABLE.plain(
    "RenamedTitleEvent",
    Event,
    {"subject": _subject, "previousTitle": _detail("from"), "currentTitle": _detail("to")},
)
TABLE.plain(
    "CommentDeletedEvent",
    Event,
    {"databaseId": lambda event, _: event.id, "deletedCommentAuthor": _person("author_id")},
)
TABLE.plain(
    "CrossReferencedEvent",
    Event,
    {
        "source": _related("source_id"),
        "target": _subject,
        "referencedAt": lambda event, _: event.created_at,
        "willCloseTarget": _will_close,
        # References between repositories are not kept.
        "isCrossRepository": lambda _event, _request: False,
    },
)
TABLE.plain(
    "AssignedEvent UnassignedEvent",
    Event,
    {"assignable": _subject, "assignee": _person("assignee_id"), "user": _person("assignee_id")},
)
TABLE.plain("LockedEvent UnlockedEvent", Event, {"lockable": _subject})
TABLE.plain(
    "LockedEvent",
    Event,
    {"lockReason": lambda event, _: lock_reason(_text(event.details.get("lock_reason")))},
)
TABLE.plain(
    "MilestonedEvent DemilestonedEvent",
    Event,
    {"subject": _subject, "milestoneTitle": _detail("milestone_title")},
)
TABLE.plain("SubIssueAddedEvent SubIssueRemovedEvent", Event, {"subIssue": _related("sub_issue_id")})
TABLE.plain("ParentIssueAddedEvent ParentIssueRemovedEvent", Event, {"parent": _related("parent_issue_id")})
TABLE.plain("TransferredEvent", Event, {"issue": _subject})
TABLE.plain(
    "MergedEvent",
    Event,
    {
        "commit": _commit("commit_id"),
        "mergeRefName": lambda event, request: _part(event, request).base_branch,
        "mergeRef": lambda event, request: _branch(event, request, _part(event, request).base_branch),
    },
)
TABLE.plain("HeadRefDeletedEvent", Event, {"headRefName": _detail("ref"), "headRef": _ref("ref")})
TABLE.plain("BaseRefDeletedEvent", Event, {"baseRefName": _detail("ref")})
TABLE.plain(
    "HeadRefForcePushedEvent",
    Event,
    {
        "beforeCommit": _commit("before"),
        "afterCommit": _commit("after"),
        "ref": lambda event, request: _branch(event, request, _part(event, request).head_branch),
    },
)
TABLE.plain(
    "BaseRefChangedEvent",
    Event,
    {
        "databaseId": lambda event, _: event.id,
        "previousRefName": _detail("before"),
        "currentRefName": _detail("after"),
    },
)
TABLE.plain(
    "ReviewRequestedEvent ReviewRequestRemovedEvent", Event, {"requestedReviewer": _person("reviewer_id")}
)
TABLE.plain(
    "ReviewDismissedEvent",
    Event,
    {
        "databaseId": lambda event, _: event.id,
        "dismissalMessage": _detail("message"),
        "dismissalMessageHTML": lambda event, _: html_of(str(event.details.get("message") or "")),
        "review": _review,
    },
)
TABLE.plain(
    "MergedEvent HeadRefDeletedEvent HeadRefRestoredEvent HeadRefForcePushedEvent BaseRefChangedEvent BaseRefDeletedEvent "
    "BaseRefForcePushedEvent ReadyForReviewEvent ConvertToDraftEvent ReviewRequestedEvent ReviewRequestRemovedEvent "
    "ReviewDismissedEvent",
    Event,
    {"pullRequest": _subject},
)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
