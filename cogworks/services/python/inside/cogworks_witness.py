"""Notes which files and addresses beyond the isolation the tests try to reach; imports nothing of cogworks, and nothing of pytest.

The isolation holds without it. It only says what was refused, as far as this interpreter sees it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_MOST = 20
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_OWN = ("/tmp", "/dev", "/proc")  # noqa: S108  # the isolation give each run its own
_OF_OTHERS = re.compile(r"/proc/(\d+)/(?:environ|mem|maps|cmdline|fd|root|cwd)\b")
_CHANGES = ("chmod", "chown", "link", "mkdir", "remove", "rename", "rmdir", "symlink", "truncate", "utime")
_TARGET_SECOND = ("os.link", "os.symlink")
_LISTENING = "0A"


class Witness:
    """Looks at every attempt before it is made; never hinders one."""

    def __init__(self, reporter: Any, readable: list[str], writable: list[str]) -> None:
        self._reporter = reporter
        self._writable = (*writable, *_OWN)
        self._readable = (*readable, *self._writable)
        self._seen: set[str] = set()
        self._process = os.getpid()
        self._is_busy = False
        self._events: dict[str, Callable[[str, tuple[Any, ...]], str | None]] = {
            "open": self._opened,
            "os.listdir": self._listed,
            "os.scandir": self._listed,
            "os.kill": _signalled,
            "socket.connect": _connected,
            "socket.sendto": _connected,
            "socket.getaddrinfo": _looked_up,
            **{f"os.{name}": self._changed for name in _CHANGES},
        }

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        look = self._events.get(event)
        if look is None or self._is_busy or os.getpid() != self._process or len(self._seen) >= _MOST:
            return
        self._is_busy = True
        try:
            attempt = look(event, arguments)
            if attempt is not None and attempt not in self._seen:
                self._seen.add(attempt)
                self._reporter.write(kind="attempt", id=self._reporter.test, text=attempt)
        except Exception:  # tests replace what this calls, e.g. by something that refuses to block
            # An attempt that cannot even be understood is left to the code that made it.
            return
        finally:
            self._is_busy = False

    def _opened(self, _: str, arguments: tuple[Any, ...]) -> str | None:
        path, _mode, flags = arguments
        if isinstance(path, int):
            return None
        if isinstance(flags, int) and flags & _WRITES:
            return self._outside("write", path, self._writable)
        return self._outside("read", path, self._readable)

    def _listed(self, _: str, arguments: tuple[Any, ...]) -> str | None:
        path = arguments[0]
        # The interpreter lists what it imports from.
        if path is None or isinstance(path, int) or path in sys.path:
            return None
        return self._outside("read", path, self._readable)

    def _changed(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        path = arguments[1 if event in _TARGET_SECOND else 0]
        return None if isinstance(path, int) else self._outside("change", path, self._writable)

    def _outside(self, what: str, path: Any, allowed: tuple[str, ...]) -> str | None:
        place = os.path.realpath(os.fsdecode(path))
        other = _OF_OTHERS.match(place)
        if other is not None and int(other[1]) != self._process:
            return f"{what} {place}"
        if what == "read" and place == "/":
            return None
        if any(place == root or place.startswith(root.rstrip("/") + "/") for root in allowed):
            return None
        return f"{what} {place}"


def _signalled(_: str, arguments: tuple[Any, ...]) -> str | None:
    return "send a signal to process 1" if arguments[0] == 1 else None


def _connected(_: str, arguments: tuple[Any, ...]) -> str | None:
    address = arguments[1]
    if isinstance(address, tuple):
        host, port = str(address[0]), int(address[1])
        if host in ("localhost", "::1", "") or host.startswith("127."):
            return None if _listens(port) else f"connect to {host}:{port}, where nobody listens inside"
        return f"connect to {host}:{port}"
    name = os.fsdecode(address)
    if not name.startswith("\0"):
        return None
    shown = f"@{name[1:]}"
    try:
        table = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        # Only Linux has such sockets.
        table = ""
    return (
        None
        if any(line.endswith(f" {shown}") for line in table.splitlines())
        else f"connect to the abstract socket {shown}"
    )


def _looked_up(_: str, arguments: tuple[Any, ...]) -> str | None:
    host = arguments[0]
    name = host.decode() if isinstance(host, bytes) else host
    is_own = not name or name == "localhost" or re.fullmatch(r"[\d.]+|.*:.*", name)
    return None if is_own else f"look up the address of {name}"


def _listens(port: int) -> bool:
    """Whether a socket of this network listens there, or an unconnected datagram socket waits; where that is unknown: yes."""
    if not Path("/proc/net").exists():
        return True
    for table in ("tcp", "tcp6", "udp", "udp6"):
        try:
            lines = Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        rows = [line.split() for line in lines[1:]]
        if any(row[1].endswith(f":{port:04X}") and (row[3] == _LISTENING or table[0] == "u") for row in rows):
            return True
    return False
