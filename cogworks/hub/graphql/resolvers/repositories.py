"""What is answered about a repository itself, its people, labels and milestones."""

from dataclasses import dataclass
from typing import Any

from cogworks.hub.actions.access import find_repository
from cogworks.hub.actions.repositories import collaborators as everybody
from cogworks.hub.graphql.connections import Connection, Edge, connect
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.listings import by_name
from cogworks.hub.graphql.resolvers.paths import label_path, milestone_path, repository_path
from cogworks.hub.graphql.scalars import html_of
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Label, Milestone, Repository, User
from cogworks.hub.refusals import Forbidden, NotFound

TABLE = Table()


def permission_of(role: Role) -> str | None:
    """GraphQL's RepositoryPermission; None for a stranger."""
    return None if role is Role.NONE else role.name


def _viewer_permission(repository: Repository, request: Request) -> str | None:
    """Null for an installation: it has permissions of its own and no role."""
    token = request.actor.token
    if token is not None and token.kind != "personal":
        return None
    return permission_of(request.viewer_role(repository))


TABLE.plain(
    "Repository",
    Repository,
    {
        "id": lambda repository, _: repository.node_id,
        "databaseId": lambda repository, _: repository.id,
        "name": lambda repository, _: repository.name,
        "nameWithOwner": lambda repository, _: repository.full_name,
        "description": lambda repository, _: repository.description,
        "owner": lambda repository, request: request.user(repository.owner_id),
        "isInOrganization": lambda repository, request: (
            request.world.user(repository.owner_id).kind == "Organization"
        ),
        "isPrivate": lambda repository, _: repository.is_private,
        "visibility": lambda repository, _: "PRIVATE" if repository.is_private else "PUBLIC",
        "isArchived": lambda repository, _: repository.is_archived,
        "hasIssuesEnabled": lambda repository, _: repository.has_issues,
        "deleteBranchOnMerge": lambda repository, _: repository.delete_branch_on_merge,
        "mergeCommitAllowed": lambda repository, _: repository.allow_merge_commit,
        "squashMergeAllowed": lambda repository, _: repository.allow_squash_merge,
        "rebaseMergeAllowed": lambda repository, _: repository.allow_rebase_merge,
        "autoMergeAllowed": lambda _repository, _request: False,
        "isFork": lambda _repository, _request: False,
        "isMirror": lambda _repository, _request: False,
        "isTemplate": lambda _repository, _request: False,
        "isDisabled": lambda _repository, _request: False,
        "isLocked": lambda _repository, _request: False,
        "forkCount": lambda _repository, _request: 0,
        "hasDiscussionsEnabled": lambda _repository, _request: False,
        "hasProjectsEnabled": lambda _repository, _request: False,
        "hasWikiEnabled": lambda _repository, _request: False,
        "allowUpdateBranch": lambda _repository, _request: True,
        "forkingAllowed": lambda _repository, _request: False,
        "stargazerCount": lambda _repository, _request: 0,
        "viewerHasStarred": lambda _repository, _request: False,
        "hasSponsorshipsEnabled": lambda _repository, _request: False,
        "hasVulnerabilityAlertsEnabled": lambda _repository, _request: False,
        "isBlankIssuesEnabled": lambda _repository, _request: True,
        "isUserConfigurationRepository": lambda _repository, _request: False,
        "webCommitSignoffRequired": lambda _repository, _request: False,
        "viewerDefaultMergeMethod": lambda _repository, _request: "MERGE",
        # How the hub words the commits of its merges.
        "mergeCommitTitle": lambda _repository, _request: "MERGE_MESSAGE",
        "mergeCommitMessage": lambda _repository, _request: "PR_TITLE",
        "squashMergeCommitTitle": lambda _repository, _request: "PR_TITLE",
        "squashMergeCommitMessage": lambda _repository, _request: "COMMIT_MESSAGES",
        "descriptionHTML": lambda repository, _: html_of(repository.description or ""),
        "viewerCanSubscribe": lambda _repository, request: request.actor.user is not None,
        "createdAt": lambda repository, _: repository.created_at,
        "updatedAt": lambda repository, _: repository.updated_at,
        "pushedAt": lambda repository, _: repository.pushed_at,
        "url": lambda repository, request: request.url(repository_path(repository)),
        "resourcePath": lambda repository, _: repository_path(repository),
        "viewerPermission": _viewer_permission,
        "viewerCanAdminister": lambda repository, request: request.viewer_role(repository) is Role.ADMIN,
    },
)


