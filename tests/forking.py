"""`cogworks` in processes that begin as copies of one that has imported it, at a fiftieth of the price of a start.

Such a process has a pid, an environment and streams of its own, ends with an exit code or by a signal, and shares nothing
with its siblings. What is about the start itself, or about an option of Python, starts `python -m cogworks` instead.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from multiprocessing.reduction import DupFd
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from cogworks.cli.main import main
from tests.limits import ENDS_WITHIN_S

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.preloaded"])


def nothing() -> None:
    """Done before the command, as a rule."""


class Cogworks:
    """`cogworks <arguments>`, running; to be used like the `subprocess.Popen` of text that it stands for.

    Its standard input is empty.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        start_new_session: bool = False,
        first: Callable[[], None] = nothing,
    ) -> None:
        """Args:
        first: what it does before the command; goes to it by name.
        """
        self.args = ("cogworks", *arguments)
        with ExitStack() as theirs:
            nothing = theirs.enter_context(Path(os.devnull).open())
            self.stdout, out = _stream(stdout, 1, theirs)
            self.stderr, err = _stream(stderr, 2, theirs)
            self._process = _FORKS.Process(
                target=_become,
                args=(
                    tuple(arguments),
                    dict(os.environ if env is None else env),
                    _Passed(nothing.fileno(), out, err),
                    start_new_session,
                    first,
                ),
                # Nobody waits for one that a failed test left behind.
                daemon=True,
            )
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float = ENDS_WITHIN_S) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def communicate(self, timeout: float = ENDS_WITHIN_S) -> tuple[str, str]:
        """What is left to read of its pipes, once it has ended; they are closed then."""
        readers = [_Reader(each) for each in (self.stdout, self.stderr)]
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait(timeout=ENDS_WITHIN_S)
            raise
        out, err = (reader.text() for reader in readers)
        self._close()
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self.wait(timeout=ENDS_WITHIN_S)

    def _close(self) -> None:
        for each in (self.stdout, self.stderr):
            if each is not None:
                each.close()


def cogworks(
    *arguments: str, env: Mapping[str, str] | None = None, timeout: float = ENDS_WITHIN_S
) -> subprocess.CompletedProcess[str]:
    """`cogworks <arguments>` until it ends, with what it printed."""
    with Cogworks(arguments, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        out, err = running.communicate(timeout)
        assert running.returncode is not None
        return subprocess.CompletedProcess(running.args, running.returncode, out, err)


class _Passed:
    """Open files on their way to a process; there, a tuple of their descriptors."""

    def __init__(self, *descriptors: int) -> None:
        self._descriptors = descriptors

    def __reduce__(self) -> tuple[Any, ...]:
        return _taken, tuple(DupFd(each) for each in self._descriptors)


def _taken(*handles: Any) -> tuple[int, ...]:
    return tuple(handle.detach() for handle in handles)


def _stream(wanted: int | IO[Any] | None, number: int, theirs: ExitStack) -> tuple[IO[str] | None, int]:
    """Our end of a pipe, if one is wanted, and the descriptor that the process gets."""
    if wanted is None:
        return None, number
    if wanted == subprocess.DEVNULL:
        return None, theirs.enter_context(Path(os.devnull).open("w")).fileno()
    if wanted != subprocess.PIPE:
        return None, wanted if isinstance(wanted, int) else wanted.fileno()
    ours, end = os.pipe()
    theirs.callback(os.close, end)
    return os.fdopen(ours, encoding="utf-8"), end


class _Reader(threading.Thread):
    """Reads a pipe to its end, so that nobody who writes to it has to wait."""

    def __init__(self, pipe: IO[str] | None) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._text = ""
        self.start()

    def run(self) -> None:
        if self._pipe is not None and not self._pipe.closed:
            self._text = self._pipe.read()

    def text(self) -> str:
        self.join(timeout=ENDS_WITHIN_S)
        return self._text


def _become(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Any,
    leads_session: bool,
    first: Callable[[], None],
) -> None:
    """What a process does that begins here: what its interpreter would have done, then the command."""
    if leads_session:
        os.setsid()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", closefd=False, buffering=buffering)
        for number, mode, buffering in ((0, "r", -1), (1, "w", -1), (2, "w", 1))
    )
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = ["cogworks", *arguments]
    first()
    main(arguments)
