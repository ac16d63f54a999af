"""Lets a command in isolation ask servers of ours: it opens the listening sockets, we answer what comes in there."""

import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

OPENER = Path(__file__).with_name("inside") / "cogworks_door.py"
"""Runs in isolation."""
_MOST_CALLERS = 256
"""At the same time; others are hung up on."""
_NOTICED_S = 0.02
"""So soon the end of a command ends its servers: a process that waits for it waits for that too."""
Handler = Callable[..., BaseHTTPRequestHandler]
"""Called with request, client address and server, as of `ThreadingHTTPServer`."""


class Door:
    """Where listening sockets come in, and are served for the length of a `with` block: any number, one after another."""

    def __init__(self, name: str, handler: Handler) -> None:
        """Args:
        name: stands for the address of the server in words and variables of the command: `http://NAME.invalid`.
        """
        self.name = name
        self._handler = handler
        self._ours, self.theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """What stands for the address of the server, in words and in the environment of the command."""
        return f"http://{self.name}.invalid"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Wakes the thread that waits for a socket.
        self._ours.shutdown(socket.SHUT_RDWR)
        self.theirs.close()
        self._thread.join()
        self._ours.close()

    def _serve(self) -> None:
        with ExitStack() as stack, suppress(OSError):
            while True:
                _, descriptors, _, _ = socket.recv_fds(self._ours, 1, 1)
                if not descriptors:
                    return
                server = stack.enter_context(_Server(socket.socket(fileno=descriptors[0]), self._handler))
                threading.Thread(target=server.serve_forever, args=(_NOTICED_S,), daemon=True).start()
                stack.callback(server.shutdown)


def through(doors: Sequence[Door], command: Sequence[str]) -> list[str]:
    """The command that opens doors from inside and then becomes another one."""
    named = [f"{door.theirs.fileno()}={door.address}" for door in doors]
    return [sys.executable, "-I", os.fspath(OPENER), *named, "--", *command]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, handler: Handler) -> None:
        super().__init__(("127.0.0.1", 0), handler, bind_and_activate=False)
        self.socket.close()
        # It listens in the command's network, where this process has no address.
        self.socket = listener
        self._room = threading.BoundedSemaphore(_MOST_CALLERS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, of which a command can have only so many."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One caller, and then there is room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: object, client_address: Any) -> None:
        """A command that hangs up has its reasons."""
