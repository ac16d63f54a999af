"""One `cogworks process` in a process of its own: whatever happens in it, the caller goes on."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class ChildSteps:
    """Runs steps one after another; `interrupt` may be called from a signal handler."""

    def __init__(self, environment: Mapping[str, str], on_line: Callable[[str], None]) -> None:
        self._environment = environment
        self._on_line = on_line
        self._running: subprocess.Popen[str] | None = None

    def run(self, issue_url: str, options: Sequence[str] = ()) -> dict[str, Any]:
        """The object that `process --json` printed, with `exit_code`; its progress lines go to `on_line`.

        A step that printed none, because it was killed or is defective, is a failed one.
        """
        # -P: a module of the directory where this works must not be taken for one of ours, beside a token and a key.
        command = [sys.executable, "-P", "-m", "cogworks", "process", issue_url, "--json", *options]
        # In a session of its own, so that Ctrl-C in the terminal does not reach it before it is told to stop.
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(self._environment),
            start_new_session=True,
        ) as running:
            self._running = running
            lines = threading.Thread(target=self._follow, args=(running,), daemon=True)
            lines.start()
            printed = running.stdout.read() if running.stdout else ""
            running.wait()
            lines.join()
            self._running = None
        return _told(printed, running.returncode)

    def interrupt(self) -> None:
        """Tell the running step to stop now; it gives its lease back."""
        if self._running is not None:
            self._running.send_signal(signal.SIGINT)

    def _follow(self, running: subprocess.Popen[str]) -> None:
        for line in running.stderr or ():
            self._on_line(line.rstrip())


def _told(printed: str, code: int) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(printed)
    except json.JSONDecodeError:
        ending = f"was killed by signal {-code}" if code < 0 else f"ended with code {code} without a report"
        told = {"outcome": "failed", "message": f"the step {ending}; the item stays resumable"}
    return {**told, "exit_code": code if code >= 0 else 1}
