"""How whatever takes long is announced to the people who wait for it; `cli/progress` shows it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class During(Protocol):
    """Tells people for the length of a block what is done, and for how many seconds at most."""

    def __call__(
        self, what: str, limit_s: float, so_far: Callable[[], str] = ..., /
    ) -> AbstractContextManager[None]:
        """Args:
        so_far: how far it has come, asked whenever progress is shown; empty: nobody knows.
        """


def unknown() -> str:
    """Nobody knows how far it has come."""
    return ""


def in_silence(
    what: str, limit_s: float, so_far: Callable[[], str] = unknown
) -> AbstractContextManager[None]:
    """Tells nobody."""
    del what, limit_s, so_far
    return nullcontext()
