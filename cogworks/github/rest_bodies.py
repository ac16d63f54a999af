"""What PyGithub reads of answers, head and body: to an end in time, and in bytes."""

import socket
import time
from collections.abc import Callable, ItemsView, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Event, Timer
from typing import Any

import requests
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

WHOLE_S = 120.0
"""Until a head, and from there until its body, is whole."""
MAX_BYTES = 200_000_000
"""Unpacked. The largest git blob has 100 MB, in base64 a third more."""
_PIECE_BYTES = 65_536
_LIMIT_S: ContextVar[float] = ContextVar("limit_s", default=WHOLE_S)


class _Read:
    """An answer whose body was read, in the form in which PyGithub looks at it."""

    def __init__(self, response: requests.Response, *, limit_s: float) -> None:
        self.status = response.status_code
        self.headers = response.headers
        with response:
            self._body = _body(response, limit_s)
        self._encoding = response.encoding or "utf-8"

    def getheaders(self) -> ItemsView[str, str]:
        return self.headers.items()

    def read(self) -> str:
        try:
            return self._body.decode(self._encoding, "replace")
        except LookupError:
            return self._body.decode("utf-8", "replace")


def _body(response: requests.Response, limit_s: float) -> bytes:
    ends_s = time.monotonic() + limit_s
    content = bytearray()
    # A reader that asks for a whole piece waits for it, however slowly it comes.
    while piece := response.raw.read1(_PIECE_BYTES, decode_content=True):
        content += piece
        if len(content) > MAX_BYTES:
            raise requests.exceptions.ContentDecodingError(f"the answer has more than {MAX_BYTES} bytes")
        if time.monotonic() > ends_s:
            raise requests.exceptions.ReadTimeout(f"the answer was not whole after {limit_s:g} s")
    return bytes(content)


@contextmanager
def _ended_in_time(connection: HTTPConnection) -> Iterator[None]:
    """What is read of the connection in the block is whole in time.

    Raises:
        TimeoutError: it is not.
    """
    sock = connection.sock
    is_over = Event()
    if sock is None:
        yield
        return

    def end() -> None:
        is_over.set()
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    # The time-out of a socket is for each single read, and a head may come byte by byte.
    timer = Timer(_LIMIT_S.get(), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    # A head that was cut looks like a short one.
    if is_over.is_set():
        raise TimeoutError("the head of the answer was not whole in time")


class _Connection(HTTPConnection):
    def getresponse(self) -> Any:
        with _ended_in_time(self):
            return super().getresponse()


class _TlsConnection(HTTPSConnection):
    def getresponse(self) -> Any:
        with _ended_in_time(self):
            return super().getresponse()


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


_POOLS = {"http": _Pool, "https": _TlsPool}


class _Adapter(HTTPAdapter):
    """Opens connections whose heads end, directly or through a proxy."""

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        super().init_poolmanager(*arguments, **named)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **named: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **named)
        # Connections through SOCKS are of a kind of their own.
        if not proxy.lower().startswith("socks"):
            manager.pool_classes_by_scheme = _POOLS
        return manager


class _Http(HTTPRequestsConnectionClass):
    def getresponse(self) -> Any:
        return _response_read(self, super().getresponse)


class _Https(HTTPSRequestsConnectionClass):
    def getresponse(self) -> Any:
        return _response_read(self, super().getresponse)


def _response_read(caller: _Http | _Https, ask: Callable[[], Any]) -> _Read:
    session = caller.session
    session.stream = True
    scheme = f"{caller.protocol}://"
    if not isinstance(session.get_adapter(scheme), _Adapter):
        session.mount(scheme, _Adapter(max_retries=caller.retry))
    limit_s = _limit_of(caller.retry)
    before = _LIMIT_S.set(limit_s)
    try:
        return _Read(ask().response, limit_s=limit_s)
    finally:
        _LIMIT_S.reset(before)


def _limit_of(retry: object) -> float:
    return float(getattr(retry, "limit_s", WHOLE_S))


Requester.injectConnectionClasses(_Http, _Https)
