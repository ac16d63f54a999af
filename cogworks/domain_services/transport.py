"""How one request reaches a service and its answer comes back.

What went wrong with a domain service.
"""

from typing import TYPE_CHECKING, Protocol

from cogworks.errors import CogworksError

if TYPE_CHECKING:
    # A process can be started before what is said to it is loaded.
    from cogworks.domain_services.messages import ErrorCode

MAX_MESSAGE_BYTES = 16 * 1024 * 1024


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


class ServiceFailed(CogworksError):
    """A domain service could not be used; asking it the same again will not help."""

    def __init__(
        self, problem: str, *, service: str, method: str, code: "ErrorCode | None" = None, origin: str = ""
    ) -> None:
        self.problem = problem
        """What is wrong and what to do, for people."""
        self.origin = origin
        """Who refused what by which code, for logs; empty: the problem says it."""
        self.service = service
        self.method = method
        self.code = code
        """None: the service broke the protocol or did not live."""
        # What a person has to know comes first.
        between = "\n" if "\n" in problem else " "
        super().__init__(f"{problem}{between}({origin})" if origin else problem)


class ServiceGone(Exception):
    """The connection to a service ended before its answer was complete, or what came is no answer."""


class ServiceSlow(Exception):
    """A service did not answer within its time."""


class ServiceRefused(Exception):
    """The way to a service is closed to us: it wants another token or another kind of connection."""
