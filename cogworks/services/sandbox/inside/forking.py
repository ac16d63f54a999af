"""The parent of launchers: is loaded once, and forks one for each order that it is sent; runs nothing else."""

import fcntl
import json
import os
import select
import signal
import socket
import sys

from cogworks.services.sandbox.inside import launch

CONTROL = 0
"""Of the parent, the socket on which orders come: standard input, which every launcher has replaced by its own."""
LENGTH_BYTES = 8
MOST_FILES = 250
"""Linux hands over a few more at a time."""
_GIVEN_UP_S = 5


def main() -> None:
    """Fork a launcher for each order until nobody can send one any more.

    An order is its length, the files of the launcher and, as JSON, `order`, `scaffold`, `directory` and the numbers that the files
    have in it. Before them comes a pipe for the number of the launcher's process and, at its end, its exit code.
    """
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, _heard)
    signal.set_wakeup_fd(wakes)
    ends: dict[int, int] = {}
    orders = socket.socket(fileno=CONTROL)
    while True:
        ready = select.select([orders.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            _reap(ends)
        if orders.fileno() in ready and not _start(orders, ends):
            break
    # Their standard input is closed as well, by the same end.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_GIVEN_UP_S)
    for _ in ends:
        os.wait()


def _heard(_number: int, _frame: object) -> None:
    """Nothing more: Python itself writes the byte that wakes us, where there is a handler."""


def _reap(ends: dict[int, int]) -> None:
    while ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with os.fdopen(ends.pop(pid), "wb") as pipe:
            _send_number(pipe.fileno(), os.waitstatus_to_exitcode(status))


def _send_number(pipe: int, number: int) -> None:
    try:
        os.write(pipe, f"{number}\n".encode())
    except BrokenPipeError:
        # Nobody reads it any more.
        return


def _start(orders: socket.socket, ends: dict[int, int]) -> bool:
    """Whether there was an order."""
    length, files, _, _ = socket.recv_fds(orders, LENGTH_BYTES, MOST_FILES, socket.MSG_CMSG_CLOEXEC)
    if not length:
        return False
    text = _read(orders, int.from_bytes(length, "big"))
    pipe, *own = files
    pid = os.fork()
    if pid == 0:
        _launch(text, own)
    for each in own:
        os.close(each)
    ends[pid] = pipe
    _send_number(pipe, pid)
    return True


def _read(orders: socket.socket, length: int) -> bytes:
    text = b""
    while len(text) < length:
        more = orders.recv(length - len(text))
        if not more:
            sys.exit()
        text += more
    return text


def _launch(text: bytes, files: list[int]) -> None:
    """Become a launcher, with these files under the numbers that are asked for and with no others."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        order = json.loads(text)
        numbers: list[int] = order["files"]
        # Out of the way first: what is to be one number may still be another's.
        beyond = max(numbers) + 1
        moved = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, beyond) for file in files]
        for file, number in zip(moved, numbers, strict=True):
            os.dup2(file, number)
        _close_all_but(frozenset(numbers))
        os.chdir(order["directory"])
        launch.main(["outer", order["order"], order["scaffold"]])
    except BaseException:  # nothing of this process may go on as its parent does
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _close_all_but(kept: frozenset[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        if (number := int(name)) not in kept:
            try:
                os.close(number)
            except OSError:
                # It was that of the list itself.
                continue
