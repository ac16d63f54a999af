"""The hub's whole web face: REST, GraphQL, git and pages over one world."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as WebRoute

from cogworks.hub.actions.access import ANONYMOUS
from cogworks.hub.git_http import TAILS, GitEndpoint
from cogworks.hub.graphql_http import GraphqlEndpoint
from cogworks.hub.pages import page_routes
from cogworks.hub.refusals import NotFound
from cogworks.hub.rest.dispatch import RestEndpoint, refusal_response, standard_headers, template
from cogworks.hub.rest.exchange import Handler
from cogworks.hub.rest.routes import ROUTES
from cogworks.hub.world import World

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def hub_app(world: World) -> Starlette:
    """The ASGI application: REST below `/api/v3` and at the root, GraphQL at `/api/graphql` and `/graphql`."""
    graphql = GraphqlEndpoint(world)
    routes: list[BaseRoute] = [
        WebRoute(path, graphql.answer, methods=["POST"]) for path in ("/graphql", "/api/graphql")
    ]
    routes += [WebRoute(f"/{{owner}}/{{name}}/{tail}", GitEndpoint(world, tail)) for tail in TAILS]
    for path, handlers in _operations():
        if "/dependencies/" in path and not world.has_graphql_extensions:
            continue
        endpoint = RestEndpoint(world, path, handlers)
        routes += [
            WebRoute(prefix + template(path), endpoint.answer, methods=_METHODS) for prefix in ("/api/v3", "")
        ]
    routes += page_routes(world)

    async def missing(_request: Request, _error: Exception) -> Response:
        return refusal_response(NotFound(), standard_headers(world, ANONYMOUS, "core"))

    return Starlette(routes=routes, exception_handlers={404: missing, 405: missing})


def _operations() -> list[tuple[str, dict[str, Handler]]]:
    """Every REST path with its handlers, the longer and the more literal first: `{ref}` may hold slashes."""
    found: dict[str, dict[str, Handler]] = {}
    for route in ROUTES:
        found.setdefault(route.path, {})[route.method] = route.handler
    return sorted(found.items(), key=lambda item: (-item[0].count("/"), item[0].count("{")))
