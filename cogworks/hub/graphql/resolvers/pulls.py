"""What is answered about pull requests beyond what they share with issues."""

from dataclasses import dataclass
from typing import Any

from cogworks.hub.actions.merging import Mergeability, merge_state, mergeability
from cogworks.hub.actions.pulls import fork_point, pull_part
from cogworks.hub.actions.timeline import closing_numbers
from cogworks.hub.gitdiff import FileChange
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import GitCommit, GitRef, PullCommit
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.gitobjects import commit_of, pull_commits
from cogworks.hub.graphql.resolvers.issues import by_number
from cogworks.hub.graphql.resolvers.listings import issue_page, pull_state
from cogworks.hub.graphql.resolvers.paths import issue_path
from cogworks.hub.graphql.resolvers.refs import HEADS, find_ref
from cogworks.hub.graphql.scalars import html_of
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import Role, node_id
from cogworks.hub.records import Issue, Repository, ReviewComment, User

TABLE = Table()

_PATCH_STATUS = {"removed": "DELETED"}


def _repository(pull: Issue, request: Request) -> Repository:
    return request.repository(pull.repository_id)


def _branch(pull: Issue, request: Request, name: str) -> GitRef | None:
    return find_ref(_repository(pull, request), request, HEADS + name)


def _mergeable(pull: Issue, request: Request) -> Mergeability:
    """Asked once per document, so that all of its fields agree."""
    return request.once(("mergeable", pull.id), lambda: mergeability(request.world, pull))


def _changes(pull: Issue, request: Request) -> tuple[FileChange, ...]:
    def read() -> tuple[FileChange, ...]:
        git = request.git(_repository(pull, request))
        return git.changes(fork_point(request.world, pull), pull_part(pull).head_oid)

    return request.once(("changes", pull.id), read)


def _may_push(pull: Issue, request: Request) -> bool:
    return request.viewer_role(_repository(pull, request)).covers(Role.WRITE)


def _comment_count(pull: Issue, request: Request) -> int:
    return len(request.comments(pull)) + request.store.count(ReviewComment, pull.id)


def _merge_commit(pull: Issue, request: Request) -> GitCommit | None:
    return commit_of(_repository(pull, request), request, pull_part(pull).merge_commit_oid)


def _can_delete_head(pull: Issue, request: Request) -> bool:
    head = pull_part(pull).head_branch
    return not pull.is_open and _may_push(pull, request) and _branch(pull, request, head) is not None


