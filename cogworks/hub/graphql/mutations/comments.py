"""Mutations of comments and reactions."""

from collections.abc import Mapping
from typing import cast

from cogworks.hub.actions.comments import (
    Reactable,
    add_reaction,
    create_comment,
    delete_comment,
    edit_comment,
    minimize_comment,
    remove_reaction,
)
from cogworks.hub.actions.issues import refreshed
from cogworks.hub.graphql.connections import Edge, encode_cursor
from cogworks.hub.graphql.nodes import node_of
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.conversations import REACTIONS, WRITTEN_TYPES, groups_of
from cogworks.hub.graphql.tables import InputFields, Table
from cogworks.hub.records import Comment, Issue, ReactionContent, Review, ReviewComment

TABLE = Table()


def _comment(request: Request, node_id: str) -> Comment:
    return node_of(request, node_id, Comment, names="IssueComment")


@TABLE.mutation("addComment")
def add(request: Request, fields: InputFields) -> Mapping[str, object]:
    subject = node_of(request, fields["subject_id"], Issue, names="Issue PullRequest")
    comment = create_comment(request.world, request.actor, subject, fields["body"])
    position = request.store.count(Comment, subject.id) - 1
    edge = Edge(item=comment, node=comment, cursor=encode_cursor(position, comment.id))
    return {"subject": refreshed(request.world, subject), "commentEdge": edge, "timelineEdge": edge}


@TABLE.mutation("updateIssueComment")
def update(request: Request, fields: InputFields) -> Mapping[str, object]:
    comment = _comment(request, fields["id"])
    return {"issueComment": edit_comment(request.world, request.actor, comment, fields["body"])}


@TABLE.mutation("deleteIssueComment")
def delete(request: Request, fields: InputFields) -> Mapping[str, object]:
    delete_comment(request.world, request.actor, _comment(request, fields["id"]))
    return {}


@TABLE.mutation("minimizeComment")
def minimize(request: Request, fields: InputFields) -> Mapping[str, object]:
    reason = fields["classifier"].lower().replace("_", "-")
    comment = _comment(request, fields["subject_id"])
    return {"minimizedComment": minimize_comment(request.world, request.actor, comment, reason)}


@TABLE.mutation("unminimizeComment")
def unminimize(request: Request, fields: InputFields) -> Mapping[str, object]:
    comment = _comment(request, fields["subject_id"])
    return {"unminimizedComment": minimize_comment(request.world, request.actor, comment, None)}


def _subject(request: Request, node_id: str) -> Reactable:
    kinds: tuple[type[Reactable], ...] = (Issue, Comment, Review, ReviewComment)
    subject = node_of(request, node_id, object, names=WRITTEN_TYPES)
    return subject if isinstance(subject, kinds) else _comment(request, node_id)


@TABLE.mutation("addReaction")
def react(request: Request, fields: InputFields) -> Mapping[str, object]:
    subject = _subject(request, fields["subject_id"])
    content = cast("ReactionContent", REACTIONS[fields["content"]])
    reaction, _ = add_reaction(request.world, request.actor, subject, content)
    return {"reaction": reaction, "subject": subject, "reactionGroups": groups_of(subject, request)}


@TABLE.mutation("removeReaction")
def take_back(request: Request, fields: InputFields) -> Mapping[str, object]:
    subject = _subject(request, fields["subject_id"])
    content = cast("ReactionContent", REACTIONS[fields["content"]])
    reaction = remove_reaction(request.world, request.actor, subject, content)
    return {"reaction": reaction, "subject": subject, "reactionGroups": groups_of(subject, request)}
