"""Serves one domain service on a Unix socket or over HTTP: however many callers, one request after another."""

import os
import queue
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import partial
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from cogworks.domain_services.messages import ErrorCode, Response, ServiceError, frame
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES

MAX_CALLERS = 32
"""Connections at a time; one more is closed at once."""
_IDLE_S = 30.0
_LOOK_UP_S = 0.5
_PREFIX = "/api/v1/"

Answering = Callable[[bytes], Response]


class HttpAddress(NamedTuple):
    """Where to listen for HTTP, and who may ask."""

    host: str
    port: int
    token: str = ""
    """What callers must send as a bearer token; empty: nothing."""
    certificate: Path | None = None
    """PEM with certificate and key; None: plain HTTP, which only the loopback address may use."""


class Dispatcher:
    """Where requests queue up: many threads read them, the main thread answers them, so that a signal can end it."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[bytes, Future[bytes]]] = queue.SimpleQueue()

    def ask(self, line: bytes) -> bytes:
        """The framed response to one line; waits for its turn."""
        response: Future[bytes] = Future()
        self._waiting.put((line, response))
        return response.result()

    def answer_all(self, answer: Answering) -> None:
        """Answer until a signal handler raises."""
        while True:
            try:
                # A signal in the instant before an endless wait would wake nobody, and be heard at the next request.
                line, response = self._waiting.get(timeout=_LOOK_UP_S)
            except queue.Empty:
                continue
            response.set_result(sendable(answer(line)))


def sendable(response: Response) -> bytes:
    """A response as it goes over the wire; an error that says so where it is longer than a caller would read."""
    line = frame(response)
    if len(line) <= MAX_MESSAGE_BYTES:
        return line
    text = f"the answer has {len(line)} bytes, {MAX_MESSAGE_BYTES} are allowed; ask about fewer artifacts at a time"
    error = ServiceError(code=ErrorCode.TOOL_FAILED, message=text)
    return frame(Response(request_id=response.request_id, status="error", error=error))


def serve(
    answer: Answering,
    *,
    socket_path: Path | None = None,
    http: HttpAddress | None = None,
    listening: Callable[[str], None] = lambda _: None,
) -> None:
    """Answer requests until the process is ended.

    Args:
        socket_path: only this user may connect there; removed at the end.
        listening: called with each address as soon as callers are let in.

    Raises:
        OSError: there can be no listening there.
    """
    dispatcher = Dispatcher()
    with ExitStack() as stack:
        if socket_path is not None:
            _listen_on_socket(stack, socket_path, dispatcher)
            listening(str(socket_path))
        if http is not None:
            listening(_listen_on_http(stack, http, dispatcher))
        dispatcher.answer_all(answer)


def end_with_standard_input(last: Callable[[], object]) -> None:
    """End this process as soon as the one that started it closes our standard input, or dies.

    Args:
        last: what is done before, for nothing else of an end is.
    """

    def watch() -> None:
        with suppress(OSError):
            while os.read(sys.stdin.fileno(), 4096):
                pass
        try:
            last()
        finally:
            os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _listen_on_socket(stack: ExitStack, path: Path, dispatcher: Dispatcher) -> None:
    before = os.umask(0o177)
    try:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        listener.bind(str(path))
    finally:
        os.umask(before)
    stack.callback(path.unlink, missing_ok=True)
    listener.listen()
    threading.Thread(target=_accept, args=(listener, dispatcher), daemon=True).start()


def _accept(listener: socket.socket, dispatcher: Dispatcher) -> None:
    places = threading.BoundedSemaphore(MAX_CALLERS)

    def attend(connection: socket.socket) -> None:
        # A caller that left is no reason to end.
        with connection, suppress(OSError):
            _converse(connection, dispatcher)
        places.release()

    # An OSError is the listener closed, at the end of the process.
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            if places.acquire(blocking=False):
                threading.Thread(target=attend, args=(connection,), daemon=True).start()
            else:
                connection.close()


def _converse(connection: socket.socket, dispatcher: Dispatcher) -> None:
    with connection.makefile("rb") as requests:
        while line := requests.readline(MAX_MESSAGE_BYTES + 1):
            if not line.endswith(b"\n"):
                return
            connection.sendall(dispatcher.ask(line))


def _listen_on_http(stack: ExitStack, address: HttpAddress, dispatcher: Dispatcher) -> str:
    handler = partial(_Handler, dispatcher, address.token)
    server = stack.enter_context(_Server((address.host, address.port), handler))
    scheme = "http"
    if address.certificate is not None:
        scheme = "https"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(address.certificate)
        # The greeting is left to each caller's own thread: one who never greets must not hold up the others.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{scheme}://{address.host}:{server.server_address[1]}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        self._places = threading.BoundedSemaphore(MAX_CALLERS)
        super().__init__(address, handler)

    def process_request_thread(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            # A caller that left, or never spoke TLS, is no reason to complain.
            with suppress(OSError):
                self.finish_request(request, client_address)
        finally:
            self.shutdown_request(request)
            self._places.release()


class _Handler(BaseHTTPRequestHandler):
    """`POST /api/v1/<method>`; whatever could be read as HTTP is answered 200 with an envelope."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    # Head and body in one piece and at once: apart they would wait for each other, 40 ms a call.
    wbufsize = -1
    disable_nagle_algorithm = True

    def __init__(self, dispatcher: Dispatcher, token: str, *connection: Any) -> None:
        self._desk = dispatcher
        self._token = token
        # The base class answers within its constructor.
        super().__init__(*connection)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not self.path.startswith(_PREFIX):
            self._refuse(404, f"requests go to {_PREFIX}<method>")
        elif self._token and not _same(self.headers.get("Authorization", ""), f"Bearer {self._token}"):
            self._refuse(401, "a bearer token is wanted")
        elif not length.isdecimal():
            self._refuse(411, "Content-Length is wanted")
        elif int(length) > MAX_MESSAGE_BYTES:
            self._refuse(413, f"a request has at most {MAX_MESSAGE_BYTES} bytes")
        else:
            self._send(200, "application/json", self._desk.ask(self.rfile.read(int(length))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Nothing: what was asked is nobody's business but the caller's."""

    def _refuse(self, status: int, text: str) -> None:
        # What follows of the request is not read, so the connection is of no more use.
        self.close_connection = True
        self._send(status, "text/plain; charset=utf-8", f"{text}\n".encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _same(token: str, expected: str) -> bool:
    return compare_digest(token.encode(), expected.encode())
