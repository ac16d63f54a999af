"""Comments on issues and pull requests, and reactions to anything."""

from typing import get_args

from cogworks.hub.actions.access import (
    Actor,
    repository_by_id,
    repository_of,
    require,
    require_author_or,
    require_conversation,
)
from cogworks.hub.actions.issues import MAX_BODY, refreshed
from cogworks.hub.actions.timeline import cross_reference, record_event
from cogworks.hub.node_ids import Role
from cogworks.hub.records import (
    COMMENT_ID_BASE,
    Comment,
    Issue,
    Reaction,
    ReactionContent,
    Repository,
    Review,
    ReviewComment,
)
from cogworks.hub.refusals import Forbidden, NotFound, invalid
from cogworks.hub.world import World

Reactable = Issue | Comment | Review | ReviewComment
REACTIONS: tuple[ReactionContent, ...] = get_args(ReactionContent)
MAX_COMMENTS = 2500


def create_comment(world: World, actor: Actor, issue: Issue, body: str) -> Comment:
    """A new comment at the end. Raises `Unprocessable` when blank, too long, or one too many."""
    with world.changing():
        issue = refreshed(world, issue)
        user = require_conversation(world, actor, issue)
        check_comment(body)
        if world.store.count(Comment, issue.id) >= MAX_COMMENTS:
            raise invalid(
                "IssueComment",
                "issue",
                "custom",
                f"Commenting is disabled on issues with more than {MAX_COMMENTS} comments",
            )
        now = world.clock.now()
        comment = world.store.put(
            Comment(
                id=world.store.next_id(COMMENT_ID_BASE),
                repository_id=issue.repository_id,
                issue_id=issue.id,
                author_id=user.id,
                body=body,
                created_at=now,
                updated_at=now,
            )
        )
        world.store.put(issue.model_copy(update={"updated_at": now}))
        cross_reference(world, repository_of(world, issue), issue, user.id, body)
        return comment


def check_comment(body: str) -> None:
    """Raises `Unprocessable` for a body that GitHub would not take."""
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field", "Body cannot be blank")
    if len(body) > MAX_BODY:
        raise invalid(
            "IssueComment", "data", "unprocessable", f"Body is too long (maximum is {MAX_BODY} characters)"
        )


def find_comment(world: World, repository: Repository, comment_id: int) -> Comment:
    """The comment with a database id. Raises `NotFound`."""
    comment = world.store.get(Comment, comment_id)
    if comment is None or comment.repository_id != repository.id:
        raise NotFound
    return comment


def issue_of(world: World, record: Comment | Review | ReviewComment) -> Issue:
    """The conversation a record belongs to."""
    issue = world.store.get(Issue, record.issue_id)
    if issue is None:
        raise NotFound
    return issue


def edit_comment(world: World, actor: Actor, comment: Comment, body: str) -> Comment:
    """Replace the body. Raises `Forbidden` for anyone but the author and writers."""
    with world.changing():
        comment = _kept(world, comment)
        issue = issue_of(world, comment)
        user = require_author_or(world, actor, issue, author_id=comment.author_id)
        check_comment(body)
        if body == comment.body:
            return comment
        now = world.clock.now()
        cross_reference(world, repository_of(world, issue), issue, user.id, body)
        update = {"body": body, "updated_at": now, "last_edited_at": now, "editor_id": user.id}
        return world.store.put(comment.model_copy(update=update))


def delete_comment(world: World, actor: Actor, comment: Comment) -> None:
    """Remove a comment with its reactions; the timeline says that one went."""
    with world.changing():
        comment = _kept(world, comment)
        issue = issue_of(world, comment)
        user = require_author_or(world, actor, issue, author_id=comment.author_id)
        for reaction in world.store.children(Reaction, comment.id):
            world.store.remove(reaction)
        world.store.remove(comment)
        record_event(world, issue, user.id, "comment_deleted", author_id=comment.author_id)


def minimize_comment(world: World, actor: Actor, comment: Comment, reason: str | None) -> Comment:
    """Fold a comment away with a reason (`outdated`, …), or show it again (None)."""
    with world.changing():
        comment = _kept(world, comment)
        require_author_or(
            world, actor, issue_of(world, comment), author_id=comment.author_id, role=Role.TRIAGE
        )
        return world.store.put(comment.model_copy(update={"minimized_reason": reason}))


def add_reaction(
    world: World, actor: Actor, subject: Reactable, content: ReactionContent
) -> tuple[Reaction, bool]:
    """The user's reaction and whether it is new; one of each kind per user."""
    with world.changing():
        user = require(
            world, actor, repository_by_id(world, subject.repository_id), Role.READ, _permission(actor)
        )
        if content not in REACTIONS:
            raise invalid("Reaction", "content")
        existing = world.store.find(Reaction, f"{subject.id}/{user.id}/{content}")
        if existing is not None:
            return existing, False
        reaction = Reaction(
            id=world.store.next_id(),
            subject_id=subject.id,
            user_id=user.id,
            content=content,
            created_at=world.clock.now(),
        )
        return world.store.put(reaction), True


def remove_reaction(world: World, actor: Actor, subject: Reactable, content: ReactionContent) -> Reaction:
    """Take the user's own reaction back. Raises `NotFound` when there is none."""
    with world.changing():
        user = require(
            world, actor, repository_by_id(world, subject.repository_id), Role.READ, _permission(actor)
        )
        reaction = world.store.find(Reaction, f"{subject.id}/{user.id}/{content}")
        if reaction is None:
            raise NotFound("Could not find the reaction to remove.")
        world.store.remove(reaction)
        return reaction


def reactions(world: World, subject: Reactable) -> list[Reaction]:
    """All reactions to something, oldest first."""
    return world.store.children(Reaction, subject.id)


def _permission(actor: Actor) -> str:
    for permission in ("issues", "pull_requests"):
        if actor.holds(permission):
            return permission
    raise Forbidden("Resource not accessible by integration")


def _kept(world: World, comment: Comment) -> Comment:
    stored = world.store.get(Comment, comment.id)
    if stored is None:
        raise NotFound
    return stored
