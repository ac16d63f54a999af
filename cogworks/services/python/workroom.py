"""Runs a tool in isolation in a room of its own, and hands back what it printed."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.confined import StoredFile, read_file, write_file
from cogworks.folders import copy_folder
from cogworks.removal import temporary_folder
from cogworks.services.laid_out import left_out
from cogworks.services.python.machine import Machine
from cogworks.services.python.pythons import own
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.running import Confined, Ended, run

TOOL_LIMIT_S = 120.0
_LIMITS = Limits(file_bytes=64 * 1024**2)
# The end of what a tool prints is all that the isolation keeps; its output is longer.
_SCRIPT = 'exec "$@" > "$COGWORKS_OUTPUT"'
_OUTPUT = "stdout"
_MAX_COMPLAINT_CHARS = 1_000
_MODE = 0o644


class ToolCall(NamedTuple):
    """One tool and what it needs."""

    command: Sequence[str]
    readable: Sequence[Path] = ()
    """What it may read besides this interpreter, its packages and the room."""
    timeout_s: float = TOOL_LIMIT_S
    environment: Mapping[str, str] = {}  # never changed


class ToolResult(NamedTuple):
    """What a tool said."""

    code: int | None
    """None: it was ended before its time."""
    output: bytes
    """Its standard output."""
    complaint: str
    """Why it was ended, or else the last of its standard error."""


class Workroom:
    """A few directories in which tools run one after another; nothing of it is left afterwards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        """Where tools start and may write."""
        self._home = folder / "home"
        self._output = folder / "output"
        self._outside = folder / "outside"
        for place in (self.folder, self._home, self._output, self._outside):
            place.mkdir()

    def put(self, path: str, data: bytes) -> None:
        """Lay a file out for the tools."""
        write_file(self.folder, path, StoredFile(data, _MODE))

    def put_all_of(self, repository: Path) -> None:
        """Lay out a whole repository, without its history; links are laid out as links."""
        copy_folder(repository, self.folder, left_out=left_out(), may_exist=True)

    def read(self, path: str) -> bytes | None:
        """A file as the tools left it."""
        file = read_file(self.folder, path)
        return None if file is None else file.data

    def run(self, call: ToolCall, machine: Machine) -> ToolResult:
        """Run one tool to its end or to that of its time.

        Raises:
            NotStarted: the isolation could not be built.
        """
        scratch = Path(tempfile.mkdtemp(dir=self._outside))
        confined = Confined(
            command=["/bin/sh", "-c", _SCRIPT, "sh", *call.command],
            directory=self.folder,
            environment=self._environment(call, machine),
            readable=(*own().readable, *call.readable),
            writable=(self.folder, self._home, self._output),
            timeout_s=call.timeout_s,
            limits=_LIMITS,
        )
        ended = run(confined, machine.isolation, scratch=scratch)
        output = read_file(self._output, _OUTPUT)
        return ToolResult(ended.code, b"" if output is None else output.data, self._complaint(ended, call))

    def _complaint(self, ended: Ended, call: ToolCall) -> str:
        """In one line, and without the names of directories that differ from run to run."""
        if ended.timed_out:
            return f"it did not finish in {call.timeout_s:g} s"
        text = "; ".join(ended.blocked) or ended.output
        for place in (self.folder, *call.readable):
            text = text.replace(f"{place}/", "")
        return " ".join(text.split())[:_MAX_COMPLAINT_CHARS]

    def _environment(self, call: ToolCall, machine: Machine) -> dict[str, str]:
        return {
            "PATH": machine.search_path,
            "HOME": str(self._home),
            "TMPDIR": str(self._home),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "COGWORKS_OUTPUT": str(self._output / _OUTPUT),
            **call.environment,
        }


@contextmanager
def workroom() -> Iterator[Workroom]:
    """A room for the length of a `with` block."""
    with temporary_folder("cogworks-tool-") as folder:
        yield Workroom(folder)
