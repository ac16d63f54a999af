"""Mutations of reviews and of the threads of inline comments."""

from collections.abc import Mapping
from typing import cast

from cogworks.hub.actions.comments import issue_of
from cogworks.hub.actions.reviews import (
    InlineComment,
    ReviewEvent,
    create_review,
    create_review_comment,
    dismiss_review,
    edit_review,
    pending_review,
    reply,
    resolve_thread,
    submit_review,
)
from cogworks.hub.graphql.connections import Edge, encode_cursor
from cogworks.hub.graphql.nodes import node_of, pull_node
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.reviews import Thread, thread_of
from cogworks.hub.graphql.tables import InputFields, Table
from cogworks.hub.records import Review
from cogworks.hub.refusals import NotFound, Unprocessable

TABLE = Table()


def _review(request: Request, node_id: str) -> Review:
    return node_of(request, node_id, Review, names="PullRequestReview")


def _event(name: str | None) -> ReviewEvent | None:
    if name == "DISMISS":
        raise Unprocessable("A review is dismissed by `dismissPullRequestReview`")
    return cast("ReviewEvent | None", name)


def _inline(row: InputFields) -> InlineComment:
    return InlineComment(
        path=row["path"],
        body=row["body"],
        line=row.get("line"),
        side=row.get("side") or "RIGHT",
        start_line=row.get("start_line"),
    )


@TABLE.mutation("addPullRequestReview")
def add(request: Request, fields: InputFields) -> Mapping[str, object]:
    """With an event the review counts at once, else it stays pending."""
    if fields.get("comments"):
        raise Unprocessable(
            "`comments` by diff position are gone from the hub; give `threads` with lines instead"
        )
    pull = pull_node(request, fields["pull_request_id"])
    review = create_review(
        request.world,
        request.actor,
        pull,
        event=_event(fields.get("event")),
        body=fields.get("body") or "",
        commit_oid=fields.get("commit_oid"),
        comments=[_inline(row) for row in fields.get("threads") or ()],
    )
    position = request.store.count(Review, pull.id) - 1
    edge = Edge(item=review, node=review, cursor=encode_cursor(position, review.id))
    return {"pullRequestReview": review, "reviewEdge": edge}


@TABLE.mutation("submitPullRequestReview")
def submit(request: Request, fields: InputFields) -> Mapping[str, object]:
    """By the review's id, or by the pull request's: then it is the viewer's pending one."""
    event = _event(fields["event"])
    review = _to_submit(request, fields)
    if event is None:
        raise Unprocessable("A review is submitted with an event")
    body = fields.get("body") or ""
    return {"pullRequestReview": submit_review(request.world, request.actor, review, event=event, body=body)}


def _to_submit(request: Request, fields: InputFields) -> Review:
    if fields.get("pull_request_review_id") is not None:
        return _review(request, fields["pull_request_review_id"])
    if fields.get("pull_request_id") is None:
        raise Unprocessable("One of `pullRequestReviewId` and `pullRequestId` must be provided")
    review = pending_review(request.world, pull_node(request, fields["pull_request_id"]), request.actor.known)
    if review is None:
        raise NotFound("Could not find a pending review of yours on the pull request")
    return review


@TABLE.mutation("updatePullRequestReview")
def update(request: Request, fields: InputFields) -> Mapping[str, object]:
    review = _review(request, fields["pull_request_review_id"])
    return {"pullRequestReview": edit_review(request.world, request.actor, review, fields["body"])}


@TABLE.mutation("dismissPullRequestReview")
def dismiss(request: Request, fields: InputFields) -> Mapping[str, object]:
    review = _review(request, fields["pull_request_review_id"])
    return {"pullRequestReview": dismiss_review(request.world, request.actor, review, fields["message"])}


@TABLE.mutation("addPullRequestReviewThread")
def add_thread(request: Request, fields: InputFields) -> Mapping[str, object]:
    if fields.get("pull_request_id") is None:
        raise Unprocessable("The hub adds a thread to a pull request: `pullRequestId` must be provided")
    pull = pull_node(request, fields["pull_request_id"])
    comment = create_review_comment(request.world, request.actor, pull, _inline(fields))
    return {"thread": thread_of(request, comment.id)}


@TABLE.mutation("addPullRequestReviewThreadReply")
def add_reply(request: Request, fields: InputFields) -> Mapping[str, object]:
    thread = _thread(request, fields["pull_request_review_thread_id"])
    pull = issue_of(request.world, thread.first)
    return {"comment": reply(request.world, request.actor, pull, thread.first, fields["body"])}


def _thread(request: Request, node_id: str) -> Thread:
    return node_of(request, node_id, Thread, names="PullRequestReviewThread")


@TABLE.mutation("resolveReviewThread")
def resolve(request: Request, fields: InputFields) -> Mapping[str, object]:
    return _resolved(request, fields, is_resolved=True)


@TABLE.mutation("unresolveReviewThread")
def unresolve(request: Request, fields: InputFields) -> Mapping[str, object]:
    return _resolved(request, fields, is_resolved=False)


def _resolved(request: Request, fields: InputFields, *, is_resolved: bool) -> Mapping[str, object]:
    thread = _thread(request, fields["thread_id"])
    first = resolve_thread(request.world, request.actor, thread.first, is_resolved=is_resolved)
    request.forget()
    return {"thread": thread_of(request, first.id)}
