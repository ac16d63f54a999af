"""Ends a `cogworks process` at a chosen moment, as a power cut would: SIGKILL to its whole process group."""

import http.client
import os
import signal
import subprocess
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Literal, NamedTuple, Self
from urllib.parse import urlsplit

from tests.end_to_end.scene import Scene
from tests.forking import Cogworks
from tests.limits import ENDS_WITHIN_S

PASSED_ON = (
    "authorization",
    "content-type",
    "accept",
    "user-agent",
    "x-github-api-version",
    "x-github-next-global-id",
)


class Moment(NamedTuple):
    """When a step dies."""

    kind: Literal["before", "after", "line"]
    """Before its n-th API request reaches the hub, after the hub did it and before its answer, or at its n-th line."""
    number: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.number}"


def killed_step(scene: Scene, moment: Moment, *options: str) -> bool:
    """Start one step and kill it at the moment; False when it ended before."""
    with _Wire(scene, moment) as wire:
        with Cogworks(
            ["process", scene.issue_url, "--json", *options],
            env=scene.environment(
                GITHUB_API_URL=f"{wire.url}/api/v3", GITHUB_GRAPHQL_URL=f"{wire.url}/api/graphql"
            ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as running:
            wire.victim(lambda: os.killpg(running.pid, signal.SIGKILL))
            assert running.stderr is not None
            for number, _ in enumerate(running.stderr, start=1):
                if moment == ("line", number):
                    os.killpg(running.pid, signal.SIGKILL)
        return running.wait(timeout=ENDS_WITHIN_S) == -signal.SIGKILL


class _Wire:
    """A loopback server that passes API requests on to the hub, and kills at its moment."""

    def __init__(self, scene: Scene, moment: Moment) -> None:
        self._hub = urlsplit(scene.stage.url)
        self._moment = moment
        self._count = 0
        self._lock = Lock()
        self._kill: Callable[[], None] = lambda: None
        self._has_victim = Event()

    def victim(self, kill: Callable[[], None]) -> None:
        self._kill = kill
        self._has_victim.set()

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(timeout=ENDS_WITHIN_S)
        self._server.server_close()

    def passed_on(self, handler: BaseHTTPRequestHandler) -> tuple[int, list[tuple[str, str]], bytes] | None:
        """The hub's answer; None when the one who asked is dead."""
        with self._lock:
            self._count += 1
            number = self._count
        if self._dies(Moment("before", number)):
            return None
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(self._hub.hostname or "", self._hub.port, timeout=60)
        try:
            headers = {name: value for name, value in handler.headers.items() if name.lower() in PASSED_ON}
            connection.request(handler.command, handler.path, body=body or None, headers=headers)
            answer = connection.getresponse()
            told = answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()
        return None if self._dies(Moment("after", number)) else told

    def _dies(self, moment: Moment) -> bool:
        if moment != self._moment:
            return False
        self._has_victim.wait(timeout=ENDS_WITHIN_S)
        self._kill()
        return True


def _handler(wire: _Wire) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            told = wire.passed_on(self)
            self.close_connection = True
            if told is None:
                return
            status, headers, body = told
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

    for verb in ("GET", "POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler._pass_on)
    return Handler
