"""Serving a hub on a loopback port until it is told to stop."""

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

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from cogworks.errors import UsageError
from cogworks.hub.actions.merging import repair
from cogworks.hub.admin import Admin, admin_app
from cogworks.hub.app import hub_app
from cogworks.hub.clock import SystemClock
from cogworks.hub.fault_middleware import ADMIN_ROOT, Controls, Cut, FaultMiddleware
from cogworks.hub.faults import FaultPlan
from cogworks.hub.graphql.endpoint import warm
from cogworks.hub.kept_tokens import ADMIN, kept_token, pages_link
from cogworks.hub.snapshots import Snapshots
from cogworks.hub.visitors import from_here_alone
from cogworks.hub.world import World
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
