"""What is answered about users, organizations, apps and the viewer."""

from typing import Any

from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.listings import issue_page, pull_page
from cogworks.hub.graphql.resolvers.paths import user_path
from cogworks.hub.graphql.tables import Table
from cogworks.hub.records import Issue, Repository, User
from cogworks.hub.refusals import NotFound

TABLE = Table()

TABLE.plain(
    "User Bot Organization",
    User,
    {
        "id": lambda user, _: user.node_id,
        "databaseId": lambda user, _: user.id,
        "createdAt": lambda user, _: user.created_at,
        "updatedAt": lambda user, _: user.created_at,
        "url": lambda user, request: request.url(user_path(user)),
        "resourcePath": lambda user, _: user_path(user),
    },
)
TABLE.plain(
    "User Organization",
    User,
    {
        "login": lambda user, _: user.login,
        "name": lambda user, _: user.name,
        "projectsResourcePath": lambda user, _: f"{user_path(user)}/projects",
        "projectsUrl": lambda user, request: request.url(f"{user_path(user)}/projects"),
    },
)
TABLE.plain(
    "User",
    User,
    {
        # Empty unless it is public, as on GitHub.
        "email": lambda user, _: user.email or "",
        "isViewer": lambda user, request: request.is_viewer(user.id),
        "isSiteAdmin": lambda _user, _request: False,
    },
)
TABLE.plain("Organization", User, {"email": lambda user, _: user.email})
# An app as the viewer is typed User and keeps the suffix of its login; as an author it is a Bot and loses it.
TABLE.plain("Bot", User, {"login": lambda user, _: user.handle})


@TABLE.field("User Bot Organization", "avatarUrl")
def avatar_url(user: User, request: Request, size: int | None = None) -> str:
    return request.avatar(user.id, size)


@TABLE.field("Query", "viewer")
def viewer(_root: object, request: Request) -> User:
    """The token's owner; for an app its login ends in `[bot]`, which no author's does."""
    return request.actor.known


@TABLE.field("Query", "user")
def user_by_login(_root: object, request: Request, login: str) -> User:
    return _of_kind(request, login, "User", f"Could not resolve to a User with the login of '{login}'.")


@TABLE.field("Query", "organization")
def organization_by_login(_root: object, request: Request, login: str) -> User:
    text = f"Could not resolve to an Organization with the login of '{login}'."
    return _of_kind(request, login, "Organization", text)


def _of_kind(request: Request, login: str, kind: str, refusal: str) -> User:
    user = request.store.find(User, login.lower())
    if user is None or user.kind != kind:
        raise NotFound(refusal)
    return user


@TABLE.field("Query", "repositoryOwner")
def repository_owner(_root: object, request: Request, login: str) -> User | None:
    user = request.store.find(User, login.lower())
    return None if user is None or user.kind == "Bot" else user


@TABLE.field("User Organization", "repository")
def repository_of_owner(user: User, request: Request, name: str, follow_renames: bool = True) -> Repository:
    del follow_renames  # repositories of the hub are not renamed
    repository = request.store.find(Repository, f"{user.login}/{name}".lower())
    if repository is None or not request.may_read(repository):
        raise NotFound(f"Could not resolve to a Repository with the name '{user.login}/{name}'.")
    return repository


@TABLE.field("User Organization", "repositories")
def repositories(user: User, request: Request, **paging: Any) -> Connection[Repository]:
    owned = [r for r in request.store.children(Repository, user.id) if request.may_read(r)]
    return connect(owned, paging, key=lambda repository: repository.id)


def _authored(user: User, request: Request) -> list[Issue]:
    return [
        issue
        for repository in request.store.every(Repository)
        if request.may_read(repository)
        for issue in request.issues(repository)
        if issue.author_id == user.id
    ]


@TABLE.field("User", "issues")
def authored_issues(user: User, request: Request, **arguments: Any) -> Connection[Issue]:
    return issue_page(_authored(user, request), request, arguments)


@TABLE.field("User", "pullRequests")
def authored_pulls(user: User, request: Request, **arguments: Any) -> Connection[Issue]:
    return pull_page(_authored(user, request), request, arguments)
