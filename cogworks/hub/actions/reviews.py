"""Reviews of pull requests, their inline comments, and whose word counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cogworks.hub.actions.access import Actor, repository_of, require, require_conversation, role_of
from cogworks.hub.actions.comments import issue_of
from cogworks.hub.actions.issues import MAX_BODY, refreshed
from cogworks.hub.actions.pulls import fork_point, pull_part
from cogworks.hub.actions.timeline import cross_reference, record_event
from cogworks.hub.gitdiff import hunk_until
from cogworks.hub.node_ids import Role
from cogworks.hub.records import COMMENT_ID_BASE, Issue, Review, ReviewComment, User
from cogworks.hub.refusals import Forbidden, NotFound, Unprocessable, invalid
from cogworks.hub.world import World

ReviewEvent = Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
_STATES: dict[ReviewEvent, Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED"]] = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}


@dataclass(frozen=True)
class InlineComment:
    """A comment on a line of the diff; `line` counts in the file of `side`, None is the whole file."""

    path: str
    body: str
    line: int | None = None
    side: Literal["LEFT", "RIGHT"] = "RIGHT"
    start_line: int | None = None


def create_review(
    world: World,
    actor: Actor,
    issue: Issue,
    *,
    event: ReviewEvent | None = None,
    body: str = "",
    commit_oid: str | None = None,
    comments: Sequence[InlineComment] = (),
) -> Review:
    """A new review with its inline comments; without an event it stays pending, one per user.

    Raises `Unprocessable`: own pull request approved, body missing, a line that is not in the diff.
    """
    with world.changing():
        issue = refreshed(world, issue)
        user = require(world, actor, repository_of(world, issue), Role.READ, "pull_requests")
        if event is None and pending_review(world, issue, user) is not None:
            raise Unprocessable("User can only have one pending review per pull request")
        now = world.clock.now()
        review = Review(
            id=world.store.next_id(COMMENT_ID_BASE),
            repository_id=issue.repository_id,
            issue_id=issue.id,
            author_id=user.id,
            state="PENDING",
            body=body,
            commit_oid=_reviewed(world, issue, commit_oid),
            created_at=now,
            updated_at=now,
        )
        world.store.put(review)
        for comment in comments:
            _put_inline(world, issue, review, comment)
        return review if event is None else submit_review(world, actor, review, event=event, body=body)


def _reviewed(world: World, issue: Issue, oid: str | None) -> str:
    """The commit a review speaks of: the head unless another one is named. Raises `Unprocessable`."""
    if oid is not None and world.repository_git(repository_of(world, issue)).commit(oid) is None:
        raise invalid(
            "PullRequestReview", "commit_id", "invalid", "commit_id is not part of the pull request"
        )
    return oid or pull_part(issue).head_oid


def submit_review(
    world: World, actor: Actor, review: Review, *, event: ReviewEvent, body: str = ""
) -> Review:
    """Make a pending review count. Raises as `create_review`."""
    with world.changing():
        issue = issue_of(world, review)
        repository = repository_of(world, issue)
        user = require(world, actor, repository, Role.READ, "pull_requests")
        if review.author_id != user.id:
            raise NotFound
        if review.state != "PENDING":
            raise Unprocessable("Can not submit a review that is already submitted")
        _check_event(world, actor, issue, event)
        text = body or review.body
        inline = [each for each in review_comments(world, issue) if each.review_id == review.id]
        if not text.strip() and (event == "REQUEST_CHANGES" or (event == "COMMENT" and not inline)):
            raise Unprocessable(
                "Unprocessable Entity: a review needs a body unless it approves or has inline comments"
            )
        if len(text) > MAX_BODY:
            raise invalid(
                "PullRequestReview", "body", "custom", f"body is too long (maximum is {MAX_BODY} characters)"
            )
        now = world.clock.now()
        update = {"state": _STATES[event], "body": text, "submitted_at": now, "updated_at": now}
        pull = pull_part(issue)
        left = tuple(each for each in pull.requested_reviewer_ids if each != user.id)
        changed = pull.model_copy(update={"requested_reviewer_ids": left})
        world.store.put(issue.model_copy(update={"updated_at": now, "pull": changed}))
        cross_reference(world, repository, issue, user.id, text)
        return world.store.put(review.model_copy(update=update))


def _check_event(world: World, actor: Actor, issue: Issue, event: ReviewEvent) -> None:
    if event == "COMMENT":
        return
    if issue.author_id == actor.known.id:
        word = "approve" if event == "APPROVE" else "request changes on"
        message = f"Can not {word} your own pull request"
        raise Unprocessable("Unprocessable Entity", [{"message": message}])
    is_actions = actor.token is not None and actor.token.kind == "actions"
    if is_actions and not repository_of(world, issue).actions_may_open_pull_requests:
        raise Forbidden("GitHub Actions is not permitted to create or approve pull requests.")


def edit_review(world: World, actor: Actor, review: Review, body: str) -> Review:
    """Replace the summary of one's own review."""
    with world.changing():
        require(world, actor, repository_of(world, issue_of(world, review)), Role.READ, "pull_requests")
        if review.author_id != actor.known.id:
            raise Forbidden("Only the author of a review may edit it")
        return world.store.put(review.model_copy(update={"body": body, "updated_at": world.clock.now()}))


