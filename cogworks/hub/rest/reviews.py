"""Reviews and inline comments over REST."""

from cogworks.hub.actions.reviews import (
    InlineComment,
    ReviewEvent,
    create_review,
    create_review_comment,
    dismiss_review,
    edit_review,
    find_review,
    reply,
    review_comments,
    reviews,
    submit_review,
)
from cogworks.hub.records import Issue, Review, ReviewComment
from cogworks.hub.refusals import NotFound
from cogworks.hub.rest.exchange import Answer, Call, Fields, Route, created
from cogworks.hub.rest.shapes.pulls import review as review_shape
from cogworks.hub.rest.shapes.pulls import review_comment as comment_shape

_EVENTS: tuple[ReviewEvent, ...] = ("APPROVE", "REQUEST_CHANGES", "COMMENT")


def _event(fields: Fields) -> ReviewEvent | None:
    word = fields.choice("event", _EVENTS)
    return next((event for event in _EVENTS if event == word), None)


def _review(call: Call) -> tuple[Issue, Review]:
    issue = call.issue(pull=True)
    return issue, find_review(call.world, issue, call.path_number("review_id"))


def list_reviews(call: Call) -> Answer:
    issue = call.issue(pull=True)
    return call.page(
        reviews(call.world, issue, call.actor.user), lambda each: review_shape(call.world, issue, each)
    )


def post_review(call: Call) -> Answer:
    issue, fields = call.issue(pull=True), call.fields
    review = create_review(
        call.world,
        call.actor,
        issue,
        event=_event(fields),
        body=fields.text("body") or "",
        commit_oid=fields.text("commit_id"),
        comments=[_inline(each) for each in fields.objects("comments")],
    )
    return Answer(review_shape(call.world, issue, review))


def _inline(fields: Fields) -> InlineComment:
    line = fields.number("line")
    return InlineComment(
        path=fields.required("path"),
        body=fields.required("body"),
        line=fields.number("position") if line is None else line,
        side="LEFT" if fields.choice("side", ("LEFT", "RIGHT")) == "LEFT" else "RIGHT",
        start_line=fields.number("start_line"),
    )


def get_review(call: Call) -> Answer:
    issue, review = _review(call)
    return Answer(review_shape(call.world, issue, review))


def put_review(call: Call) -> Answer:
    issue, review = _review(call)
    return Answer(
        review_shape(
            call.world, issue, edit_review(call.world, call.actor, review, call.fields.required("body"))
        )
    )


def post_review_event(call: Call) -> Answer:
    issue, review = _review(call)
    event = _event(call.fields) or _event(Fields({"event": call.fields.required("event")})) or "COMMENT"
    done = submit_review(call.world, call.actor, review, event=event, body=call.fields.text("body") or "")
    return Answer(review_shape(call.world, issue, done))


def put_dismissal(call: Call) -> Answer:
    issue, review = _review(call)
    done = dismiss_review(call.world, call.actor, review, call.fields.required("message"))
    return Answer(review_shape(call.world, issue, done))


def list_comments_of_review(call: Call) -> Answer:
    issue, review = _review(call)
    comments = [each for each in review_comments(call.world, issue) if each.review_id == review.id]
    return call.page(comments, lambda each: comment_shape(call.world, issue, each))


def list_comments(call: Call) -> Answer:
    issue = call.issue(pull=True)
    shown = {review.id for review in reviews(call.world, issue, None)}
    comments = [each for each in review_comments(call.world, issue) if each.review_id in shown]
    return call.page(comments, lambda each: comment_shape(call.world, issue, each))


def post_comment(call: Call) -> Answer:
    issue, fields = call.issue(pull=True), call.fields
    first = fields.number("in_reply_to")
    if first is not None:
        comment = reply(call.world, call.actor, issue, _comment(call, issue, first), fields.required("body"))
    else:
        oid = fields.text("commit_id")
        comment = create_review_comment(call.world, call.actor, issue, _inline(fields), commit_oid=oid)
    return created(comment_shape(call.world, issue, comment))


def post_reply(call: Call) -> Answer:
    issue = call.issue(pull=True)
    first = _comment(call, issue, call.path_number("comment_id"))
    comment = reply(call.world, call.actor, issue, first, call.fields.required("body"))
    return created(comment_shape(call.world, issue, comment))


def _comment(call: Call, issue: Issue, comment_id: int) -> ReviewComment:
    comment = call.world.store.get(ReviewComment, comment_id)
    if comment is None or comment.issue_id != issue.id:
        raise NotFound
    return comment


_ONE = "/repos/{owner}/{repo}/pulls/{pull_number}"
_REVIEW = f"{_ONE}/reviews/{{review_id}}"
ROUTES = (
    Route("GET", f"{_ONE}/reviews", list_reviews),
    Route("POST", f"{_ONE}/reviews", post_review),
    Route("GET", _REVIEW, get_review),
    Route("PUT", _REVIEW, put_review),
    Route("POST", f"{_REVIEW}/events", post_review_event),
    Route("PUT", f"{_REVIEW}/dismissals", put_dismissal),
    Route("GET", f"{_REVIEW}/comments", list_comments_of_review),
    Route("GET", f"{_ONE}/comments", list_comments),
    Route("POST", f"{_ONE}/comments", post_comment),
    Route("POST", f"{_ONE}/comments/{{comment_id}}/replies", post_reply),
)
