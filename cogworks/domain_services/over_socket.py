"""One exchange over a Unix socket; loads no library, for it is needed before they are."""

import socket
import time
from collections.abc import Callable
from pathlib import Path

from cogworks.domain_services.transport import MAX_MESSAGE_BYTES, ServiceGone, ServiceSlow

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
