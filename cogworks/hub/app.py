"""The hub's whole web face: REST, GraphQL, git and pages over one world."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as WebRoute

from cogworks.hub.actions.access import ANONYMOUS
from cogworks.hub.git_http import TAILS, GitEndpoint
from cogworks.hub.graphql_http import GraphqlEndpoint
from cogworks.hub.job_logs import log_routes
from cogworks.hub.pages import page_routes
from cogworks.hub.rest.described import refusal_of, rivals
from cogworks.hub.rest.dispatch import (
    API_ROOT,
    RestEndpoint,
    api_path,
    refusal_response,
    standard_headers,
    template,
)
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
    routes += log_routes(world)
    routes += [WebRoute(f"/{{owner}}/{{name}}/{tail}", GitEndpoint(world, tail)) for tail in TAILS]
    for path, handlers in _operations():
        if "/dependencies/" in path and not world.has_graphql_extensions:
            continue
        endpoint = RestEndpoint(world, path, handlers, rivals(path))
        routes += [
            WebRoute(prefix + template(path), endpoint.answer, methods=_METHODS) for prefix in (API_ROOT, "")
        ]

    async def missing(request: Request, _error: Exception | None = None) -> Response:
        refusal = refusal_of(
            request.method, api_path(request.url.path), has_extensions=world.has_graphql_extensions
        )
        return refusal_response(refusal, standard_headers(world, ANONYMOUS, "core"))

    # What is below the API's root is never a page, such as that of a repository `api/v3`.
    routes += [WebRoute(f"{API_ROOT}{{rest:path}}", missing, methods=_METHODS), *page_routes(world)]
    return Starlette(routes=routes, exception_handlers={404: missing, 405: missing})


def _operations() -> list[tuple[str, dict[str, Handler]]]:
    """Every REST path with its handlers, the longer and the more literal first: `{ref}` may hold slashes."""
    found: dict[str, dict[str, Handler]] = {}
    for route in ROUTES:
        found.setdefault(route.path, {})[route.method] = route.handler
    return sorted(found.items(), key=lambda item: (-item[0].count("/"), item[0].count("{")))
