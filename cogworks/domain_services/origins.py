"""Where the files of a working copy come from, as far as it knows."""

from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class HasBase(Protocol):
    """A working copy that knows which commit its change started from."""

    def base(self) -> str | None: ...


@runtime_checkable
class HasRemote(Protocol):
    """What it needs besides where the service is on another machine."""

    @property
    def remote_url(self) -> str:
        """Where the repository can be cloned, without credentials."""

    def pushed(self) -> str | None:
        """The commit whose files these are, if the remote has it; None: something is not pushed."""


class HasPath(Protocol):
    """What this module needs of a working copy."""

    @property
    def path(self) -> Path: ...
