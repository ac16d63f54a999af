"""A file system of the command's own: read-only but for its directories, and without what it needs not see."""

import os
from collections.abc import Iterable

from cogworks.services.sandbox.inside import calls
from cogworks.services.sandbox.inside.order import Order, Overlay

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "driver", "asound")
"""Of /proc, what a process of root may write without any capability."""
HOSTS = "/etc/hosts"
_QUIET = calls.MS_NOSUID | calls.MS_NODEV


class NotShown(OSError):
    """What lies in these folders cannot be laid over another one here."""


def enter(order: Order, scaffold: str) -> None:
    """Make the view and change into it; needs a mount namespace and a process namespace of our own.

    Args:
        scaffold: an empty directory to build on; in the view there is no trace of it.

    Raises:
        OSError: the kernel refused a part of it.
    """
    calls.mount("none", "/", flags=calls.MS_REC | calls.MS_PRIVATE)
    calls.mount("tmpfs", scaffold, "tmpfs", flags=_QUIET, options="size=4m,mode=755")
    size = order.limits.temporary_bytes
    _own_tmpfs(_in(scaffold, "/tmp"), size, mode=1777)  # noqa: S108  # the command's own
    for path in outermost(order.readable):
        _bind(scaffold, path, read_only=True)
    if order.hosts:
        _bind(scaffold, order.hosts, read_only=True, shown_as=HOSTS)
    for path in order.writable:
        _bind(scaffold, path, read_only=False)
    for overlay in order.overlays:
        _lay_over(scaffold, overlay)
    _devices(_in(scaffold, "/dev"), size)
    _processes(_in(scaffold, "/proc"))
    os.chdir(scaffold)
    # The old root ends up on top of the new one and is then taken away.
    calls.pivot_root(".", ".")
    calls.unmount(".")
    os.chdir("/")
    calls.set_mount_attributes("/", calls.ATTR_RDONLY, recursive=False)


def protect_devices() -> None:
    """Take the devices of the machine, where somebody else laid them out, from being given other rights, owners or times.

    Raises:
        OSError: the kernel refused.
    """
    for name in _DEVICES:
        calls.set_mount_attributes(f"/dev/{name}", calls.ATTR_RDONLY | calls.ATTR_NOSUID, recursive=False)


def outermost(paths: Iterable[str]) -> list[str]:
    """The paths without those that lie in another, sorted."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda each: each.rstrip("/") + "/"):
        if not kept or not path.startswith(kept[-1].rstrip("/") + "/"):
            kept.append(path)
    return kept


def _in(root: str, path: str) -> str:
    """Where an absolute path lies below a root."""
    return f"{root.rstrip('/')}/{path.lstrip('/')}"


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))


def _own_tmpfs(place: str, size: int, *, mode: int) -> None:
    os.makedirs(place, exist_ok=True)
    # One inode takes a kilobyte of memory; small files would otherwise get around the size.
    options = f"size={size},nr_inodes={max(size // 4096, 64)},mode={mode}"
    calls.mount("tmpfs", place, "tmpfs", flags=_QUIET, options=options)


def _bind(root: str, source: str, *, read_only: bool, shown_as: str = "") -> None:
    target = _in(root, shown_as or source)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _touch(target)
    calls.mount(source, target, flags=calls.MS_BIND | calls.MS_REC)
    attributes = calls.ATTR_NOSUID | calls.ATTR_NODEV | (calls.ATTR_RDONLY if read_only else 0)
    calls.set_mount_attributes(target, attributes)


def _lay_over(root: str, overlay: Overlay) -> None:
    target = _in(root, overlay.target)
    # A run before this one in the same copy may have moved the folder above it and put a link in its place.
    if not os.path.isdir(target) or os.path.realpath(target) != _in(os.path.realpath(root), overlay.target):
        return
    shown, kept = ":".join(overlay.lowers), overlay.kept
    options = f"lowerdir={shown},upperdir={kept}/upper,workdir={kept}/work"
    # Without privileges the kernel's notes can only be those of a user.
    try:
        calls.mount("overlay", target, "overlay", flags=_QUIET, options=f"{options},userxattr")
    except OSError as error:
        raise NotShown(*error.args) from error


def _processes(place: str) -> None:
    os.mkdir(place)
    calls.mount("proc", place, "proc", flags=_QUIET | calls.MS_NOEXEC)
    for name in KERNEL_SETTINGS:
        if os.path.exists(target := f"{place}/{name}"):
            calls.mount(target, target, flags=calls.MS_BIND | calls.MS_REC)
            calls.set_mount_attributes(target, calls.ATTR_RDONLY)


def _devices(place: str, size: int) -> None:
    os.mkdir(place)
    for name in _DEVICES:
        _touch(f"{place}/{name}")
        calls.mount(f"/dev/{name}", f"{place}/{name}", flags=calls.MS_BIND)
        # It is the machine's own: written to as a device, but never given other rights, owners or times.
        calls.set_mount_attributes(f"{place}/{name}", calls.ATTR_RDONLY | calls.ATTR_NOSUID)
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"{place}/{name}")
    os.mkdir(f"{place}/pts")
    options = "newinstance,ptmxmode=0666,mode=620"
    calls.mount("devpts", f"{place}/pts", "devpts", flags=calls.MS_NOSUID | calls.MS_NOEXEC, options=options)
    _own_tmpfs(f"{place}/shm", size, mode=1777)
