"""What went wrong with a domain service."""

from cogworks.domain_services.messages import ErrorCode
from cogworks.errors import CogworksError


class ServiceFailed(CogworksError):
    """A domain service could not be used; asking it the same again will not help."""

    def __init__(self, message: str, *, service: str, method: str, code: ErrorCode | None = None) -> None:
        self.service = service
        self.method = method
        self.code = code
        """None: the service broke the protocol or did not live."""
        super().__init__(message)


class ServiceGone(Exception):
    """The connection to a service ended before its answer was complete, or what came is no answer."""


class ServiceSlow(Exception):
    """A service did not answer within its time."""


class ServiceRefused(Exception):
    """The way to a service is closed to us: it wants another token or another kind of connection."""
