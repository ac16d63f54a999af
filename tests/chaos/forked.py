"""`cogworks` in processes forked from one that has imported it: as mortal as any other, without the price of a start."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from cogworks.cli import main

PRELOADED = (
    "cogworks.commands.process",
    "cogworks.wiring",
    "cogworks.github.rest",
    "cogworks.llm.cassette",
    "cogworks.domain_services.over_socket",
    "tests.chaos.witness",
    __name__,
)
_STARTS = multiprocessing.get_context("forkserver")
_STARTS.set_forkserver_preload(list(PRELOADED))


def _nothing() -> None:
    """Done before the command line is run, as a rule."""


class Forked:
    """A running `cogworks`, the leader of a session of its own; what it says goes to files."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        environment: Mapping[str, str],
        said: Path,
        first: Callable[[], None] = _nothing,
    ) -> None:
        """Args:
        words: the command line behind `cogworks`.
        said: the file for its standard output; `.err` is added for the complaints.
        first: what it does before; goes to it by name.
        """
        self._said = said
        self._process = _STARTS.Process(target=_run, args=(tuple(words), dict(environment), said, first))
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout_s: float) -> int:
        """Its exit code, at its end."""
        self._process.join(timeout_s)
        code = self._process.exitcode
        assert code is not None, f"it still runs after {timeout_s:g} s; {self.complaints()}"
        return code

    def kill(self) -> None:
        """SIGKILL to it and to nobody else."""
        self._process.kill()

    def cut_off(self) -> None:
        """SIGKILL to it and everything it started, as a power cut would: git and the like lead sessions of their own."""
        for pid in list(_stopped(self.pid)):
            # Some die with their parent.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def printed(self) -> str:
        return self._said.read_text()

    def complaints(self) -> str:
        path = _complaints(self._said)
        return path.read_text() if path.exists() else ""


def _stopped(pid: int) -> Iterator[int]:
    """A process and its descendants; each stands still before its children are looked for, so that none is missed."""
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, signal.SIGSTOP)
        yield pid
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _stopped(int(child))


def _complaints(said: Path) -> Path:
    return said.with_name(f"{said.name}.err")


def _run(words: Sequence[str], environment: Mapping[str, str], said: Path, first: Callable[[], None]) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    for target, stream in ((said, 1), (_complaints(said), 2)):
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, stream)
        os.close(opened)
    sys.argv = ["cogworks", *words]
    first()
    main(words)
