"""A stretch of the program in which it can neither reach the network nor start a process, whatever it tries."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_FORBIDDEN = frozenset(
    {
        "socket.__new__", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
        "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn",
    }
)  # fmt: skip
"""Events of the interpreter that tell of it before it happens."""
_state = {"is_sealed": False, "is_installed": False}


class Sealed(RuntimeError):
    """Something tried to leave the process where nothing may."""


@contextmanager
def sealed() -> Iterator[None]:
    """Inside the block a socket or a process is refused before it exists."""
    if not _state["is_installed"]:
        # A hook of the interpreter can never be taken away again; outside the block this one looks at nothing.
        sys.addaudithook(_refuse)
        _state["is_installed"] = True
    _state["is_sealed"] = True
    try:
        yield
    finally:
        _state["is_sealed"] = False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    del arguments
    if _state["is_sealed"] and event in _FORBIDDEN:
        raise Sealed(f"a replay tried to leave the process: {event}")
