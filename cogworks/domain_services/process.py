"""One domain service as a process of ours: started on a private socket, asked line by line, ended with all its children."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from cogworks.domain_services.over_socket import exchange_line
from cogworks.domain_services.transport import ServiceGone, ServiceSlow
from cogworks.removal import remove_tree
from cogworks.stopping import ends_within

_POLL_S = 0.005
_FAREWELL_S = 3.0
_TAIL_BYTES = 2000
_MAX_SOCKET_BYTES = 100
"""Of the path of a socket; macOS takes 104 with the end, Linux 108."""


def _private_folder() -> Path:
    """Below the temporary directories; where the path of a socket there would be too long, below `/tmp`."""
    name = "cogworks-service-"
    longest = Path(tempfile.gettempdir(), f"{name}12345678", "socket")
    fits = len(os.fsencode(longest)) <= _MAX_SOCKET_BYTES
    return Path(tempfile.mkdtemp(prefix=name, dir=None if fits else "/tmp"))  # noqa: S108  # private to this user all the same


class ServiceProcess:
    """A running service. Nothing of our environment reaches it but PATH and what it is given; its home is a directory that ends with it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        start_s: float,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start `<command> --socket <path>`; its standard input stays open for as long as cogworks lives.

        Args:
            start_s: how long it may take until it accepts a connection.
            variables: further variables for it.

        Raises:
            ServiceGone: it cannot be started.
        """
        self._start_s = start_s
        self._was_asked_to_end = False
        self._folder = _private_folder()
        self.socket_path = self._folder / "socket"
        self._log = self._folder / "log"
        scratch = self._folder / "tmp"
        scratch.mkdir()
        scrubbed = {
            **variables,
            "HOME": str(self._folder),
            "TMPDIR": str(scratch),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        if "PATH" in environment:
            scrubbed["PATH"] = environment["PATH"]
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [*command, "--socket", str(self.socket_path)],
                    cwd=self._folder,
                    env=scrubbed,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            remove_tree(self._folder, ignore_errors=True)
            raise ServiceGone(f"{' '.join(command)} cannot be started: {error}") from error

    def accepts_within(self, start_s: float) -> None:
        """How long it may take from the first exchange until it accepts a connection."""
        self._start_s = start_s

    @property
    def pid(self) -> int:
        """The process, which leads a session of its own."""
        return self._process.pid

    def has_ended(self, *, within_s: float) -> bool:
        """Whether the process is gone, or goes within that time."""
        return ends_within(self._process, within_s)

    def exchange(self, _method: str, line: bytes, /, *, limit_s: float) -> bytes:
        """As the Protocol `Transport` says; a connection of its own for every exchange."""
        with self._connected() as connection:
            deadline = time.monotonic() + limit_s
            return exchange_line(
                connection, line, deadline=deadline, limit_s=limit_s, last_words=self._last_words
            )

    def end_politely(self, *, within_s: float = _FAREWELL_S) -> int | None:
        """Ask the service to end; its exit code, None when it did not in time."""
        self._was_asked_to_end = True
        with suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._signal(signal.SIGTERM)
        return self._process.returncode if ends_within(self._process, within_s) else None

    def close(self) -> None:
        """End the service and everything in its process group; its directory goes too."""
        if not self._was_asked_to_end:
            self.end_politely()
        # Also after a polite end: a child of the service may not have followed it.
        self._signal(signal.SIGKILL)
        self._process.wait()
        remove_tree(self._folder, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _connected(self) -> socket.socket:
        deadline = time.monotonic() + self._start_s
        while True:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(self.socket_path))
            except OSError as error:
                connection.close()
                if self._process.poll() is not None:
                    code = self._process.returncode
                    raise ServiceGone(f"the process ended with code {code}{self._last_words()}") from error
                if time.monotonic() > deadline:
                    raise ServiceSlow(f"no socket within {self._start_s:g} s{self._last_words()}") from error
                time.sleep(_POLL_S)
            else:
                return connection

    def _last_words(self) -> str:
        with suppress(OSError):
            text = _end(self._log.read_bytes()).decode(errors="replace").strip()
            return f"; it said last:\n{text}" if text else ""
        return ""


def _end(said: bytes) -> bytes:
    """The end of what was said, from the beginning of a line on: half a word says nothing."""
    if len(said) <= _TAIL_BYTES:
        return said
    tail = said[-_TAIL_BYTES:]
    return tail.partition(b"\n")[2] or tail
