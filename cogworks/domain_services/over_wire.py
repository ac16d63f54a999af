"""One exchange over HTTP: `POST <address>/api/v1/<method>`.

One exchange over a Unix socket.
"""

import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from cogworks.bounded_http import bounded, within
from cogworks.domain_services.messages import MAX_MESSAGE_BYTES
from cogworks.domain_services.transport import ServiceGone, ServiceRefused, ServiceSlow
from cogworks.masking import masked

PATH = "/api/v1/"
_SHOWN_CHARS = 200


class HttpTransport:
    """A service at an http(s) address; proxies and redirects are not followed, so that nothing leads elsewhere."""

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        ca_file: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Args:
        url: without the path; `configuration.address_problem` says which are allowed.
        token: sent as a bearer token; empty: none.
        ca_file: certificates to trust instead of the usual ones.
        """
        self._url = url.rstrip("/") + PATH
        self._token = token
        client = httpx.Client(
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {}),
            verify=_trust(url, ca_file),
            trust_env=False,
            follow_redirects=False,
            transport=transport,
        )
        self._client = bounded(client)

    def exchange(self, method: str, line: bytes, /, *, limit_s: float) -> bytes:
        """As the Protocol says."""
        deadline = time.monotonic() + limit_s
        try:
            with (
                within(limit_s),
                self._client.stream(
                    "POST",
                    self._url + method,
                    content=line,
                    headers={"Content-Type": "application/json"},
                    timeout=limit_s,
                ) as response,
            ):
                body = _body(response, deadline, limit_s)
        except httpx.TimeoutException:
            raise ServiceSlow(f"no answer within {limit_s:g} s") from None
        except httpx.RequestError as error:
            if isinstance(error.__cause__, ssl.SSLError) or "certificate" in str(error).lower():
                raise ServiceRefused(f"the certificate of {self._url} is not trusted: {error}") from error
            said = masked(str(error), [self._token])
            raise ServiceGone(f"{self._url + method}: {type(error).__name__}: {said}") from error
        if response.status_code in (401, 403):
            raise ServiceRefused(
                f"{self._url + method} answered {response.status_code}: the token is refused"
            )
        if response.status_code != 200:
            text = masked(body.decode(errors="replace").strip(), [self._token])
            raise ServiceGone(f"{self._url + method} answered {response.status_code}: {text[:_SHOWN_CHARS]}")
        return body.rstrip(b"\r\n") + b"\n"

    def close(self) -> None:
        """Drop the connection."""
        self._client.close()


def _trust(url: str, ca_file: Path | None) -> ssl.SSLContext:
    if url.startswith("https://"):
        return ssl.create_default_context(cafile=ca_file)
    # Reading the certificates of the machine takes tens of milliseconds; plain HTTP needs none, and this trusts none.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _body(response: httpx.Response, deadline: float, limit_s: float) -> bytes:
    if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
        # A few compressed bytes could become any number before they are counted.
        raise ServiceGone(f"the answer is compressed ({encoding}), which was not asked for")
    received = bytearray()
    for chunk in response.iter_bytes():
        received += chunk
        if len(received) > MAX_MESSAGE_BYTES:
            raise ServiceGone(f"the answer is longer than {MAX_MESSAGE_BYTES} bytes")
        # httpx limits each read; a service that dribbles must not stretch the whole.
        if time.monotonic() > deadline:
            raise ServiceSlow(f"no complete answer within {limit_s:g} s")
    return bytes(received)


_CHUNK = 65536


class SocketTransport:
    """A service that somebody else started and that listens on a socket of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def exchange(self, _method: str, line: bytes, /, *, limit_s: float) -> bytes:
        """As the Protocol says; a connection of its own for every exchange."""
        deadline = time.monotonic() + limit_s
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(limit_s)
        try:
            connection.connect(str(self._path))
        except OSError as error:
            connection.close()
            raise ServiceGone(f"nothing answers at {self._path}: {error}. Is the service running?") from error
        with connection:
            return exchange_line(connection, line, deadline=deadline, limit_s=limit_s)

    def close(self) -> None:
        """Nothing is kept open."""


def exchange_line(
    connection: socket.socket,
    line: bytes,
    *,
    deadline: float,
    limit_s: float,
    last_words: Callable[[], str] = str,
) -> bytes:
    """Send one line and read one, until `deadline` of the monotonic clock. Raises as `Transport.exchange`."""
    try:
        connection.settimeout(limit_s)
        connection.sendall(line)
        received = _line(connection, deadline)
    except TimeoutError:
        raise ServiceSlow(f"no answer within {limit_s:g} s") from None
    except OSError as error:
        raise ServiceGone(f"the connection broke: {error}{last_words()}") from error
    if not received:
        raise ServiceGone(f"the connection was closed without an answer{last_words()}")
    first, feed, rest = received.partition(b"\n")
    if rest:
        raise ServiceGone(f"the answer is followed by {len(rest)} more bytes")
    return first + feed


def _line(connection: socket.socket, deadline: float) -> bytes:
    received = bytearray()
    while b"\n" not in received[-_CHUNK:]:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        connection.settimeout(left_s)
        chunk = connection.recv(_CHUNK)
        if not chunk:
            break
        received += chunk
        if len(received) > MAX_MESSAGE_BYTES:
            raise ServiceGone(f"the answer is longer than {MAX_MESSAGE_BYTES} bytes")
    return bytes(received)
