"""Landlock: the kernel refuses this process and all it starts what the rules do not allow."""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from cogworks.services.sandbox.inside import calls
from cogworks.services.sandbox.inside.order import Order

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_EVERYTHING = (1 << 13) - 1
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP = 3
"""Binding and connecting."""
_SCOPES = 3
"""Abstract Unix sockets, and signals to processes outside."""
_PATH_BENEATH = 1
_VERSION = 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_OWN_PLACES = ("/tmp", "/dev/shm", "/dev/pts")  # noqa: S108  # private to the command once it has a view
_HARMLESS_PROC = ("cpuinfo", "filesystems", "loadavg", "meminfo", "self", "stat", "sys", "uptime", "version")


def abi() -> int:
    """Which version this kernel speaks; 0: none."""
    try:
        return calls.syscall("landlock", calls.LANDLOCK_CREATE_RULESET, ctypes.c_void_p(None), 0, _VERSION)
    except OSError:
        return 0


def restrict(order: Order) -> None:
    """Allow this process only what the order allows; for good.

    Raises:
        OSError: the kernel refused.
    """
    handled = _handled(order.landlock_abi)
    ruleset = _ruleset(order, handled)
    try:
        has_view = order.engine != "none"
        # In a view of its own there is nothing to read that the command should not.
        _allow(ruleset, ("/",) if has_view else order.readable, _READING & handled)
        _allow(ruleset, order.writable, handled)
        _allow(ruleset, _DEVICES, (_READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV) & handled)
        if has_view:
            _allow(ruleset, _OWN_PLACES, handled)
        else:
            # Without it there are no semaphores.
            _allow(ruleset, ("/dev/shm",), handled)  # noqa: S108  # shared with this user, and said so
            _allow(ruleset, [f"/proc/{name}" for name in _HARMLESS_PROC], _READING & handled)
        calls.syscall("landlock_restrict_self", calls.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _handled(version: int) -> int:
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _EVERYTHING | sum(right for since, right in later if version >= since)


def _ruleset(order: Order, handled: int) -> int:
    # A network namespace holds back more, and leaves the command its own loopback.
    network = _TCP if order.landlock_abi >= 4 and order.engine == "none" and not order.has_network else 0
    attributes = struct.pack("Q", handled)
    if order.landlock_abi >= 4:
        attributes += struct.pack("Q", network)
    if order.landlock_abi >= 6:
        attributes += struct.pack("Q", _SCOPES)
    return calls.syscall(
        "landlock_create_ruleset",
        calls.LANDLOCK_CREATE_RULESET,
        ctypes.c_char_p(attributes),
        len(attributes),
        0,
    )


def _allow(ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            # What is not there needs no permission.
            continue
        try:
            granted = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & _OF_FILES
            rule = struct.pack("=Qi", granted, place)
            calls.syscall(
                "landlock_add_rule", calls.LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0
            )
        finally:
            os.close(place)
