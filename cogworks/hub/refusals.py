"""How the hub says no: one class per answer of GitHub, with its REST status and its GraphQL error type."""

from collections.abc import Sequence
from typing import ClassVar

from cogworks.errors import CogworksError


class Refusal(CogworksError):
    """A request the hub will not carry out; nothing was changed."""

    status: ClassVar[int] = 400
    """Of the REST answer."""
    graphql_type: ClassVar[str] = "UNPROCESSABLE"

    @property
    def message(self) -> str:
        return str(self)


class BadRequest(Refusal):
    status = 400


class Unauthenticated(Refusal):
    status = 401
    graphql_type = "FORBIDDEN"

    def __init__(self, message: str = "Requires authentication") -> None:
        super().__init__(message)


class Forbidden(Refusal):
    status = 403
    graphql_type = "FORBIDDEN"


class RateLimited(Refusal):
    status = 403
    graphql_type = "RATE_LIMITED"


class NotFound(Refusal):
    status = 404
    graphql_type = "NOT_FOUND"

    def __init__(self, message: str = "Not Found") -> None:
        super().__init__(message)


class NotMergeable(Refusal):
    status = 405


class Conflict(Refusal):
    """The precondition no longer holds: a moved head, a stale blob."""

    status = 409


class StaleData(Conflict):
    graphql_type = "STALE_DATA"


class Gone(Refusal):
    status = 410
    graphql_type = "NOT_FOUND"


class NotImplementedHere(Refusal):
    """GitHub can do it and the hub cannot; silence would look like "there is none"."""

    status = 501
    graphql_type = "NOT_IMPLEMENTED"


class Unprocessable(Refusal):
    """The request is understood and wrong; `errors` is REST's list of `{resource, field, code, message}`."""

    status = 422

    def __init__(self, message: str, errors: Sequence[dict[str, str]] = ()) -> None:
        self.errors = tuple(errors)
        super().__init__(message)

    @property
    def detail(self) -> str:
        """The messages of `errors`, which say more than "Validation Failed" where there are any."""
        return "; ".join(error["message"] for error in self.errors if "message" in error) or str(self)


def invalid(resource: str, field: str, code: str = "invalid", message: str | None = None) -> Unprocessable:
    """GitHub's "Validation Failed" about one field of one resource."""
    error = {"resource": resource, "field": field, "code": code}
    if message is not None:
        error["message"] = message
    return Unprocessable("Validation Failed", [error])
