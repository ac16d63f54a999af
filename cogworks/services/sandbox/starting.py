"""Starts launchers: one program is loaded for all of a process and forks each, so that no run waits for the start of Python."""

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import cogworks
from cogworks.services.sandbox.inside.order import Order
from cogworks.stopping import ends_within

PACKAGE = Path(cogworks.__file__).parent
PYTHON = str(Path(sys.executable).resolve())
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
"""Of every launcher."""
_FORKING = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from cogworks.services.sandbox.inside.forking import main; main()"
)
_LENGTH_BYTES = 8
_ENDING_S = 2.0


class Launcher(Protocol):
    """A launcher at work, as `subprocess.Popen` has it."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int: ...


class Pipes(NamedTuple):
    """Both ends of a pipe."""

    read: int
    write: int


class Forked:
    """A launcher that was forked; obeys `Launcher`."""

    def __init__(self, stdin: int, stdout: int, status: int) -> None:
        """Args:
        status: a pipe that carries the number of the process, and its exit code at its end.
        """
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb", buffering=0)
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb", buffering=0)
        self._status = os.fdopen(status, "rb", buffering=0)
        self._code: int | None = None
        self.pid = int(self._status.readline() or 0)

    @property
    def has_ended(self) -> bool:
        """Whether somebody waited for its end."""
        return self._code is not None

    def wait(self, timeout: float | None = None) -> int:
        """How it ended. Raises TimeoutExpired while it goes on."""
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("the launcher", timeout or 0)
            # Nothing arrives where the parent itself was killed.
            self._code = int(self._status.readline() or 1)
            self._status.close()
        return self._code

    def abandon(self) -> None:
        """Have it end its command."""
        if self.stdin is not None:
            self.stdin.close()

    def forget(self) -> None:
        """Close its pipes; for one that never began."""
        for file in (self.stdin, self.stdout, self._status):
            if file is not None:
                file.close()


class Launchers:
    """The parent of the launchers of this process, started when it is first needed."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._parent: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        self._owner = 0
        self._at_work: list[Forked] = []
        self._left: list[subprocess.Popen[bytes]] = []
        """Parents that nobody waits for: they end with another process, or with this one."""

    def start(self, order: Order, scaffold: Path, directory: Path) -> Launcher:
        """A launcher of this order, with the files that it names.

        Raises:
            OSError: it cannot be started.
        """
        with self._mutex:
            started = self._tried(order, scaffold, directory)
            if started is None:
                # Somebody ended the parent; another one is as good.
                self._end()
                started = self._tried(order, scaffold, directory)
            if started is None:
                raise OSError("what starts launchers cannot be started, or is ended again and again")
            self._at_work = [*(each for each in self._at_work if not each.has_ended), started]
            return started

    def close(self) -> None:
        """End the parent, and with it the launchers that are at work."""
        with self._mutex:
            for each in self._at_work:
                each.abandon()
            self._end()
            for parent in self._left:
                parent.poll()

    def _tried(self, order: Order, scaffold: Path, directory: Path) -> Forked | None:
        try:
            started = self._send(self._open(), order, scaffold, directory)
        except (BrokenPipeError, ConnectionResetError):
            return None
        except BaseException:
            # Half an order may have been sent.
            self._forget()
            raise
        if started.pid:
            return started
        started.forget()
        return None

    def _send(self, orders: socket.socket, order: Order, scaffold: Path, directory: Path) -> Forked:
        own = order.own_fds
        text = json.dumps(
            {
                "order": order.text(),
                "scaffold": str(scaffold),
                "directory": str(directory),
                "files": [0, 1, 2, *own],
            }
        ).encode()
        stdin, stdout, status = (Pipes(*os.pipe()) for _ in range(3))
        try:
            files = [status.write, stdin.read, stdout.write, stdout.write, *own]
            socket.send_fds(orders, [len(text).to_bytes(_LENGTH_BYTES, "big")], files)
            orders.sendall(text)
        except OSError:
            for each in (stdin.write, stdout.read, status.read):
                os.close(each)
            raise
        finally:
            for each in (stdin.read, stdout.write, status.write):
                os.close(each)
        return Forked(stdin.write, stdout.read, status.read)

    def _open(self) -> socket.socket:
        if self._orders is not None and self._owner == os.getpid():
            return self._orders
        # In a fork of ours the parent is still that of the other process.
        self._forget()
        ours, theirs = socket.socketpair()
        with theirs:
            self._parent = subprocess.Popen(
                [PYTHON, "-I", "-S", "-c", _FORKING, str(PACKAGE.parent)],
                cwd="/",
                env=ENVIRONMENT,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._orders, self._owner = ours, os.getpid()
        return ours

    def _forget(self) -> None:
        if self._orders is not None:
            self._orders.close()
        if self._parent is not None:
            self._left.append(self._parent)
        self._orders = self._parent = None

    def _end(self) -> None:
        parent = self._parent if self._owner == os.getpid() else None
        self._forget()
        if parent is not None:
            # It waits for what it forked.
            ends_within(parent, _ENDING_S)
            parent.kill()
            parent.wait()


LAUNCHERS = Launchers()
"""Of this process: all that run commands share them."""
atexit.register(LAUNCHERS.close)
