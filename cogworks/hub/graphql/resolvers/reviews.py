"""What is answered about reviews, their inline comments and the threads these form."""

from dataclasses import dataclass
from typing import Any

from cogworks.hub.actions.reviews import latest_opinionated, reviews
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import GitCommit
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.gitobjects import commit_of
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import Role, node_id
from cogworks.hub.records import Issue, Repository, Review, ReviewComment
from cogworks.hub.refusals import NotFound

TABLE = Table()


def _visible(pull: Issue, request: Request) -> list[Review]:
    return request.once(
        ("visible-reviews", pull.id), lambda: reviews(request.world, pull, request.actor.user)
    )


def _author_can_push(review: Review, request: Request) -> bool:
    repository = request.repository(review.repository_id)
    return request.role(repository, request.user(review.author_id)).covers(Role.WRITE)


def _commit(record: Review | ReviewComment, request: Request) -> GitCommit | None:
    return commit_of(request.repository(record.repository_id), request, record.commit_oid)


def _pull(record: Review | ReviewComment, request: Request) -> Issue | None:
    return request.issue(record.issue_id)


TABLE.plain(
    "PullRequestReview",
    Review,
    {
        "state": lambda review, _: review.state,
        "submittedAt": lambda review, _: review.submitted_at,
        "commit": _commit,
        "pullRequest": _pull,
        "authorCanPushToRepository": _author_can_push,
        "isMinimized": lambda _review, _request: False,
        "viewerCanDelete": lambda review, request: (
            review.state == "PENDING" and request.is_viewer(review.author_id)
        ),
        "viewerCanMinimize": lambda _review, _request: False,
    },
)


@TABLE.field("PullRequest", "reviews")
def review_page(
    pull: Issue,
    request: Request,
    states: list[str] | None = None,
    author: str | None = None,
    **paging: Any,
) -> Connection[Review]:
    """Oldest first; a pending one only its author sees."""
    reviews = [
        review
        for review in _visible(pull, request)
        if (not states or review.state in states)
        and (author is None or request.world.user(review.author_id).login.lower() == author.lower())
    ]
    return connect(reviews, paging, key=lambda review: review.id)


@TABLE.field("PullRequest", "latestOpinionatedReviews")
def latest_opinionated_reviews(
    pull: Issue, request: Request, writers_only: bool = False, **paging: Any
) -> Connection[Review]:
    """The last word of each reviewer that approves, requests changes or was dismissed."""
    reviews = latest_opinionated(request.world, pull, writers_only=writers_only)
    return connect(reviews, paging, key=lambda review: review.id)


@TABLE.field("PullRequest", "latestReviews")
def latest_reviews(pull: Issue, request: Request, **paging: Any) -> Connection[Review]:
    """The last submitted review of each reviewer who is not asked for another one."""
    asked = () if pull.pull is None else pull.pull.requested_reviewer_ids
    newest = {review.author_id: review for review in _visible(pull, request) if review.state != "PENDING"}
    reviews = [review for author_id, review in newest.items() if author_id not in asked]
    return connect(sorted(reviews, key=lambda review: review.id), paging, key=lambda review: review.id)


@TABLE.field("PullRequest", "viewerLatestReview")
def viewer_latest_review(pull: Issue, request: Request) -> Review | None:
    mine = [review for review in _visible(pull, request) if request.is_viewer(review.author_id)]
    return mine[-1] if mine else None


def _comments(pull_id: int, request: Request) -> list[ReviewComment]:
    """The inline comments of a pull request that the viewer may see, oldest first."""
    pending = {
        review.id
        for review in request.store.children(Review, pull_id)
        if review.state == "PENDING" and not request.is_viewer(review.author_id)
    }
    comments = request.once(
        ("review-comments", pull_id), lambda: request.store.children(ReviewComment, pull_id)
    )
    return [comment for comment in comments if comment.review_id not in pending]


@TABLE.field("PullRequestReview", "comments")
def comments_of_review(review: Review, request: Request, **paging: Any) -> Connection[ReviewComment]:
    comments = [comment for comment in _comments(review.issue_id, request) if comment.review_id == review.id]
    return connect(comments, paging, key=lambda comment: comment.id)


@dataclass(frozen=True, slots=True)
class Thread:
    """A first inline comment and the replies to it."""

    type_name = "PullRequestReviewThread"
    first: ReviewComment
    comments: tuple[ReviewComment, ...]

    @property
    def repository_id(self) -> int:
        return self.first.repository_id

    @property
    def node_id(self) -> str:
        return node_id(self.type_name, self.first.id, "")


