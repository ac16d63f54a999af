"""How signals reach cogworks: a handler raises or writes one byte, and never takes a lock that the code it broke into may hold.

How the one who stopped a process waits for its end.
"""

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDINGS = (signal.SIGTERM, signal.SIGINT)
_ROOM = 4096

Handler = Callable[[int, FrameType | None], None]


class Stop:
    """How often this process was asked to stop: a pipe into which a handler writes, so that whoever waits wakes up.

    Not `threading.Event`: a handler that calls `set` waits for ever when it broke into `wait`, which holds the same lock.
    """

    def __init__(self) -> None:
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)
        self._heard = 0

    @property
    def times(self) -> int:
        """Signals so far; for one thread only, and not for a handler."""
        with suppress(BlockingIOError):
            while noted := os.read(self._reads, _ROOM):
                self._heard += len(noted)
        return self._heard

    def wait(self, seconds: float) -> bool:
        """Whether a stop was asked for; waits for it, but no longer than that."""
        if not self.times:
            waiting = select.poll()
            waiting.register(self._reads, select.POLLIN)
            waiting.poll(seconds * 1000)
        return self.times > 0

    def fileno(self) -> int:
        """Readable once there is a signal that `times` has not counted yet."""
        return self._reads

    def note(self, _number: int, _frame: FrameType | None) -> None:
        """The handler."""
        try:
            os.write(self._writes, b"!")
        except BlockingIOError:
            # So many are noted already that one more says nothing new.
            return

    def close(self) -> None:
        os.close(self._reads)
        os.close(self._writes)


@contextmanager
def noted_signals() -> Iterator[Stop]:
    """Until the block ends, SIGTERM and Ctrl-C only count; the block looks at what it is handed, and decides."""
    stop = Stop()
    try:
        with _handled(dict.fromkeys(ENDINGS, stop.note)):
            yield stop
    finally:
        stop.close()


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, by KeyboardInterrupt: leases are given back, processes are stopped."""
    with _handled({signal.SIGTERM: signal.default_int_handler}):
        yield


@contextmanager
def left_by_signal() -> Iterator[None]:
    """SIGTERM is the ordinary end of this process: it passes through every `finally`, and the exit code is 0."""
    with _handled({signal.SIGTERM: _leave}):
        yield


def ends_within(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether a child is gone, or goes within that time; noticed at once where the system does that.

    `Popen.wait` looks again and again, with pauses that become as long as the end took so far.
    """
    if process.poll() is None and hasattr(os, "pidfd_open"):
        if not _is_gone(process.pid, seconds):
            return False
        # Another thread may take its code at this moment, for which `wait` without any time would not wait.
        process.wait()
        return True
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    return False


def _is_gone(pid: int, within_s: float) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        return bool(waiting.poll(within_s * 1000))
    finally:
        os.close(descriptor)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


@contextmanager
def _handled(handlers: dict[signal.Signals, Handler]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
