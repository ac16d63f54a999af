"""Connects to an allowed host: its name is resolved once, each address checked, and a checked one connected to."""

import socket
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from cogworks.services.setup.registries import HTTPS, Registries, address_problem, plain_name, shown

_CONNECT_S = 20.0
_REMEMBERED_S = 300.0
"""So long the addresses of a name are taken for its own."""
_MOST_HEAD_BYTES = 16 * 1024
_FAILED_S = 2.0
"""So long nobody asks again for a name that could not be resolved: those who waited for that are told the same."""
_NO_SUCH_NAME = (socket.EAI_NONAME, socket.EAI_NODATA)
"""How a resolver refuses a name for good; that it cannot be asked just now has other codes."""
Resolve = Callable[[str, int], Sequence[str]]


class NotAllowed(Exception):
    """The host may not be asked; the text names it and says what would allow it."""


class NotReached(OSError):
    """The host may be asked and does not answer."""

    def __init__(self, text: str, *, is_final: bool = False) -> None:
        """Args:
        is_final: whether asking again soon will not help.
        """
        super().__init__(text)
        self.is_final = is_final


class Upstream(NamedTuple):
    """The proxy by which this machine reaches the world."""

    host: str
    port: int
    authorization: str = ""


class Way(NamedTuple):
    """How hosts are reached from here."""

    registries: Registries
    resolve: Resolve
    proxies: Mapping[str, str] = {}  # never changed
    """As of `proxies_of`."""

    def connected(self, name: str, port: int) -> socket.socket:
        """A connection to a host.

        Raises:
            NotAllowed: it, or every address of it, is no place for a setup.
            NotReached: nobody answers there.
        """
        host = self.registries.fitting(name, port)
        if host is None:
            raise NotAllowed(self.registries.refusal(name, port) or shown(name, port))
        plain = plain_name(name)
        if (proxy := self._upstream(plain, port)) is not None:
            # It resolves the name itself; what may be asked was decided by name and port.
            return _through(proxy, shown(plain, port))
        try:
            addresses = tuple(dict.fromkeys(self.resolve(plain, port)))
        except OSError as error:
            is_final = isinstance(error, socket.gaierror) and error.errno in _NO_SUCH_NAME
            text = f"{shown(name, port)} cannot be resolved: {error}"
            raise NotReached(text, is_final=is_final) from error
        problems = {each: address_problem(host, each) for each in addresses}
        allowed = [each for each, problem in problems.items() if problem is None]
        if not allowed:
            reasons = "; ".join(dict.fromkeys(filter(None, problems.values()))) or "it has no address"
            raise NotAllowed(f"{shown(name, port)}, which is not asked: {reasons}")
        return _first_connected(allowed, name, port)

    def _upstream(self, name: str, port: int) -> Upstream | None:
        scheme = "https" if port == HTTPS else "http"
        url = self.proxies.get(scheme) or self.proxies.get("all") or ""
        if not url or _is_beside(name, self.proxies.get("no", "")):
            return None
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, number = parts.hostname, parts.port or 8080
        except ValueError as error:
            raise NotReached(f"the proxy of this machine is no address: {error}") from error
        if parts.scheme != "http" or not host:
            raise NotReached(
                f"the proxy of this machine is one by {parts.scheme!r}; only one by `http` is known here"
            )
        credentials = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        authorization = f"Basic {b64encode(credentials.encode()).decode()}" if parts.username else ""
        return Upstream(host, number, authorization)


def proxies_of(settings: Mapping[str, str]) -> dict[str, str]:
    """The proxies that variables of an environment name: scheme -> URL, and `no` with what is reached without."""
    return {
        name.lower().removesuffix("_proxy"): value
        for name, value in sorted(settings.items())
        if name.lower() in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") and value
    }


def _is_beside(name: str, listed: str) -> bool:
    """Whether a host is reached without the proxy, as `no_proxy` lists them."""
    places = [each.strip().lower().lstrip("*").lstrip(".") for each in listed.split(",") if each.strip()]
    return any(not place or name == place or name.endswith(f".{place}") for place in places)


def resolved(name: str, port: int) -> Sequence[str]:
    """The addresses of a name, as this machine resolves them."""
    try:
        entries = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(str(error)) from error
    return [str(place[0]) for _, _, _, _, place in entries]


class Remembered:
    """A resolver that asks another one for each name once in a while, however many connections want it at the same time.

    Whoever installs packages connects a thousand times, and many a resolver answers only some who ask it all at once.
    """

    def __init__(
        self, resolve: Resolve, *, lasts_s: float = _REMEMBERED_S, failure_lasts_s: float = _FAILED_S
    ) -> None:
        self._resolve = resolve
        self._lasts_s = lasts_s
        self._failure_lasts_s = failure_lasts_s
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._answers: dict[str, tuple[float, Sequence[str] | OSError]] = {}

    def __call__(self, name: str, port: int) -> Sequence[str]:
        """The addresses of a name."""
        with self._lock:
            turn = self._turns.setdefault(name, threading.Lock())
        with turn:
            until_s, answer = self._answers.get(name, (0.0, ()))
            if time.monotonic() >= until_s:
                answer = self._answer(name, port)
                lasts_s = self._failure_lasts_s if isinstance(answer, OSError) else self._lasts_s
                self._answers[name] = (time.monotonic() + lasts_s, answer)
        if isinstance(answer, OSError):
            raise answer
        return answer

    def _answer(self, name: str, port: int) -> Sequence[str] | OSError:
        try:
            return self._resolve(name, port)
        except OSError as error:
            return error


def _first_connected(addresses: Sequence[str], name: str, port: int) -> socket.socket:
    problem: OSError | None = None
    for address in addresses:
        try:
            # The address and not the name: nothing is resolved a second time.
            return socket.create_connection((address, port), timeout=_CONNECT_S)
        except OSError as error:
            problem = error
    raise NotReached(f"{shown(name, port)} does not answer: {problem}")


def _through(proxy: Upstream, target: str) -> socket.socket:
    try:
        connection = socket.create_connection((proxy.host, proxy.port), timeout=_CONNECT_S)
    except OSError as error:
        raise NotReached(f"the proxy of this machine does not answer: {error}") from error
    try:
        header = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
        connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{header}\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n") and len(head) < _MOST_HEAD_BYTES:
            if not (more := connection.recv(1)):
                break
            head += more
    except OSError as error:
        connection.close()
        raise NotReached(f"the proxy of this machine breaks off: {error}") from error
    status = head.split(b"\r\n", 1)[0].split(b" ")
    if len(status) < 2 or status[1] != b"200":
        connection.close()
        first_line = head.split(b"\r\n", 1)[0].decode(errors="replace")[:100]
        raise NotReached(f"the proxy of this machine does not lead to {target}: {first_line!r}")
    return connection