TABLE.plain(
    "PullRequest",
    Issue,
    {
        "state": lambda pull, _: pull_state(pull),
        "titleHTML": lambda pull, _: html_of(pull.title),
        "isDraft": lambda pull, _: pull_part(pull).is_draft,
        "merged": lambda pull, _: pull_part(pull).merged_at is not None,
        "mergedAt": lambda pull, _: pull_part(pull).merged_at,
        "mergedBy": lambda pull, request: request.user(pull_part(pull).merged_by_id),
        "mergeCommit": _merge_commit,
        "mergeable": _mergeable,
        "mergeStateStatus": lambda pull, request: merge_state(request.world, pull, _mergeable(pull, request)),
        "canBeRebased": lambda pull, request: _mergeable(pull, request) == "MERGEABLE",
        "headRefName": lambda pull, _: pull_part(pull).head_branch,
        "headRefOid": lambda pull, _: pull_part(pull).head_oid,
        "headRef": lambda pull, request: _branch(pull, request, pull_part(pull).head_branch),
        "headRepository": _repository,
        "headRepositoryOwner": lambda pull, request: request.user(_repository(pull, request).owner_id),
        "baseRefName": lambda pull, _: pull_part(pull).base_branch,
        "baseRefOid": lambda pull, _: pull_part(pull).base_oid,
        "baseRef": lambda pull, request: _branch(pull, request, pull_part(pull).base_branch),
        "baseRepository": _repository,
        # The hub has no forks.
        "isCrossRepository": lambda _pull, _request: False,
        "maintainerCanModify": lambda pull, _: pull_part(pull).maintainer_can_modify,
        "isInMergeQueue": lambda _pull, _request: False,
        "isMergeQueueEnabled": lambda _pull, _request: False,
        # Null where no rule of the base branch requires reviews; the hub has no such rules.
        "reviewDecision": lambda _pull, _request: None,
        "additions": lambda pull, request: sum(change.additions for change in _changes(pull, request)),
        "deletions": lambda pull, request: sum(change.deletions for change in _changes(pull, request)),
        "changedFiles": lambda pull, request: len(_changes(pull, request)),
        "totalCommentsCount": _comment_count,
        "permalink": lambda pull, request: request.url(issue_path(pull, request)),
        "checksResourcePath": lambda pull, request: f"{issue_path(pull, request)}/checks",
        "checksUrl": lambda pull, request: request.url(f"{issue_path(pull, request)}/checks"),
        "revertResourcePath": lambda pull, request: f"{issue_path(pull, request)}/revert",
        "revertUrl": lambda pull, request: request.url(f"{issue_path(pull, request)}/revert"),
        "viewerCanApplySuggestion": _may_push,
        "viewerCanEditFiles": _may_push,
        "viewerCanUpdateBranch": _may_push,
        "viewerCanDeleteHeadRef": _can_delete_head,
        "viewerCanEnableAutoMerge": lambda _pull, _request: False,
        "viewerCanDisableAutoMerge": lambda _pull, _request: False,
        "viewerCanMergeAsAdmin": lambda pull, request: (
            request.viewer_role(_repository(pull, request)) is Role.ADMIN
        ),
    },
)


@TABLE.field("PullRequest", "commits")
def commits(pull: Issue, request: Request, **paging: Any) -> Connection[PullCommit]:
    return connect(pull_commits(pull, request), paging, key=lambda row: row.commit.oid)


@TABLE.field("PullRequest", "files")
def files(pull: Issue, request: Request, **paging: Any) -> Connection[FileChange]:
    return connect(_changes(pull, request), paging, key=lambda change: change.path)


TABLE.plain(
    "PullRequestChangedFile",
    FileChange,
    {
        "path": lambda change, _: change.path,
        "additions": lambda change, _: change.additions,
        "deletions": lambda change, _: change.deletions,
        "changeType": lambda change, _: _PATCH_STATUS.get(change.status, change.status.upper()),
        "viewerViewedState": lambda _change, _request: "UNVIEWED",
    },
)


@TABLE.field("PullRequest", "closingIssuesReferences")
def closing_issues(pull: Issue, request: Request, **arguments: Any) -> Connection[Issue]:
    """The issues that merging closes: those its text names, if it goes into the default branch."""
    repository = _repository(pull, request)
    numbers = closing_numbers(pull.body) if pull_part(pull).base_branch == repository.default_branch else ()
    issues = (by_number(repository, request, number) for number in numbers)
    return issue_page([issue for issue in issues if issue is not None], request, arguments)


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """Somebody who was asked for a review and has not given it."""

    type_name = "ReviewRequest"
    pull: Issue
    reviewer: User


def requests_of(pull: Issue, request: Request) -> list[ReviewRequest]:
    """The open requests for review, oldest first."""
    return [ReviewRequest(pull, request.world.user(each)) for each in pull_part(pull).requested_reviewer_ids]


@TABLE.field("PullRequest", "reviewRequests")
def review_requests(pull: Issue, request: Request, **paging: Any) -> Connection[ReviewRequest]:
    return connect(requests_of(pull, request), paging, key=lambda row: row.reviewer.id)


TABLE.plain(
    "ReviewRequest",
    ReviewRequest,
    {
        "id": lambda row, _: node_id(row.type_name, row.pull.id, row.reviewer.id),
        "asCodeOwner": lambda _row, _request: False,
        "pullRequest": lambda row, _: row.pull,
        "requestedReviewer": lambda row, _: row.reviewer,
    },
)
