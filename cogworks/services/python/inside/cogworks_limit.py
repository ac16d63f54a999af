"""A time limit for a stretch of code, whatever it does; imports nothing of cogworks, and nothing of pytest.

Timers of its own and signals that hardly anybody uses: SIGALRM belongs to the tests, and a thread would be seen by them.
"""

from __future__ import annotations

import ctypes
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

IS_THERE = sys.platform == "linux"
"""Elsewhere there are no such timers; the time limit of the whole run holds there."""
_NUMBER = signal.SIGRTMIN + 11 if IS_THERE else 0
_LAST_NUMBER = signal.SIGRTMIN + 12 if IS_THERE else 0
"""Nobody handles it, so it ends the process: that of a test in C code, which sees no Python signal, or one that goes on."""
_LONGEST_GRACE_S = 10.0
_MONOTONIC = 1


@contextmanager
def limited(limit_s: float, failure: BaseException) -> Iterator[None]:
    """Raises the failure where the block is after so many seconds."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise failure

    before = signal.signal(_NUMBER, end)
    try:
        # What a fixture has to tear down gets as long again, but not longer than this.
        with _timer(_NUMBER, limit_s), _timer(_LAST_NUMBER, limit_s + min(limit_s, _LONGEST_GRACE_S)):
            yield
    finally:
        signal.signal(_NUMBER, before)


@contextmanager
def _timer(number: int, seconds: float) -> Iterator[None]:
    """The signal reaches this process after so many seconds, unless the block is over by then."""
    library, timer = _started(number, seconds)
    try:
        yield
    finally:
        library.timer_delete(timer)


def exit_within(limit_s: float) -> None:
    """Ends this process where a thread that a test left behind keeps it from ending by itself."""
    if limit_s and IS_THERE:
        _started(_LAST_NUMBER, min(limit_s, _LONGEST_GRACE_S))


def _started(number: int, seconds: float) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    library = ctypes.CDLL(None)
    timer = ctypes.c_void_p()
    # struct sigevent: value, signal, SIGEV_SIGNAL, and room for what this kind does not use.
    event = ctypes.create_string_buffer(struct.pack("Pii48x", 0, number, 0))
    library.timer_create(_MONOTONIC, event, ctypes.byref(timer))
    whole, rest = divmod(seconds, 1)
    spec = ctypes.create_string_buffer(struct.pack("llll", 0, 0, int(whole), int(rest * 1e9)))
    library.timer_settime(timer, 0, spec, None)
    return library, timer
