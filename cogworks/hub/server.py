"""Serving a hub on a loopback port until it is told to stop: its web face, GraphQL over HTTP, and who may speak to it."""

import asyncio
import fcntl
import gc
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from cogworks.errors import UsageError
from cogworks.hub.actions.access import ANONYMOUS, Actor, authenticate
from cogworks.hub.actions.merging import repair
from cogworks.hub.admin import Admin, admin_app
from cogworks.hub.clock import SystemClock
from cogworks.hub.fault_middleware import ADMIN_ROOT, Controls, Cut, FaultMiddleware
from cogworks.hub.faults import FaultPlan
from cogworks.hub.git_http import TAILS, GitEndpoint, basic_token
from cogworks.hub.graphql.endpoint import execute, warm
from cogworks.hub.job_logs import log_routes
from cogworks.hub.pages import page_routes
from cogworks.hub.refusals import BadRequest, Refusal, Unauthenticated
from cogworks.hub.rest.described import ROUTES, refusal_of, rivals
from cogworks.hub.rest.dispatch import (
    API_ROOT,
    RestEndpoint,
    api_path,
    json_response,
    parsed_json,
    refusal_response,
    standard_headers,
    template,
)
from cogworks.hub.rest.exchange import Handler
from cogworks.hub.snapshots import Snapshots
from cogworks.hub.store import ADMIN, kept_token, pages_link
from cogworks.hub.world import World
from cogworks.loopback import is_loopback
from cogworks.own_folders import own_folder
from cogworks.stopping import Stop, noted_signals
from cogworks.unfit import writing

HOST = "127.0.0.1"
_LOCK = "hub.lock"
_PORT = "hub.port"


def serve(
    directory: Path,
    port: int = 0,
    *,
    clock_offset_s: float = 0,
    has_graphql_extensions: bool = True,
    cross_reference_delay_s: int = 0,
    plan: FaultPlan | None = None,
) -> None:
    """Serve the hub in `directory` until SIGTERM or SIGINT; port 0 takes the last one again, or a free one.

    Prints one line with the address, one with the link that lets a browser in to private repositories, and writes `hub.json` ({"url", "pid"}) once it is listening.
    Raises `UsageError` when another process serves the directory or holds the port.

    Args:
        clock_offset_s: how far the hub's clock runs ahead of this machine's, or behind it.
        has_graphql_extensions: False for an older GitHub Enterprise Server.
        cross_reference_delay_s: how late timelines show that something mentions an issue.
        plan: the faults that it begins with.
    """
    with writing(directory):
        own_folder(directory)
    with _sole_server(directory), _listening(directory, port) as listener:
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        clock = SystemClock(timedelta(seconds=clock_offset_s))
        world = World(directory, clock=clock, base_url=url)
        world.has_graphql_extensions = has_graphql_extensions
        world.cross_reference_delay_s = cross_reference_delay_s
        try:
            snapshots = Snapshots(world)
            snapshots.finish()
            repair(world)
            warm(with_extensions=has_graphql_extensions)
            # It stays as it is: no collection, and not those at the end, need look through it again.
            gc.freeze()
            connections = Connections()
            application = _application(world, clock, snapshots, plan or FaultPlan())
            with noted_signals() as stop:
                server = _Server(_config(connections.cutting(application)), stop)
                connections.state = server.server_state
                _write_note(directory, url)
                print(f"hub listening on {url}")  # noqa: T201 - whoever starts the hub reads it
                print(f"pages of private repositories: {pages_link(directory, url + '/')}", flush=True)  # noqa: T201 - whoever starts the hub reads it
                server.run(sockets=[listener])
        finally:
            world.close()


def _config(application: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http="h11",
        log_level="critical",
        access_log=False,
        date_header=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=5,
    )


class _Server(uvicorn.Server):
    """Ends well by SIGTERM and SIGINT, whenever they come; a second one breaks off what is under way."""

    def __init__(self, config: uvicorn.Config, stop: Stop) -> None:
        super().__init__(config)
        self._stop = stop

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: `Stop` has the signals, also before this server listens and after it ended."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self._stop.fileno(), self._end)

    def _end(self) -> None:
        self.should_exit = True
        self.force_exit = self._stop.times > 1


