"""What services need of a working copy: its folder, and where its files come from as far as it knows."""

from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class HasBase(Protocol):
    """A working copy that knows which commit its change started from."""

    def base(self) -> str | None: ...


@runtime_checkable
class HasRemote(Protocol):
    """What a working copy also says where the service is on another machine."""

    @property
    def remote_url(self) -> str:
        """Where the repository can be cloned, without credentials."""

    def pushed(self) -> str | None:
        """The commit whose files these are, if the remote has it; None: something is not pushed."""


class HasPath(Protocol):
    """A working copy, as far as a service on the same machine needs it."""

    @property
    def path(self) -> Path: ...
