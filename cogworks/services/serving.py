"""Serves one domain service on a Unix socket, one request after another."""

import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cogworks.domain_services.messages import MAX_MESSAGE_BYTES, Response, frame


def serve(path: Path, answer: Callable[[bytes], Response]) -> None:
    """Answer requests until the process is ended; only this user may connect.

    Raises:
        OSError: the socket cannot be made there.
    """
    before = os.umask(0o177)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
    finally:
        os.umask(before)
    with listener:
        listener.listen()
        while True:
            connection, _ = listener.accept()
            # A caller that left is no reason to end.
            with connection, suppress(BrokenPipeError, ConnectionResetError):
                _converse(connection, answer)


def end_with_standard_input() -> None:
    """End this process as soon as whoever started it closes our standard input, or dies."""

    def watch() -> None:
        with suppress(OSError):
            while os.read(sys.stdin.fileno(), 4096):
                pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _converse(connection: socket.socket, answer: Callable[[bytes], Response]) -> None:
    with connection.makefile("rb") as requests:
        while line := requests.readline(MAX_MESSAGE_BYTES + 1):
            if not line.endswith(b"\n"):
                return
            connection.sendall(frame(answer(line)))
