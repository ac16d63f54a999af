"""A loopback proxy before a GraphQL endpoint: adds latency, and lets a test act before the first write passes."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_KEPT = ("Content-Type", "Authorization", "User-Agent", "Accept")


class Proxy:
    """Forwards every POST to one address."""

    def __init__(
        self, target: str, *, latency_s: float = 0.0, before_write: Callable[[], None] = lambda: None
    ) -> None:
        """
        Args:
            target: the endpoint's URL.
            latency_s: what a request takes longer.
            before_write: called once, when the first mutation arrives and before it is forwarded.
        """
        self._target = urlsplit(target)
        self._latency_s = latency_s
        self._before_write: Callable[[], None] | None = before_write
        self._lock = threading.Lock()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The proxy's own URL, for the length of the block."""
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                proxy.forward(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
                del format, args

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{self._target.path}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def forward(self, request: BaseHTTPRequestHandler) -> None:
        """One request there and back."""
        body = request.rfile.read(int(request.headers.get("Content-Length", "0")))
        if b'"mutation ' in body or b'"\\nmutation ' in body:
            self._act_once()
        time.sleep(self._latency_s)
        connection = HTTPConnection(self._target.hostname or "", self._target.port, timeout=60)
        try:
            headers = {name: value for name in _KEPT if (value := request.headers.get(name))}
            connection.request("POST", self._target.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            request.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    request.send_header(name, value)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content)
        finally:
            connection.close()

    def _act_once(self) -> None:
        with self._lock:
            act, self._before_write = self._before_write, None
            if act is not None:
                act()
