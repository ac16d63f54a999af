"""The proxy that a setup in isolation finds: encrypted connections and plain downloads to package registries, nothing else."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cogworks.services.setup.connecting import NotAllowed, NotReached, Way
from cogworks.services.setup.door import Door
from cogworks.services.setup.registries import HTTP, target_of

_CHUNK_BYTES = 64 * 1024
_MOST_NOTES = 20
_NOTE_CHARS = 400
_HANDED_ON = frozenset(
    {"accept", "accept-encoding", "cache-control", "if-modified-since", "if-none-match", "if-range", "range", "user-agent"}
)  # fmt: skip
"""Of a plain download's headers."""


class Limits(NamedTuple):
    """What a setup may use of the network."""

    idle_s: float = 60.0
    """Nothing comes or goes for so long and the connection ends."""
    connection_s: float = 1200.0
    connections: int = 64
    """At the same time."""
    received_bytes: int = 4 * 1024**3
    """All connections together."""
    sent_bytes: int = 64 * 1024**2
    """All connections together: asking takes little, and nothing is to be published."""


class Traffic:
    """What went through, and what did not; shared by all connections of a setup."""

    def __init__(self, way: Way, limits: Limits = Limits()) -> None:  # noqa: B008 - frozen
        self.way = way
        self.limits = limits
        self._lock = threading.Lock()
        self._refused: dict[str, None] = {}
        self._problems: dict[str, None] = {}
        self._is_hopeless = False
        self._open = self._received = self._sent = 0

    @property
    def refused(self) -> tuple[str, ...]:
        """What was asked for and is not allowed, in words, the first of them."""
        with self._lock:
            return tuple(self._refused)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is allowed and could not be had, in words, the first of them."""
        with self._lock:
            return tuple(self._problems)

    @property
    def is_hopeless(self) -> bool:
        """Whether one of the problems will be there the next time as well."""
        with self._lock:
            return self._is_hopeless

    def refuse(self, text: str) -> None:
        """Note what is not allowed."""
        self._note(self._refused, text)

    def trouble(self, error: NotReached) -> None:
        """Note what could not be had."""
        with self._lock:
            self._is_hopeless |= error.is_final
        self._note(self._problems, str(error))

    @contextmanager
    def one(self) -> Iterator[bool]:
        """Whether there is room for another connection; it is one of them until the block ends."""
        with self._lock:
            has_room = self._open < self.limits.connections
            self._open += has_room
        try:
            yield has_room
        finally:
            with self._lock:
                self._open -= has_room

    def may_receive(self, size: int) -> bool:
        """Count what came; False where it is too much."""
        with self._lock:
            self._received += size
            is_over = self._received > self.limits.received_bytes
        if is_over:
            self.refuse(f"more than {self.limits.received_bytes // 1024**2} MiB")
        return not is_over

    def may_send(self, size: int) -> bool:
        """Count what goes out; False where it is too much."""
        with self._lock:
            self._sent += size
            is_over = self._sent > self.limits.sent_bytes
        if is_over:
            self.refuse(f"sending more than {self.limits.sent_bytes // 1024**2} MiB")
        return not is_over

    def _note(self, notes: dict[str, None], text: str) -> None:
        with self._lock:
            if len(notes) < _MOST_NOTES:
                notes[text[:_NOTE_CHARS]] = None


def proxy_door(traffic: Traffic) -> Door:
    """The door to the registries: the address of a proxy."""
    return Door("proxy", partial(_Handler, traffic))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, traffic: Traffic, *connection: Any) -> None:
        self._traffic = traffic
        # The base class answers within its constructor.
        super().__init__(*connection)

    def setup(self) -> None:
        """A caller that says nothing is hung up on."""
        self.request.settimeout(self._traffic.limits.idle_s)
        super().setup()

    def do_CONNECT(self) -> None:
        self.close_connection = True
        target = target_of(self.path)
        if target is None:
            self._say(400, "want CONNECT host:port")
            return
        with self._reached(*target) as server:
            if server is not None:
                self.send_response_only(200)
                self.end_headers()
                self._carry(server)

    def do_GET(self) -> None:
        self._download()

    def do_HEAD(self) -> None:
        self._download()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Nothing: what is refused or fails is kept by the traffic."""

    def _download(self) -> None:
        self.close_connection = True
        target = _plain_target(self.path)
        if target is None or "content-length" in self.headers or "transfer-encoding" in self.headers:
            self._say(
                400, "want an address that begins with http:// and has no user, and a request without a body"
            )
            return
        host, port, path = target
        authority = host if port == HTTP else f"{host}:{port}"
        kept = [f"{name}: {value}" for name, value in self.headers.items() if name.lower() in _HANDED_ON]
        head = [f"{self.command} {path} HTTP/1.1", f"Host: {authority}", *kept, "Connection: close", "", ""]
        with self._reached(host, port) as server:
            if server is not None and self._traffic.may_send(sum(map(len, head))):
                with suppress(OSError):
                    server.settimeout(self._traffic.limits.idle_s)
                    server.sendall("\r\n".join(head).encode("latin-1", errors="replace"))
                    _copy(server, self.connection, self._traffic.may_receive, self._deadline())

    @contextmanager
    def _reached(self, host: str, port: int) -> Iterator[socket.socket | None]:
        """A connection to a host; None where it was answered why there is none."""
        traffic = self._traffic
        with traffic.one() as has_room:
            if not has_room:
                self._say(503, f"more than {traffic.limits.connections} connections at the same time")
                yield None
                return
            try:
                server = traffic.way.connected(host, port)
            except NotAllowed as error:
                traffic.refuse(str(error))
                self._say(403, f"refused: {error}")
                yield None
            except NotReached as error:
                traffic.trouble(error)
                self._say(502, str(error))
                yield None
            else:
                with closing(server):
                    yield server

    def _carry(self, server: socket.socket) -> None:
        """Both ways, until one end is done or a limit is reached."""
        deadline = self._deadline()
        # What came with the first lines is in the reader's buffer already.
        early = self._buffered()
        for end in (server, self.connection):
            end.settimeout(self._traffic.limits.idle_s)
        if early and not self._traffic.may_send(len(early)):
            return
        with suppress(OSError):
            server.sendall(early)
            out = threading.Thread(
                target=_copy, args=(self.connection, server, self._traffic.may_send, deadline), daemon=True
            )
            out.start()
            _copy(server, self.connection, self._traffic.may_receive, deadline)
            # The other direction waits for a client that may never say more.
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RD)
            out.join(self._traffic.limits.idle_s)

    def _buffered(self) -> bytes:
        self.connection.settimeout(0.0)
        try:
            return self.rfile.peek() if hasattr(self.rfile, "peek") else b""
        except OSError:
            return b""

    def _deadline(self) -> float:
        return time.monotonic() + self._traffic.limits.connection_s

    def _say(self, status: int, text: str) -> None:
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _copy(source: socket.socket, target: socket.socket, may: Any, deadline: float) -> None:
    with suppress(OSError):
        while time.monotonic() < deadline:
            data = source.recv(_CHUNK_BYTES)
            if not data or not may(len(data)):
                break
            target.sendall(data)
    # Whoever reads there learns that nothing more comes.
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _plain_target(url: str) -> tuple[str, int, str] | None:
    """Host, port and path of a plain address; None: it is none."""
    if not url.startswith("http://") or not url.isascii() or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        authority = parts.netloc if parts.port else f"{parts.netloc.removesuffix(':')}:{HTTP}"
    except ValueError:
        return None
    target = target_of(authority)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return None if target is None or parts.username is not None else (*target, path)