@TABLE.field("Query", "repository")
def repository(
    _root: object, request: Request, owner: str, name: str, follow_renames: bool = True
) -> Repository:
    del follow_renames  # repositories of the hub are not renamed
    try:
        return find_repository(request.world, request.actor, owner, name)
    except NotFound:
        raise NotFound(f"Could not resolve to a Repository with the name '{owner}/{name}'.") from None


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody with a role in a repository."""

    user: User
    role: Role


@TABLE.field("Repository", "collaborators")
def collaborators(
    repository: Repository,
    request: Request,
    login: str | None = None,
    query: str | None = None,
    affiliation: str | None = None,
    **paging: Any,
) -> Connection[Member]:
    """People with a role, the owner first. Only those who may push see them; apps are never among them."""
    if not request.viewer_role(repository).covers(Role.WRITE):
        raise Forbidden("Must have push access to view repository collaborators.")
    wanted = [
        member
        for member in _members(repository, request)
        if (login is None or member.user.login.lower() == login.lower())
        and (query is None or query.lower() in member.user.login.lower())
        and (affiliation != "OUTSIDE" or member.user.id != repository.owner_id)
    ]
    return connect(wanted, paging, key=lambda member: member.user.id, node=lambda member: member.user)


def _members(repository: Repository, request: Request) -> list[Member]:
    members = (Member(user, role) for user, role in everybody(request.world, repository))
    return [member for member in members if member.user.kind == "User"]


TABLE.plain("RepositoryCollaboratorEdge", Edge[Member], {"permission": lambda edge, _: edge.item.role.name})


@TABLE.field("Repository", "assignableUsers")
@TABLE.field("Repository", "mentionableUsers")
def people(
    repository: Repository, request: Request, query: str | None = None, **paging: Any
) -> Connection[User]:
    users = [member.user for member in _members(repository, request)]
    wanted = [user for user in users if query is None or query.lower() in user.login.lower()]
    return connect(wanted, paging, key=lambda user: user.id)


TABLE.plain(
    "Label",
    Label,
    {
        "id": lambda label, _: label.node_id,
        "name": lambda label, _: label.name,
        "color": lambda label, _: label.color,
        "description": lambda label, _: label.description,
        "createdAt": lambda label, _: label.created_at,
        "isDefault": lambda _label, _request: False,
        "repository": lambda label, request: request.repository(label.repository_id),
        "url": lambda label, request: request.url(label_path(label, request)),
        "resourcePath": label_path,
    },
)


def sorted_labels(labels: list[Label], order: Any) -> list[Label]:
    by_label_name, is_descending = by_name(order)
    return sorted(
        labels,
        key=lambda label: (label.name.lower() if by_label_name else "", label.id),
        reverse=is_descending,
    )


@TABLE.field("Repository", "labels")
def labels(
    repository: Repository, request: Request, query: str | None = None, order_by: Any = None, **paging: Any
) -> Connection[Label]:
    """`query` is fuzzy, as on GitHub: every word of it occurs somewhere in the name or the description."""
    words = (query or "").lower().replace(":", " ").split()
    matching = [
        label
        for label in request.store.children(Label, repository.id)
        if all(word in f"{label.name} {label.description or ''}".lower() for word in words)
    ]
    return connect(sorted_labels(matching, order_by), paging, key=lambda label: label.id)


@TABLE.field("Repository", "label")
def label(repository: Repository, request: Request, name: str) -> Label | None:
    return request.store.find(Label, f"{repository.id}/{name.lower()}")


def _may_triage(milestone: Milestone, request: Request) -> bool:
    return request.viewer_role(request.repository(milestone.repository_id)).covers(Role.TRIAGE)


def _progress(milestone: Milestone, request: Request) -> float:
    """How much of what is in the milestone is closed, in percent."""
    everything = request.issues(request.repository(milestone.repository_id))
    inside = [issue for issue in everything if issue.milestone_id == milestone.id]
    return 100.0 * sum(not issue.is_open for issue in inside) / len(inside) if inside else 0.0


TABLE.plain(
    "Milestone",
    Milestone,
    {
        "id": lambda milestone, _: milestone.node_id,
        "number": lambda milestone, _: milestone.number,
        "title": lambda milestone, _: milestone.title,
        "description": lambda milestone, _: milestone.description,
        "state": lambda milestone, _: milestone.state.upper(),
        "closed": lambda milestone, _: milestone.state == "closed",
        "closedAt": lambda milestone, _: milestone.closed_at,
        "createdAt": lambda milestone, _: milestone.created_at,
        "updatedAt": lambda milestone, _: milestone.updated_at,
        "dueOn": lambda milestone, _: milestone.due_on,
        "creator": lambda milestone, request: request.user(milestone.creator_id),
        "repository": lambda milestone, request: request.repository(milestone.repository_id),
        "progressPercentage": _progress,
        "viewerCanClose": lambda milestone, request: (
            milestone.state == "open" and _may_triage(milestone, request)
        ),
        "viewerCanReopen": lambda milestone, request: (
            milestone.state == "closed" and _may_triage(milestone, request)
        ),
        "url": lambda milestone, request: request.url(milestone_path(milestone, request)),
        "resourcePath": milestone_path,
    },
)


@TABLE.field("Repository", "milestones")
def milestones(
    repository: Repository,
    request: Request,
    states: list[str] | None = None,
    query: str | None = None,
    order_by: Any = None,
    **paging: Any,
) -> Connection[Milestone]:
    del order_by  # by number, as they were made
    matching = [
        milestone
        for milestone in request.store.children(Milestone, repository.id)
        if (not states or milestone.state.upper() in states)
        and (query is None or query.lower() in milestone.title.lower())
    ]
    return connect(matching, paging, key=lambda milestone: milestone.id)


@TABLE.field("Repository", "milestone")
def milestone(repository: Repository, request: Request, number: int) -> Milestone | None:
    return request.store.find(Milestone, f"{repository.id}/{number}")
