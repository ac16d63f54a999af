"""Comments and reactions over REST."""

from cogworks.hub.actions.comments import (
    REACTIONS,
    Reactable,
    add_reaction,
    create_comment,
    delete_comment,
    edit_comment,
    find_comment,
    reactions,
)
from cogworks.hub.records import Comment, ReactionContent
from cogworks.hub.refusals import Unprocessable
from cogworks.hub.rest.exchange import NO_CONTENT, Answer, Call, Route, created
from cogworks.hub.rest.shapes.issues import comment as comment_shape
from cogworks.hub.rest.shapes.issues import reaction as reaction_shape


def list_comments(call: Call) -> Answer:
    return _page(call, call.world.store.children(Comment, call.issue().id))


def list_all_comments(call: Call) -> Answer:
    store = call.world.store
    comments = [comment for issue in call.issues() for comment in store.children(Comment, issue.id)]
    comments.sort(key=lambda comment: comment.id, reverse=call.query.get("direction") == "desc")
    return _page(call, comments)


def _page(call: Call, comments: list[Comment]) -> Answer:
    since = call.query.get("since", "")[:19]
    recent = [comment for comment in comments if comment.updated_at.isoformat()[:19] >= since]
    return call.page(recent, lambda comment: comment_shape(call.world, comment))


def post_comment(call: Call) -> Answer:
    comment = create_comment(call.world, call.actor, call.issue(), call.fields.required("body"))
    return created(comment_shape(call.world, comment))


def _comment(call: Call) -> Comment:
    return find_comment(call.world, call.repository(), call.path_number("comment_id"))


def get_comment(call: Call) -> Answer:
    return Answer(comment_shape(call.world, _comment(call)))


def patch_comment(call: Call) -> Answer:
    changed = edit_comment(call.world, call.actor, _comment(call), call.fields.required("body"))
    return Answer(comment_shape(call.world, changed))


def remove_comment(call: Call) -> Answer:
    delete_comment(call.world, call.actor, _comment(call))
    return NO_CONTENT


def list_issue_reactions(call: Call) -> Answer:
    return _reactions(call, call.issue())


def list_comment_reactions(call: Call) -> Answer:
    return _reactions(call, _comment(call))


def _reactions(call: Call, subject: Reactable) -> Answer:
    content = call.query.get("content")
    matching = [each for each in reactions(call.world, subject) if content in (None, each.content)]
    return call.page(matching, lambda each: reaction_shape(call.world, each))


def post_issue_reaction(call: Call) -> Answer:
    return _react(call, call.issue())


def post_comment_reaction(call: Call) -> Answer:
    return _react(call, _comment(call))


def _react(call: Call, subject: Reactable) -> Answer:
    reaction, is_new = add_reaction(call.world, call.actor, subject, _content(call))
    return Answer(reaction_shape(call.world, reaction), 201 if is_new else 200)


def _content(call: Call) -> ReactionContent:
    word = call.fields.required("content")
    reaction = next((content for content in REACTIONS if content == word), None)
    if reaction is None:
        raise Unprocessable(f"Invalid request.\n\n{word} is not a member of {list(REACTIONS)}.")
    return reaction


_ROOT = "/repos/{owner}/{repo}/issues"
_COMMENT = f"{_ROOT}/comments/{{comment_id}}"
ROUTES = (
    Route("GET", f"{_ROOT}/comments", list_all_comments),
    Route("GET", f"{_ROOT}/{{issue_number}}/comments", list_comments),
    Route("POST", f"{_ROOT}/{{issue_number}}/comments", post_comment),
    Route("GET", _COMMENT, get_comment),
    Route("PATCH", _COMMENT, patch_comment),
    Route("DELETE", _COMMENT, remove_comment),
    Route("GET", f"{_ROOT}/{{issue_number}}/reactions", list_issue_reactions),
    Route("POST", f"{_ROOT}/{{issue_number}}/reactions", post_issue_reaction),
    Route("GET", f"{_COMMENT}/reactions", list_comment_reactions),
    Route("POST", f"{_COMMENT}/reactions", post_comment_reaction),
)
