"""What a token with app permissions may be shown of a private repository."""

from typing import Any

from cogworks.hub.actions.access import require_sight
from cogworks.hub.check_records import CheckRun, Status
from cogworks.hub.graphql.connections import Connection
from cogworks.hub.graphql.gitvalues import GitBlob, GitCommit, GitRef, GitTag, GitTree, PullCommit
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.checks import CombinedStatus, Rollup
from cogworks.hub.graphql.resolvers.pulls import ReviewRequest
from cogworks.hub.graphql.resolvers.refs import Comparison
from cogworks.hub.graphql.resolvers.reviews import Thread
from cogworks.hub.graphql.resolvers.suites import Suite
from cogworks.hub.records import Comment, Issue, Label, Milestone, Repository, Review, ReviewComment

_READ_WITH: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((GitBlob, GitCommit, GitRef, GitTag, GitTree, Comparison), ("contents",)),
    **dict.fromkeys((PullCommit, Review, ReviewComment, Thread), ("pull_requests",)),
    **dict.fromkeys((Comment, Label, Milestone), ("issues", "pull_requests")),
    **dict.fromkeys((CheckRun, Suite), ("checks",)),
    **dict.fromkeys((Status, CombinedStatus), ("statuses",)),
}
"""The app permissions any one of which lets a token read a value."""


def guard(request: Request, source: object, value: object) -> None:
    """Raises `Forbidden` when the token's app permissions do not let it read what a field of `source` answers."""
    token = request.actor.token
    # Who may read a pull request may read its commits.
    if token is None or token.permissions is None or isinstance(source, PullCommit):
        return
    for each in value.nodes if isinstance(value, Connection) else [value]:
        any_of = _permissions(each)
        if any_of:
            require_sight(request.actor, repository_holding(request, each), *any_of)


def _permissions(value: object) -> tuple[str, ...]:
    if isinstance(value, Issue):
        return ("issues",) if value.pull is None else ("pull_requests",)
    return _READ_WITH.get(type(value), ())


def repository_holding(request: Request, value: Any) -> Repository:
    """The repository of a record or git value: its own, or that of the commit or pull request it hangs on."""
    if isinstance(value, ReviewRequest):
        return request.repository(value.pull.repository_id)
    if isinstance(value, Comparison):
        return value.base.repository
    if isinstance(value, PullCommit | Rollup | CombinedStatus):
        return value.commit.repository
    return getattr(value, "repository", None) or request.repository(value.repository_id)
