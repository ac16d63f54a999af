"""Serving a hub on a loopback port until it is told to stop."""

import fcntl
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import FrameType

import uvicorn

from cogworks.errors import UsageError
from cogworks.hub.actions.merging import repair
from cogworks.hub.app import hub_app
from cogworks.hub.clock import SystemClock
from cogworks.hub.graphql.endpoint import warm
from cogworks.hub.world import World

HOST = "127.0.0.1"
_LOCK = "hub.lock"
_PORT = "hub.port"


def serve(
    directory: Path, port: int = 0, *, clock_offset_s: float = 0, has_graphql_extensions: bool = True
) -> None:
    """Serve the hub in `directory` until SIGTERM or SIGINT; port 0 takes the last one again, or a free one.

    Prints one line with the address and writes `hub.json` ({"url", "pid"}) once it is listening.
    Raises `UsageError` when another process serves the directory or holds the port.

    Args:
        clock_offset_s: how far the hub's clock runs ahead of this machine's, or behind it.
        has_graphql_extensions: False for an older GitHub Enterprise Server.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with _sole_server(directory), _listening(directory, port) as listener:
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        world = World(directory, clock=SystemClock(timedelta(seconds=clock_offset_s)), base_url=url)
        world.has_graphql_extensions = has_graphql_extensions
        try:
            repair(world)
            warm(with_extensions=has_graphql_extensions)
            server = uvicorn.Server(_config(world))
            with _ended_by_signals(server):
                _write_note(directory, url)
                print(f"hub listening on {url}", flush=True)  # noqa: T201 - whoever starts the hub reads it
                server.run(sockets=[listener])
        finally:
            world.close()


def _config(world: World) -> uvicorn.Config:
    return uvicorn.Config(
        hub_app(world),
        log_level="critical",
        access_log=False,
        date_header=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=5,
    )


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """SIGTERM and SIGINT end the server well, also before uvicorn listens to them and when it raises them again."""

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