def thread_of(request: Request, first_id: int) -> Thread | None:
    """The thread that begins with that comment; None when none does."""
    first = request.store.get(ReviewComment, first_id)
    if first is None or first.in_reply_to_id is not None:
        return None
    return next((t for t in threads(first.issue_id, request) if t.first.id == first.id), None)


def threads(pull_id: int, request: Request) -> list[Thread]:
    """The threads of a pull request in the order they were begun."""
    comments = _comments(pull_id, request)
    return [
        Thread(first, (first, *(each for each in comments if each.in_reply_to_id == first.id)))
        for first in comments
        if first.in_reply_to_id is None
    ]


@TABLE.field("PullRequest", "reviewThreads")
def review_threads(pull: Issue, request: Request, **paging: Any) -> Connection[Thread]:
    return connect(threads(pull.id, request), paging, key=lambda thread: thread.first.id)


def _is_outdated(comment: ReviewComment, request: Request) -> bool:
    """Whether the head has moved on since the comment was made."""
    pull = request.issue(comment.issue_id)
    return pull is not None and pull.pull is not None and pull.pull.head_oid != comment.original_commit_oid


def _subject_type(comment: ReviewComment) -> str:
    return "FILE" if comment.line is None else "LINE"


def _may_resolve(thread: Thread, request: Request) -> bool:
    return request.viewer_role(_repository(thread, request)).covers(Role.WRITE)


def _repository(record: Thread, request: Request) -> Repository:
    return request.repository(record.repository_id)


TABLE.plain(
    "PullRequestReviewThread",
    Thread,
    {
        "id": lambda thread, _: thread.node_id,
        "isResolved": lambda thread, _: thread.first.is_resolved,
        "isCollapsed": lambda thread, _: thread.first.is_resolved,
        "isOutdated": lambda thread, request: _is_outdated(thread.first, request),
        "path": lambda thread, _: thread.first.path,
        "line": lambda thread, _: thread.first.line,
        "startLine": lambda thread, _: thread.first.start_line,
        "originalLine": lambda thread, _: thread.first.line,
        "originalStartLine": lambda thread, _: thread.first.start_line,
        "diffSide": lambda thread, _: thread.first.side,
        "startDiffSide": lambda thread, _: thread.first.side if thread.first.start_line else None,
        "subjectType": lambda thread, _: _subject_type(thread.first),
        "pullRequest": lambda thread, request: _pull(thread.first, request),
        "repository": _repository,
        "viewerCanReply": lambda _thread, request: request.actor.user is not None,
        "viewerCanResolve": lambda thread, request: (
            not thread.first.is_resolved and _may_resolve(thread, request)
        ),
        "viewerCanUnresolve": lambda thread, request: (
            thread.first.is_resolved and _may_resolve(thread, request)
        ),
    },
)


@TABLE.field("PullRequestReviewThread", "comments")
def comments_of_thread(
    thread: Thread, _request: Request, skip: int | None = None, **paging: Any
) -> Connection[ReviewComment]:
    return connect(thread.comments[skip or 0 :], paging, key=lambda comment: comment.id)


def _review(comment: ReviewComment, request: Request) -> Review:
    review = request.store.get(Review, comment.review_id)
    if review is None:
        raise NotFound
    return review


TABLE.plain(
    "PullRequestReviewComment",
    ReviewComment,
    {
        "path": lambda comment, _: comment.path,
        "line": lambda comment, _: comment.line,
        "originalLine": lambda comment, _: comment.line,
        "startLine": lambda comment, _: comment.start_line,
        "originalStartLine": lambda comment, _: comment.start_line,
        "diffHunk": lambda comment, _: comment.diff_hunk,
        "draftedAt": lambda comment, _: comment.created_at,
        "outdated": _is_outdated,
        "subjectType": lambda comment, _: _subject_type(comment),
        "state": lambda comment, request: (
            "PENDING" if _review(comment, request).state == "PENDING" else "SUBMITTED"
        ),
        "commit": _commit,
        "originalCommit": lambda comment, request: commit_of(
            request.repository(comment.repository_id), request, comment.original_commit_oid
        ),
        "pullRequest": _pull,
        "pullRequestReview": _review,
        "replyTo": lambda comment, request: request.store.get(ReviewComment, comment.in_reply_to_id),
        "isMinimized": lambda _comment, _request: False,
        "viewerCanDelete": lambda comment, request: request.is_viewer(comment.author_id),
        "viewerCanMinimize": lambda _comment, _request: False,
    },
)
