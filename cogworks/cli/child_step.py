"""One `cogworks process` in a process of its own: whatever happens in it, the caller goes on."""

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogworks.stopping import Stop

_PIECE_BYTES = 65_536


class ChildSteps:
    """Runs steps one after another, and hands on that this process was asked to stop."""

    def __init__(
        self,
        environment: Mapping[str, str],
        on_line: Callable[[str], None],
        stop: Stop,
        *,
        patience: int = 0,
    ) -> None:
        """Args:
        patience: how many signals let a running step finish; each one beyond interrupts it.
        """
        self._environment = environment
        self._on_line = on_line
        self._stop = stop
        self._patience = patience

    def run(self, issue_url: str, options: Sequence[str] = ()) -> dict[str, Any]:
        """The object that `process --json` printed, with `exit_code`; its progress lines go to `on_line`.

        A step that printed none, because it was killed or is defective, is a failed one.
        """
        # -P: a module of the directory where this works must not be taken for one of ours, beside a token and a key.
        command = [sys.executable, "-P", "-m", "cogworks", "process", issue_url, "--json", *options]
        # In a session of its own, so that Ctrl-C in the terminal does not reach it before we stop it.
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self._environment),
            start_new_session=True,
        ) as running:
            printed = self._followed(running)
        return _report_of(printed, running.returncode)

    def _followed(self, running: subprocess.Popen[bytes]) -> bytes:
        """What it printed on standard output, until it closed both."""
        printed, unfinished = b"", b""
        self._hand_on(running)
        with selectors.DefaultSelector() as readable:
            for source in (self._stop, running.stdout, running.stderr):
                if source is not None:
                    readable.register(source, selectors.EVENT_READ)
            while len(readable.get_map()) > 1:
                for key, _ in readable.select():
                    if key.fileobj is self._stop:
                        self._hand_on(running)
                    elif not (piece := os.read(key.fd, _PIECE_BYTES)):
                        readable.unregister(key.fileobj)
                    elif key.fileobj is running.stdout:
                        printed += piece
                    else:
                        unfinished = self._pass_on_lines(unfinished + piece)
        self._pass_on_lines(unfinished + b"\n" if unfinished else b"")
        return printed

    def _hand_on(self, running: subprocess.Popen[bytes]) -> None:
        """Tell the step to stop now if it is time for that; it gives its lease back."""
        if self._stop.times > self._patience:
            running.send_signal(signal.SIGINT)

    def _pass_on_lines(self, text: bytes) -> bytes:
        """Pass on the whole lines; what is left is the beginning of the next one."""
        *lines, rest = text.split(b"\n")
        for line in lines:
            self._on_line(line.decode(errors="replace").rstrip())
        return rest


def _report_of(printed: bytes, code: int) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(printed)
    except ValueError:
        ending = f"was killed by signal {-code}" if code < 0 else f"ended with code {code} without a report"
        report = {"outcome": "failed", "message": f"the step {ending}; the item stays resumable"}
    return {**report, "exit_code": code if code >= 0 else 1}
