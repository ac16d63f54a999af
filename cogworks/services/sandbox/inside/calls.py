"""System calls of Linux that Python's library does not offer, each raising OSError with the name of what failed."""

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

ATTR_RDONLY = 1
ATTR_NOSUID = 2
ATTR_NODEV = 4
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
_MOUNT_SETATTR = 442
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(what: str, number: int, *arguments: object) -> int:
    """Numbers above 423 are the same on every architecture."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_library().syscall(ctypes.c_long(number), *words), what)


def unshare(flags: int) -> None:
    _checked(_library().unshare(ctypes.c_int(flags)), "new namespaces")


def mount(source: str, target: str, kind: str = "", *, flags: int = 0, options: str = "") -> None:
    arguments = [ctypes.c_char_p(os.fsencode(text) if text else None) for text in (source, target, kind)]
    data = ctypes.c_char_p(os.fsencode(options) if options else None)
    _checked(_library().mount(*arguments, ctypes.c_ulong(flags), data), f"mount {kind or source} on {target}")


def unmount(target: str) -> None:
    _checked(_library().umount2(os.fsencode(target), MNT_DETACH), f"unmount {target}")


def pivot_root(new: str, old: str) -> None:
    number = _PIVOT_ROOT[os.uname().machine]
    syscall("pivot_root", number, ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old)))


def set_mount_attributes(target: str, attributes: int, *, recursive: bool = True) -> None:
    packed = struct.pack("QQQQ", attributes, 0, 0, 0)
    syscall(
        f"restrict the mount {target}",
        _MOUNT_SETATTR,
        _AT_FDCWD,
        ctypes.c_char_p(os.fsencode(target)),
        _AT_RECURSIVE if recursive else 0,
        ctypes.c_char_p(packed),
        len(packed),
    )


def prctl(option: int, value: int, pointer: object = None) -> None:
    third = ctypes.c_void_p(None) if pointer is None else pointer
    _checked(
        _library().prctl(
            ctypes.c_int(option), ctypes.c_ulong(value), third, ctypes.c_ulong(0), ctypes.c_ulong(0)
        ),
        f"prctl {option}",
    )


def drop_capabilities() -> None:
    """Give up every capability for good; one who has none may call it too."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            # Not permitted without CAP_SETPCAP, and unknown beyond the kernel's last.
            break
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    number = _CAPSET[os.uname().machine]
    syscall("capset", number, ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))