def dismiss_review(world: World, actor: Actor, review: Review, message: str) -> Review:
    """Take the weight from a review that approves or requests changes."""
    with world.changing():
        issue = issue_of(world, review)
        user = require(world, actor, repository_of(world, issue), Role.WRITE, "pull_requests")
        if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
            raise Unprocessable("Can not dismiss a commented pull request review")
        record_event(
            world,
            issue,
            user.id,
            "review_dismissed",
            review_id=review.id,
            message=message,
            previous_state=review.state,
        )
        return world.store.put(
            review.model_copy(update={"state": "DISMISSED", "updated_at": world.clock.now()})
        )


def create_review_comment(
    world: World, actor: Actor, issue: Issue, comment: InlineComment, *, commit_oid: str | None = None
) -> ReviewComment:
    """A single inline comment; GitHub wraps it into a review of its own."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require_conversation(world, actor, issue)
        now = world.clock.now()
        review = Review(
            id=world.store.next_id(COMMENT_ID_BASE),
            repository_id=issue.repository_id,
            issue_id=issue.id,
            author_id=user.id,
            state="COMMENTED",
            commit_oid=_reviewed(world, issue, commit_oid),
            created_at=now,
            updated_at=now,
            submitted_at=now,
        )
        return _put_inline(world, issue, world.store.put(review), comment)


def reply(world: World, actor: Actor, issue: Issue, first: ReviewComment, body: str) -> ReviewComment:
    """A further comment in the thread of `first`."""
    with world.changing():
        user = require_conversation(world, actor, issue)
        now = world.clock.now()
        update = {
            "id": world.store.next_id(COMMENT_ID_BASE),
            "author_id": user.id,
            "body": body,
            "in_reply_to_id": first.in_reply_to_id or first.id,
            "is_resolved": False,
            "created_at": now,
            "updated_at": now,
        }
        return world.store.put(first.model_copy(update=update))


def resolve_thread(world: World, actor: Actor, first: ReviewComment, *, is_resolved: bool) -> ReviewComment:
    """Mark a thread, by its first comment, as resolved or not."""
    with world.changing():
        require(world, actor, repository_of(world, issue_of(world, first)), Role.WRITE, "pull_requests")
        return world.store.put(first.model_copy(update={"is_resolved": is_resolved}))


def _check_start(comment: InlineComment, patch: str, hunk: str) -> None:
    """Raises `Unprocessable`: the first of several lines is not before the last one, or not in its hunk."""
    if comment.line is None or (comment.start_line or 0) >= comment.line:
        message = "Pull request review thread start line must precede the end line."
        raise invalid("PullRequestReviewComment", "start_line", "custom", message)
    begun = hunk_until(patch, comment.start_line or 0, comment.side)
    if begun is None or not hunk.startswith(begun):
        message = "Pull request review thread start line must be part of the same hunk as the line."
        raise invalid("PullRequestReviewComment", "start_line", "custom", message)


def _put_inline(world: World, issue: Issue, review: Review, comment: InlineComment) -> ReviewComment:
    if not comment.body.strip():
        raise invalid("PullRequestReviewComment", "body", "missing_field")
    git = world.repository_git(repository_of(world, issue))
    changes = git.changes(fork_point(world, issue), review.commit_oid)
    change = next((each for each in changes if each.path == comment.path), None)
    if change is None:
        raise invalid("PullRequestReviewComment", "path", "invalid", "Path could not be resolved")
    hunk = "" if comment.line is None else hunk_until(change.patch, comment.line, comment.side)
    if hunk is None:
        message = "Pull request review thread line must be part of the diff"
        raise invalid("PullRequestReviewComment", "line", "custom", message)
    if comment.start_line is not None:
        _check_start(comment, change.patch, hunk)
    return world.store.put(
        ReviewComment(
            id=world.store.next_id(COMMENT_ID_BASE),
            repository_id=issue.repository_id,
            issue_id=issue.id,
            review_id=review.id,
            author_id=review.author_id,
            body=comment.body,
            path=comment.path,
            line=comment.line,
            side=comment.side,
            start_line=comment.start_line,
            diff_hunk=hunk,
            commit_oid=review.commit_oid,
            original_commit_oid=review.commit_oid,
            created_at=review.created_at,
            updated_at=review.created_at,
        )
    )


def reviews(world: World, issue: Issue, viewer: User | None = None) -> list[Review]:
    """The reviews of a pull request, oldest first; a pending one only for its author."""
    mine = None if viewer is None else viewer.id
    records = world.store.children(Review, issue.id)
    return [review for review in records if review.state != "PENDING" or review.author_id == mine]


def find_review(world: World, issue: Issue, review_id: int) -> Review:
    """The review with a database id. Raises `NotFound`."""
    review = world.store.get(Review, review_id)
    if review is None or review.issue_id != issue.id:
        raise NotFound
    return review


def pending_review(world: World, issue: Issue, user: User) -> Review | None:
    """The review that a user has begun and not submitted."""
    records = world.store.children(Review, issue.id)
    return next((each for each in records if each.state == "PENDING" and each.author_id == user.id), None)


def review_comments(world: World, issue: Issue) -> list[ReviewComment]:
    """All inline comments, oldest first, those of pending reviews included."""
    return world.store.children(ReviewComment, issue.id)


def latest_opinionated(world: World, issue: Issue, *, writers_only: bool = False) -> list[Review]:
    """Each reviewer's last review that approves, requests changes or was dismissed, oldest first."""
    repository = repository_of(world, issue)
    newest: dict[int, Review] = {}
    for review in world.store.children(Review, issue.id):
        if review.state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
            newest[review.author_id] = review
    return [
        review
        for review in sorted(newest.values(), key=lambda each: each.id)
        if not writers_only or role_of(world, repository, world.user(review.author_id)).covers(Role.WRITE)
    ]
