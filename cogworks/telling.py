"""How whatever takes long is told to the people who wait for it; `cli/progress` shows it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

During = Callable[[str, float], AbstractContextManager[None]]
"""Tells people for the length of a block what is done, and for how many seconds at most."""


def in_silence(what: str, limit_s: float) -> AbstractContextManager[None]:
    """Tells nobody."""
    del what, limit_s
    return nullcontext()
