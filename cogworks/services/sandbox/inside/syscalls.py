"""A filter of system calls: none that widens what the command can reach, and no sockets where no wall keeps them in."""

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

from cogworks.services.sandbox.inside import calls

_NUMBERS = {
    "x86_64": {
        "socket": 41, "connect": 42, "sendto": 44, "socketpair": 53, "clone": 56, "prctl": 157, "ptrace": 101, "pivot_root": 155,
        "mount": 165, "umount2": 166, "init_module": 175, "delete_module": 176, "kexec_load": 246, "add_key": 248,
        "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "open_by_handle_at": 304,
        "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313,
        "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "sendto": 206, "socketpair": 199, "clone": 220, "prctl": 167, "ptrace": 117, "pivot_root": 41,
        "mount": 40, "umount2": 39, "init_module": 105, "delete_module": 106, "kexec_load": 104, "add_key": 217,
        "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241, "open_by_handle_at": 265,
        "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273,
        "kexec_file_load": 294, "bpf": 280, "userfaultfd": 282,
    },
}  # fmt: skip
_EVERYWHERE = {
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "clone3": 435, "pidfd_getfd": 438, "mount_setattr": 442,
}  # fmt: skip
_WITH_A_RULE = frozenset(
    {"socket", "connect", "sendto", "socketpair", "clone", "clone3", "io_uring_setup", "prctl"}
)
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_FOREIGN_NUMBERS = 0x40000000
"""From here on the numbers of x86_64 mean another calling convention."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_KILL, _ALLOW, _FAIL = 0x80000000, 0x7FFF0000, 0x00050000
_STREAM = 1
_FAMILIES = (1, 2, 10, 16)
"""Of a socket: on this machine, IPv4, IPv6, and the one by which the C library asks for the addresses of the machine."""
_TYPE_BITS = 0xF

Instruction = tuple[int, int, int, int]


def is_known(machine: str) -> bool:
    """Whether there is a filter for this processor."""
    return machine in _NUMBERS


def program(machine: str, *, may_have_sockets: bool) -> list[Instruction]:
    """The filter as instructions for the kernel: operation, jump when true, jump when false, operand.

    Args:
        may_have_sockets: false where no network namespace keeps them in; pairs of connected ones remain.
    """
    numbers = {**_EVERYWHERE, **_NUMBERS[machine]}
    built: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        built += [(_AT_LEAST, 0, 1, _FOREIGN_NUMBERS), _failing(errno.ENOSYS)]
    for name in sorted(numbers.keys() - _WITH_A_RULE):
        built += _refused(numbers[name], errno.EPERM)
    # Their arguments lie in memory, where a filter cannot look; the C library then uses the older calls.
    built += _refused(numbers["clone3"], errno.ENOSYS) + _refused(numbers["io_uring_setup"], errno.ENOSYS)
    built += _when(
        numbers["clone"], [_argument(0), (_ANY_BIT, 0, 1, calls.CLONE_NEWUSER), _failing(errno.EPERM)]
    )
    # The process that counts what another holds has to see it; programs that hide from others get the answer that they do.
    hides = [
        _argument(0),
        (_EQUAL, 0, 3, calls.PR_SET_DUMPABLE),
        _argument(1),
        (_EQUAL, 0, 1, 0),
        _failing(0),
    ]
    built += _when(numbers["prctl"], hides)
    if may_have_sockets:
        built += _known_families(numbers)
    else:
        built += _no_sockets(numbers)
    return [*built, (_RETURN, 0, 0, _ALLOW)]


def install(*, may_have_sockets: bool) -> None:
    """Put the filter on this process and all it starts, for good.

    Raises:
        OSError: the kernel refused.
    """
    packed = b"".join(
        struct.pack("HBBI", *each) for each in program(os.uname().machine, may_have_sockets=may_have_sockets)
    )
    code = ctypes.create_string_buffer(packed, len(packed))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(packed) // 8, ctypes.addressof(code)))
    calls.prctl(calls.PR_SET_SECCOMP, calls.SECCOMP_MODE_FILTER, ctypes.cast(header, ctypes.c_void_p))


def _known_families(numbers: dict[str, int]) -> list[Instruction]:
    """No network namespace keeps the others in: one of them leads out of a virtual machine."""
    last = len(_FAMILIES)
    known = [(_EQUAL, last - place, 0, family) for place, family in enumerate(_FAMILIES)]
    rule = [_argument(0), *known, _failing(errno.EAFNOSUPPORT)]
    return [*_when(numbers["socket"], rule), *_when(numbers["socketpair"], rule)]


def _no_sockets(numbers: dict[str, int]) -> list[Instruction]:
    denied = _failing(errno.EACCES)
    # A pair of datagram sockets can be sent elsewhere, a pair of streams cannot.
    kind = [_argument(1), (_AND, 0, 0, _TYPE_BITS), (_EQUAL, 1, 0, _STREAM), denied]
    address = [_argument(4), (_EQUAL, 1, 0, 0), denied]
    return [
        *_refused(numbers["socket"], errno.EACCES),
        *_refused(numbers["connect"], errno.EACCES),
        *_when(numbers["socketpair"], kind),
        *_when(numbers["sendto"], address),
    ]


def _refused(number: int, code: int) -> list[Instruction]:
    return [(_EQUAL, 0, 1, number), _failing(code)]


def _when(number: int, rule: Sequence[Instruction]) -> list[Instruction]:
    """A rule for one call, which may spoil what is loaded; the call's number is loaded again after it."""
    return [(_EQUAL, 0, len(rule), number), *rule, (_LOAD, 0, 0, _NUMBER)]


def _argument(index: int) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index)


def _failing(code: int) -> Instruction:
    return (_RETURN, 0, 0, _FAIL | code)
