"""Mutations of pull requests."""

from collections.abc import Mapping
from typing import cast

from cogworks.hub.actions.merging import MergeMethod, merge_pull, update_branch
from cogworks.hub.actions.pulls import (
    close_pull,
    create_pull,
    reopen_pull,
    request_reviewers,
    retarget_pull,
    set_draft,
    set_maintainer_can_modify,
)
from cogworks.hub.graphql.mutations.issues import changed, logins_of
from cogworks.hub.graphql.nodes import pull_node, repository_node
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.tables import InputFields, Table
from cogworks.hub.refusals import NotFound, Unprocessable

TABLE = Table()


@TABLE.mutation("createPullRequest")
def create(request: Request, fields: InputFields) -> Mapping[str, object]:
    where = repository_node(request, fields["repository_id"])
    head_repository = fields.get("head_repository_id")
    if head_repository is not None and repository_node(request, head_repository).id != where.id:
        raise NotFound(f"Could not resolve to a fork of {where.full_name}: the hub has no forks")
    pull = create_pull(
        request.world,
        request.actor,
        where,
        title=fields["title"],
        head=fields["head_ref_name"].removeprefix("refs/heads/"),
        base=fields["base_ref_name"].removeprefix("refs/heads/"),
        body=fields.get("body"),
        is_draft=bool(fields.get("draft")),
    )
    return {"pullRequest": pull}


@TABLE.mutation("updatePullRequest")
def update(request: Request, fields: InputFields) -> Mapping[str, object]:
    """What is given changes, all of it or nothing."""
    pull = pull_node(request, fields["pull_request_id"])
    world, actor = request.world, request.actor
    with world.changing():
        pull = changed(request, pull, fields)
        if fields.get("base_ref_name") is not None:
            pull = retarget_pull(world, actor, pull, fields["base_ref_name"].removeprefix("refs/heads/"))
        if fields.get("maintainer_can_modify") is not None:
            pull = set_maintainer_can_modify(world, actor, pull, allowed=fields["maintainer_can_modify"])
        if fields.get("state") == "CLOSED":
            pull = close_pull(world, actor, pull)
        elif fields.get("state") == "OPEN":
            pull = reopen_pull(world, actor, pull)
    return {"pullRequest": pull, "actor": actor.user}


@TABLE.mutation("closePullRequest")
def close(request: Request, fields: InputFields) -> Mapping[str, object]:
    pull = pull_node(request, fields["pull_request_id"])
    return {"pullRequest": close_pull(request.world, request.actor, pull)}


@TABLE.mutation("reopenPullRequest")
def reopen(request: Request, fields: InputFields) -> Mapping[str, object]:
    pull = pull_node(request, fields["pull_request_id"])
    return {"pullRequest": reopen_pull(request.world, request.actor, pull)}


@TABLE.mutation("convertPullRequestToDraft")
def to_draft(request: Request, fields: InputFields) -> Mapping[str, object]:
    pull = pull_node(request, fields["pull_request_id"])
    return {"pullRequest": set_draft(request.world, request.actor, pull, is_draft=True)}


@TABLE.mutation("markPullRequestReadyForReview")
def ready(request: Request, fields: InputFields) -> Mapping[str, object]:
    pull = pull_node(request, fields["pull_request_id"])
    return {"pullRequest": set_draft(request.world, request.actor, pull, is_draft=False)}


@TABLE.mutation("mergePullRequest")
def merge(request: Request, fields: InputFields) -> Mapping[str, object]:
    merged = merge_pull(
        request.world,
        request.actor,
        pull_node(request, fields["pull_request_id"]),
        method=cast("MergeMethod", (fields.get("merge_method") or "MERGE").lower()),
        expected_head=fields.get("expected_head_oid"),
        headline=fields.get("commit_headline"),
        body=fields.get("commit_body"),
    )
    return {"pullRequest": merged, "actor": request.actor.user}


@TABLE.mutation("updatePullRequestBranch")
def update_from_base(request: Request, fields: InputFields) -> Mapping[str, object]:
    if fields.get("update_method") == "REBASE":
        raise Unprocessable("The hub updates a branch by a merge commit only; use the update method MERGE")
    pull = pull_node(request, fields["pull_request_id"])
    updated = update_branch(request.world, request.actor, pull, expected_head=fields.get("expected_head_oid"))
    return {"pullRequest": updated}


@TABLE.mutation("requestReviews")
def ask_for_reviews(request: Request, fields: InputFields) -> Mapping[str, object]:
    if fields.get("team_ids"):
        raise NotFound("Could not resolve to a Team: the hub has no teams")
    pull = pull_node(request, fields["pull_request_id"])
    logins = tuple(logins_of(request, fields.get("user_ids")))
    asked = request_reviewers(request.world, request.actor, pull, logins)
    return {"pullRequest": asked, "actor": request.actor.user}
