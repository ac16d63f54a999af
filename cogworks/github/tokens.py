"""Where the GitHub adapters get their credential from, without ever showing it."""

from typing import Protocol


class TokenSource(Protocol):
    """Gives the token of the moment; an installation token changes every hour."""

    def token(self) -> str: ...
    def renewed(self) -> str | None:
        """A different token after GitHub refused the last one; None when there is no other."""


class FixedToken:
    """A token that stays what it is: a person's, or the one of a job."""

    def __init__(self, value: str) -> None:
        self._value = value

    def token(self) -> str:
        return self._value

    def renewed(self) -> str | None:
        return None

    def __repr__(self) -> str:
        return "FixedToken(***)"