class Connections:
    """The open connections of the server, any of which can be broken without an answer."""

    state: ServerState | None = None

    def cutting(self, app: ASGIApp) -> ASGIApp:
        """The application, whose `Cut` breaks the connection of the request that raised it."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await app(scope, receive, send)
            except Cut:
                self._break(scope["client"])

        return guarded

    def _break(self, client: tuple[str, int]) -> None:
        for connection in self.state.connections if self.state is not None else ():
            if isinstance(connection, H11Protocol) and connection.client == client:
                connection.transport.abort()


def _application(world: World, clock: SystemClock, snapshots: Snapshots, plan: FaultPlan) -> ASGIApp:
    controls = Controls(clock=clock, newest_id=world.store.newest_number)
    controls.play(plan)
    hub = FaultMiddleware(hub_app(world), controls)
    admin = admin_app(Admin(controls, snapshots, clock, kept_token(world.directory, ADMIN)))

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        inside = admin if scope["type"] == "http" and scope["path"].startswith(ADMIN_ROOT) else hub
        await inside(scope, receive, send)

    return from_here_alone(application, world.base_url)


def _write_note(directory: Path, url: str) -> None:
    aside = directory / "hub.json.new"
    aside.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    aside.replace(directory / "hub.json")
    (directory / _PORT).write_text(url.rpartition(":")[2])


@contextmanager
def _sole_server(directory: Path) -> Iterator[None]:
    """Two servers over one directory would each miss the other's pushes; the lock dies with its process."""
    with (directory / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"{directory} is served by another hub already; stop it or choose another directory"
            ) from error
        yield


@contextmanager
def _listening(directory: Path, port: int) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listener:
        if port:
            _bind(listener, port)
        else:
            # URLs of this hub are written into its own comments: the same port keeps them alive.
            try:
                _bind(listener, _last_port(directory))
            except UsageError:
                _bind(listener, 0)
        listener.listen(128)
        yield listener


def _bind(listener: socket.socket, port: int) -> None:
    try:
        listener.bind((HOST, port))
    except OSError as error:
        raise UsageError(
            f"cannot listen on {HOST}:{port}: {error.strerror}; choose another --port"
        ) from error


def _last_port(directory: Path) -> int:
    try:
        return int((directory / _PORT).read_text())
    except (OSError, ValueError):
        return 0


class GraphqlEndpoint:
    """The endpoint of `/graphql`; every request needs a token."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def answer(self, request: Request) -> Response:
        raw = await request.body()
        token = basic_token(request.headers.get("authorization"))
        return await run_in_threadpool(self._execute, token, raw)

    def _execute(self, token: str | None, raw: bytes) -> Response:
        world = self._world
        try:
            actor = authenticate(world, token)
            if actor.user is None:
                raise Unauthenticated("This endpoint requires you to be authenticated.")
            body = parsed(raw)
        except Refusal as refusal:
            return refusal_response(refusal, standard_headers(world, None, "graphql"))
        answer = execute(
            world,
            actor,
            body["query"],
            body.get("variables"),
            body.get("operationName"),
            with_extensions=world.has_graphql_extensions,
        )
        return json_response(200, answer, self._headers(actor))

    def _headers(self, actor: Actor) -> dict[str, str]:
        return standard_headers(self._world, actor, "graphql")


def parsed(raw: bytes) -> dict[str, Any]:
    """The request object of a GraphQL POST. Raises `BadRequest` for anything else."""
    body = parsed_json(raw)
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        raise BadRequest("A query attribute must be specified and must be a string.")
    if not isinstance(body.get("variables") or {}, dict):
        raise BadRequest("Variables are invalid JSON.")
    return body


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
    handlers: dict[str, dict[str, Handler]] = {}
    for route in ROUTES:
        handlers.setdefault(route.path, {})[route.method] = route.handler
    return sorted(handlers.items(), key=lambda item: (-item[0].count("/"), item[0].count("{")))


# A page of the web reaches a loopback port too: by a name of its own that it binds to 127.0.0.1, or by a request across
# origins. So only programs of this machine are answered, and the hub's own pages in a browser.
def from_here_alone(app: ASGIApp, url: str) -> ASGIApp:
    """The application, which is asked nothing by a foreign name (421) or from a page of another origin (403).

    Args:
        url: where the hub is served.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(Headers(scope=scope), url) if scope["type"] == "http" else None
        await (refusal or app)(scope, receive, send)

    return guarded


def _refusal(headers: Headers, url: str) -> JSONResponse | None:
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not _is_of_this_machine(hosts[0], url):
        message = (
            f"The hub does not answer to the name in `Host`. Ask {url}, or this machine by a loopback name."
        )
        return JSONResponse({"message": message}, 421)
    # A browser sends no `Origin` that a page could choose; other programs send none.
    if any(origin.lower() not in (url, f"http://{hosts[0].lower()}") for origin in origins):
        message = f"`Origin` names another site. Only the hub's own pages at {url} may ask from a browser."
        return JSONResponse({"message": message}, 403)
    return None


def _is_of_this_machine(host: str, url: str) -> bool:
    """Whether the value of a `Host` header is a loopback name, with any port: a tunnel has another than the hub."""
    try:
        asked = urlsplit(f"http://{host}")
        name, _ = asked.hostname or "", asked.port
    except ValueError:
        return False
    is_a_name_alone = asked.netloc == host and "@" not in host
    return is_a_name_alone and (is_loopback(name) or name == urlsplit(url).hostname)
