"""What is answered at the top of a query."""

from typing import Any

from cogworks.hub.graphql.nodes import node
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.sight import guard
from cogworks.hub.graphql.tables import Table
from cogworks.hub.records import Issue, Repository, User
from cogworks.hub.refusals import Forbidden, NotFound

TABLE = Table()


@TABLE.field("Query", "node")
def node_by_id(_root: object, request: Request, id: str) -> Any:  # noqa: A002 - GraphQL's name of the argument
    return node(request, id)


@TABLE.field("Query", "nodes")
def nodes_by_id(_root: object, request: Request, ids: list[str]) -> list[Any]:
    """One entry per id; an id that names nothing is an error of its own and null in the list."""
    return [_node_or_refusal(request, each) for each in ids]


def _node_or_refusal(request: Request, node_id: str) -> Any:
    try:
        record = node(request, node_id)
        guard(request, None, record)
        return record
    except (NotFound, Forbidden) as refusal:
        return refusal  # graphql-core puts an exception at its place in the list


@TABLE.field("Query", "relay")
def relay(_root: object, _request: Request) -> object:
    return {}


TABLE.plain("Query", object, {"id": lambda _root, _request: "Query"})


@TABLE.field("Query", "rateLimit")
def rate_limit(_root: object, request: Request, dry_run: bool = False) -> dict[str, object]:
    """What this document cost and what is left of the hour."""
    del dry_run
    left = request.world.limits.allowance(request.actor.caller, "graphql")
    return {
        "cost": request.measure.cost,
        "limit": left.limit,
        "nodeCount": request.measure.nodes,
        "remaining": left.remaining,
        "resetAt": left.reset_at,
        "used": left.used,
    }


@TABLE.field("Query", "resource")
def resource(_root: object, request: Request, url: str) -> Any:
    """The user, repository, issue or pull request whose page has that address; null for any other address."""
    path = url.removeprefix(request.world.base_url).partition("#")[0].partition("?")[0]
    parts = [part for part in path.split("/") if part]
    if len(parts) == 1:
        return request.store.find(User, parts[0].lower())
    repository = request.store.find(Repository, "/".join(parts[:2]).lower())
    if repository is None or not request.may_read(repository):
        return None
    if len(parts) == 2:
        return repository
    if len(parts) == 4 and parts[2] in {"issues", "pull"} and parts[3].isdecimal():
        return request.store.find(Issue, f"{repository.id}/{int(parts[3])}")
    return None
