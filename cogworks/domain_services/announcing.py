"""A service whose answers take long says so to the people who wait."""

from collections.abc import Callable
from typing import NamedTuple

from cogworks.domain_services.transport import Transport
from cogworks.telling import During, in_silence

_WORDS = {
    "handshake": "greeting a service",
    "simulate": "running tests",
    "coverage": "running tests to see what they execute",
    "beside": "running tests beside those of the base",
    "trace": "following a test",
    "prepare": "making the environment",
}


class Waiting(NamedTuple):
    """How long answers may be waited for, and who hears of it."""

    left_s: Callable[[], float | None] = lambda: None
    """What is left of the caller's time; None: no limit."""
    during: During = in_silence
    """Announces each answer to people while it is waited for."""


class AnnouncingTransport:
    """Exchanges as another transport, and announces each exchange while its answer is waited for."""

    def __init__(self, transport: Transport, during: During) -> None:
        self._transport = transport
        self._during = during

    def exchange(self, method: str, line: bytes, /, *, limit_s: float) -> bytes:
        """As the other transport."""
        with self._during(_WORDS.get(method, f"asking a service for `{method}`"), limit_s):
            return self._transport.exchange(method, line, limit_s=limit_s)

    def close(self) -> None:
        """As the other transport."""
        self._transport.close()
