"""A pytest plugin that ends a test at its time limit; imports nothing of cogworks.

A timer of its own and a signal that hardly anybody uses: SIGALRM belongs to the tests, and a thread would be seen by them.
"""

import ctypes
import signal
import struct
from collections.abc import Generator
from types import FrameType

import pytest

_NUMBER = signal.SIGRTMIN + 11
_MONOTONIC = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-test-timeout", metavar="SECONDS", type=float, help="how long one test may take"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    limit_s = item.config.getoption("--cogworks-test-timeout")
    if not limit_s:
        return (yield)
    library = ctypes.CDLL(None)
    timer = ctypes.c_void_p()

    def end(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"over the time limit of one test, {limit_s:g} seconds")

    before = signal.signal(_NUMBER, end)
    # struct sigevent: value, signal, SIGEV_SIGNAL, and room for what this kind does not use.
    event = ctypes.create_string_buffer(struct.pack("Pii48x", 0, _NUMBER, 0))
    library.timer_create(_MONOTONIC, event, ctypes.byref(timer))
    seconds, rest = divmod(limit_s, 1)
    spec = ctypes.create_string_buffer(struct.pack("llll", 0, 0, int(seconds), int(rest * 1e9)))
    library.timer_settime(timer, 0, spec, None)
    try:
        return (yield)
    finally:
        library.timer_delete(timer)
        signal.signal(_NUMBER, before)
