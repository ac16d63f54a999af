"""The service under examination, and the ways of reaching it that a careful caller never uses."""

import os
import socket
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import ServiceGone, ServiceRefused, ServiceSlow, Transport
from cogworks.vocabulary import Value

_FAREWELL_S = 3.0
_DYING_S = 0.2
_FAILURES = (ServiceGone, ServiceSlow, ServiceRefused)


class Heard(Value):
    """What came back for one request."""

    kind: Literal["answer", "closed", "silent", "refused"]
    """A line; no or half a line; nothing in time; turned away."""
    line: bytes = b""
    why: str = ""
    has_died: bool = False
    """Whether the service ended over it; only seen of one that cogworks started."""


class Subject:
    """One service, reached again whenever it broke off; close it."""

    def __init__(self, service: ServiceConfig, open_transport: Callable[[], Transport]) -> None:
        self.service = service
        self._open = open_transport
        self._transport: Transport | None = None

    def ask(self, method: str, line: bytes, *, limit_s: float) -> Heard:
        """Send one line, whatever it holds."""
        (heard,) = self.ask_together(method, [line], limit_s=limit_s)
        return heard

    def ask_together(self, method: str, lines: Sequence[bytes], *, limit_s: float) -> list[Heard]:
        """Send several lines at once, each as a caller of its own."""
        try:
            transport = self._reached()
        except _FAILURES as error:
            return [_unheard(error)] * len(lines)
        with ThreadPoolExecutor(len(lines)) as pool:
            found = list(pool.map(lambda line: _heard(transport, method, line, limit_s), lines))
        # Not before everybody has heard something: a started service ends by it, and all its callers would hear that.
        if any(heard.kind in ("closed", "silent") for heard in found):
            self.close()
        return found

    def close(self) -> None:
        """Let go of it; a started service ends."""
        if self._transport is not None:
            self._transport.close()
        self._transport = None

    @property
    def socket_path(self) -> Path | None:
        """Where it listens on this machine; None: it is reached over HTTP."""
        if self.service.url:
            return None
        if self.service.socket:
            return Path(self.service.socket)
        transport = self._reached()
        return transport.socket_path if isinstance(transport, ServiceProcess) else None

    def socket_mode(self) -> int | None:
        """The permission bits of its socket; None: it has none."""
        path = self.socket_path
        return None if path is None else stat.S_IMODE(path.stat().st_mode)

    @contextmanager
    def connected(self, *, limit_s: float) -> Iterator[socket.socket]:
        """A connection of its own, over which nothing has been said.

        Raises:
            OSError: there is none to be had.
        """
        path = self.socket_path
        if path is not None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            parts = urlsplit(self.service.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            connection = socket.create_connection((parts.hostname or "", port), timeout=limit_s)
        with connection:
            connection.settimeout(limit_s)
            if path is not None:
                connection.connect(str(path))
            yield connection

    def end_politely(self) -> tuple[int | None, bool] | None:
        """Ask a service that cogworks started to end: exit code (None: it did not), and whether anything of it is left.

        None when somebody else started it.
        """
        transport = self._reached()
        if not isinstance(transport, ServiceProcess):
            return None
        code = transport.end_politely(within_s=_FAREWELL_S)
        left = False
        with suppress(ProcessLookupError):
            os.killpg(transport.pid, 0)
            left = True
        self.close()
        return code, left

    def _reached(self) -> Transport:
        if self._transport is None:
            self._transport = self._open()
        return self._transport


def _heard(transport: Transport, method: str, line: bytes, limit_s: float) -> Heard:
    try:
        return Heard(kind="answer", line=transport.exchange(method, line, limit_s=limit_s))
    except _FAILURES as error:
        heard = _unheard(error)
    if heard.kind == "closed" and isinstance(transport, ServiceProcess):
        return heard.model_copy(update={"has_died": transport.has_ended(within_s=_DYING_S)})
    return heard


def _unheard(error: ServiceGone | ServiceSlow | ServiceRefused) -> Heard:
    match error:
        case ServiceGone():
            return Heard(kind="closed", why=str(error))
        case ServiceSlow():
            return Heard(kind="silent", why=str(error))
        case ServiceRefused():
            return Heard(kind="refused", why=str(error))
