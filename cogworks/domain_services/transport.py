"""How one request reaches a service and its answer comes back."""

from typing import Protocol


class Transport(Protocol):
    """A way to one service.

    Each exchange is on its own: after one that failed, nothing of its answer can be taken for the answer to the next.
    """

    def exchange(self, method: str, line: bytes, /, *, limit_s: float) -> bytes:
        """The service's answer to one line, with its line feed unless the service broke off.

        Raises:
            ServiceGone: the connection ended, or what came is too long or more than one answer.
            ServiceSlow: no complete answer after `limit_s` seconds.
            ServiceRefused: the service does not take our token, or its certificate is not trusted.
        """

    def close(self) -> None:
        """Let go of the service; one we started ends with everything it started."""
