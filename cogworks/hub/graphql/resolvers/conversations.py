"""What is answered about everything that people write: authors, bodies, edits, reactions, locks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cogworks.hub.actions.access import association
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.paths import comment_path, issue_path, review_comment_path, review_path
from cogworks.hub.graphql.scalars import html_of
from cogworks.hub.graphql.tables import Readers, Table
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Comment, Issue, Reaction, Review, ReviewComment, User
from cogworks.hub.refusals import NotFound

TABLE = Table()

Written = Issue | Comment | Review | ReviewComment
WRITTEN_TYPES = "Issue PullRequest IssueComment PullRequestReview PullRequestReviewComment"

REACTIONS: Mapping[str, str] = {
    "THUMBS_UP": "+1",
    "THUMBS_DOWN": "-1",
    "LAUGH": "laugh",
    "HOORAY": "hooray",
    "CONFUSED": "confused",
    "HEART": "heart",
    "ROCKET": "rocket",
    "EYES": "eyes",
}
"""GraphQL's ReactionContent -> REST's name, in the order in which GitHub lists the groups."""
REACTION_NAMES = {rest: name for name, rest in REACTIONS.items()}

_MAX_INT = 2**31 - 1


def _is_author(written: Written, request: Request) -> bool:
    return request.is_viewer(written.author_id)


def _can_write(written: Written, request: Request) -> bool:
    return request.viewer_role(request.repository(written.repository_id)).covers(Role.WRITE)


def _can_update(written: Written, request: Request) -> bool:
    return _is_author(written, request) or _can_write(written, request)


def _path(written: Written, request: Request) -> str:
    if isinstance(written, Issue):
        return issue_path(written, request)
    if isinstance(written, Comment):
        return comment_path(written, request)
    if isinstance(written, Review):
        return review_path(written, request)
    return review_comment_path(written, request)


def _edited_at(written: Written, _request: Request) -> object:
    return written.last_edited_at if isinstance(written, Issue | Comment) else None


def _editor(written: Written, request: Request) -> User | None:
    return request.user(written.editor_id) if isinstance(written, Issue | Comment) else None


def _small_id(written: Written, _request: Request) -> int | None:
    """Null where the id has outgrown GraphQL's Int; `fullDatabaseId` has all of it."""
    return written.id if written.id <= _MAX_INT else None


_SHARED: Readers[Written] = {
    "id": lambda written, _: written.node_id,
    "databaseId": _small_id,
    "fullDatabaseId": lambda written, _: written.id,
    "author": lambda written, request: request.user(written.author_id),
    "authorAssociation": lambda written, request: association(
        request.world, request.repository(written.repository_id), written.author_id
    ),
    "repository": lambda written, request: request.repository(written.repository_id),
    "body": lambda written, _: written.body or "",
    "bodyHTML": lambda written, _: html_of(written.body or ""),
    "bodyText": lambda written, _: written.body or "",
    "createdAt": lambda written, _: written.created_at,
    "publishedAt": lambda written, _: written.created_at,
    "updatedAt": lambda written, _: written.updated_at,
    "lastEditedAt": _edited_at,
    "editor": _editor,
    "includesCreatedEdit": lambda written, request: _edited_at(written, request) is not None,
    "createdViaEmail": lambda _written, _request: False,
    "url": lambda written, request: request.url(_path(written, request)),
    "resourcePath": _path,
    "viewerDidAuthor": _is_author,
    "viewerCanUpdate": _can_update,
    "viewerCannotUpdateReasons": lambda written, request: (
        [] if _can_update(written, request) else ["INSUFFICIENT_ACCESS"]
    ),
    "viewerCanReact": lambda _written, request: request.actor.user is not None,
}
TABLE.all_of(WRITTEN_TYPES, _SHARED)


@dataclass(frozen=True, slots=True)
class ReactionGroup:
    """All reactions of one kind to one subject, present or not."""

    type_name = "ReactionGroup"
    subject: Written
    content: str
    reactions: tuple[Reaction, ...]


def groups_of(written: Written, request: Request) -> list[ReactionGroup]:
    """One group for every kind, also those that nobody used."""
    reactions = request.reactions(written.id)
    return [
        ReactionGroup(written, name, tuple(reaction for reaction in reactions if reaction.content == content))
        for name, content in REACTIONS.items()
    ]


TABLE.all_of(WRITTEN_TYPES, {"reactionGroups": groups_of})
TABLE.plain(
    "ReactionGroup",
    ReactionGroup,
    {
        "content": lambda group, _: group.content,
        "subject": lambda group, _: group.subject,
        "createdAt": lambda group, _: group.reactions[0].created_at if group.reactions else None,
        "viewerHasReacted": lambda group, request: any(
            request.is_viewer(reaction.user_id) for reaction in group.reactions
        ),
    },
)


@TABLE.field("ReactionGroup", "reactors")
@TABLE.field("ReactionGroup", "users")
def reactors(group: ReactionGroup, request: Request, **paging: Any) -> Connection[Reaction]:
    return connect(
        group.reactions,
        paging,
        key=lambda reaction: reaction.id,
        node=lambda reaction: request.user(reaction.user_id),
    )


@TABLE.field(WRITTEN_TYPES, "reactions")
def reactions(
    written: Written, request: Request, content: str | None = None, order_by: Any = None, **paging: Any
) -> Connection[Reaction]:
    is_descending = order_by is not None and order_by["direction"] == "DESC"
    matching = [
        reaction
        for reaction in request.reactions(written.id)
        if content is None or reaction.content == REACTIONS[content]
    ]
    return connect(matching[::-1] if is_descending else matching, paging, key=lambda reaction: reaction.id)


TABLE.plain(
    "ReactionConnection",
    Connection[Reaction],
    {
        "viewerHasReacted": lambda page, request: any(request.is_viewer(item.user_id) for item in page.items),
    },
)


def subject_of(reaction: Reaction, request: Request) -> Written:
    """What somebody reacted to."""
    kinds: tuple[type[Issue | Comment | Review | ReviewComment], ...] = (
        Comment,
        Issue,
        Review,
        ReviewComment,
    )
    for kind in kinds:
        record = request.store.get(kind, reaction.subject_id)
        if record is not None:
            return record
    raise NotFound(f"Could not resolve to a node with the global id of '{reaction.node_id}'")


TABLE.plain(
    "Reaction",
    Reaction,
    {
        "id": lambda reaction, _: reaction.node_id,
        "databaseId": lambda reaction, _: reaction.id,
        "content": lambda reaction, _: REACTION_NAMES[reaction.content],
        "createdAt": lambda reaction, _: reaction.created_at,
        "user": lambda reaction, request: request.user(reaction.user_id),
        "reactable": subject_of,
    },
)


def _pull_of(comment: Comment, request: Request) -> Issue | None:
    issue = request.issue(comment.issue_id)
    return issue if issue is not None and issue.pull is not None else None


TABLE.plain(
    "IssueComment",
    Comment,
    {
        "isMinimized": lambda comment, _: comment.minimized_reason is not None,
        "minimizedReason": lambda comment, _: comment.minimized_reason,
        "issue": lambda comment, request: request.issue(comment.issue_id),
        "pullRequest": _pull_of,
        "viewerCanDelete": _can_update,
        "viewerCanMinimize": _can_write,
    },
)
