"""Answers over HTTP that end, in time and in bytes, whatever a server does.

httpx limits each single read, so a server that sends a byte now and then, of the headers or of the body, would never be left.
"""

import os
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any
from urllib.request import getproxies

import httpx

_ENDS_S: ContextVar[float | None] = ContextVar("ends_s", default=None)


class TooLong(httpx.StreamError):
    """The body has more bytes than anybody wants."""


def certificates() -> ssl.SSLContext:
    """What servers are checked with unless somebody names something else; read once, for that takes longer than many a request."""
    return _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:  # noqa: ARG001 - httpx looks at both
    return httpx.create_ssl_context()


def bounded(client: httpx.Client) -> httpx.Client:
    """The client, of whose connections every read obeys the `within` around it."""
    # Handed to the client, a transport of our own would end its looking for proxies in the environment.
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001 - httpx has no public way
        if isinstance(transport, httpx.HTTPTransport):
            pool: Any = transport._pool  # noqa: SLF001 - httpx has no public way
            pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001 - httpx has no public way
    return client


@contextmanager
def within(limit_s: float) -> Iterator[None]:
    """Every read of a bounded client in the block ends with the block's time; it fails as a read that took too long."""
    before = _ENDS_S.set(time.monotonic() + limit_s)
    try:
        yield
    finally:
        _ENDS_S.reset(before)


def whole(response: httpx.Response, *, most_bytes: int) -> bytes:
    """The body of a response that is read as a stream, unpacked.

    Raises:
        TooLong: it has more than `most_bytes`.
        httpx.HTTPError: the connection broke, or the time is over.
    """
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > most_bytes:
            raise TooLong(f"it has more than {most_bytes} bytes")
        _left_s(None)
    return bytes(content)


def _left_s(timeout: float | None) -> float | None:
    ends_s = _ENDS_S.get()
    if ends_s is None:
        return timeout
    left_s = ends_s - time.monotonic()
    if left_s <= 0:
        raise httpx.ReadTimeout("the answer was not whole in time")
    return left_s if timeout is None else min(timeout, left_s)


class _Stream:
    """A connection, in the form in which httpx reads from it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        read: bytes = self._stream.read(max_bytes, _left_s(timeout))
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *arguments: Any, **named: Any) -> "_Stream":
        return _Stream(self._stream.start_tls(*arguments, **named))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend:
    """Opens such connections."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(self, *arguments: Any, **named: Any) -> _Stream:
        return _Stream(self._backend.connect_tcp(*arguments, **named))

    def connect_unix_socket(self, *arguments: Any, **named: Any) -> _Stream:
        return _Stream(self._backend.connect_unix_socket(*arguments, **named))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


def authorities_for(url: httpx.URL) -> ssl.SSLContext | bool:
    """What a client checks certificates against: the usual authorities, which take 25 ms to load, or none where nothing is encrypted.

    Where there is a proxy it may have a certificate of its own. Without authorities every certificate is refused.
    """
    is_plain = url.scheme == "http" and not getproxies()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True
