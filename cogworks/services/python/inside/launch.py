"""Starts the tests with limits and without a way out; runs before them in their own process, standard library only.

launch.py outer <parent pid> <seconds of CPU> -- <command>    limits; dies with its parent
launch.py inner -- <command>                                  first process of the new namespaces
"""

import ctypes
import os
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from fcntl import ioctl

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1

_GIB = 1024**3
_FILE_BYTES = _GIB // 4
_MEMORY_BYTES = 8 * _GIB
_PROCESSES = 2048


def outer(parent: int, cpu_s: int, command: list[str]) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the service that wanted these tests is gone")
    for what, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_CPU, cpu_s),
    ):
        _limit(what, limit)
    os.execvp(command[0], command)  # noqa: S606  # a shell is what this avoids


def inner(command: list[str]) -> None:
    # Only here: outside a namespace the limit counts everything this user runs.
    _limit(resource.RLIMIT_NPROC, _PROCESSES)
    _raise_loopback()
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if os.getpid() != 1:
        os.execvp(command[0], command)  # noqa: S606  # a shell is what this avoids
    # The first process of a namespace ignores signals it has no handler for; tests expect to be ordinary.
    child = os.fork()
    if child == 0:
        os.execvp(command[0], command)  # noqa: S606  # a shell is what this avoids
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _prctl(option: int, value: int) -> None:
    # Linux only; elsewhere there is no such function and the process group is all that ends the tests.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _limit(what: int, limit: int) -> None:
    hard = resource.getrlimit(what)[1]
    wanted = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(what, (wanted, wanted))


def _raise_loopback() -> None:
    # Tests that talk to themselves over 127.0.0.1 keep working in a network of their own.
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14x", b"lo", 0)
        _, flags = struct.unpack("16sH14x", ioctl(control, _SIOCGIFFLAGS, asked))
        ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def main(arguments: list[str]) -> None:
    command = arguments[arguments.index("--") + 1 :]
    if arguments[0] == "outer":
        outer(int(arguments[1]), int(arguments[2]), command)
    else:
        inner(command)


if __name__ == "__main__":
    main(sys.argv[1:])
