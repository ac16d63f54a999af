"""Runs one script or tool: in a process group of its own, without secrets, within its time."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from cogworks.errors import CogworksError
from cogworks.vocabulary import Value

MAX_OUTPUT_BYTES = 1_000_000
"""Of standard output and of standard error; what is written beyond it is dropped."""


class ScriptRun(Value):
    """What became of one script."""

    exit_code: int | None
    """None: it was killed at its time limit, with everything it had started."""
    stdout: str
    stderr: str


def run_script(
    command: Sequence[str],
    *,
    stdin: str,
    environment: Mapping[str, str],
    limit_s: float | None,
    folder: Path | None = None,
) -> ScriptRun:
    """Run a command with an empty home directory of its own, which ends with it.

    Args:
        environment: of this process; only PATH is passed on.
        limit_s: None waits as long as it takes.
        folder: where it runs; None: in its home.

    Raises:
        CogworksError: it cannot be started.
    """
    # Files, not pipes: what a script leaves running in the background must not keep us waiting for its output.
    with (
        tempfile.TemporaryDirectory(prefix="cogworks-script-") as home,
        tempfile.TemporaryFile() as input_file,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        input_file.write(stdin.encode())
        input_file.seek(0)
        scrubbed = {"HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        if "PATH" in environment:
            scrubbed["PATH"] = environment["PATH"]
        try:
            process = subprocess.Popen(
                command,
                cwd=folder or Path(home),
                env=scrubbed,
                stdin=input_file,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise CogworksError(f"script {command[-1]} cannot be started: {error}") from error
        code = _ended(process, limit_s)
        return ScriptRun(exit_code=code, stdout=_text(out), stderr=_text(err))


def _ended(process: subprocess.Popen[bytes], limit_s: float | None) -> int | None:
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # Also after a good end: what it started must not outlive it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT_BYTES).decode(errors="replace")
