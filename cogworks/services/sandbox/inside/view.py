"""A file system of the command's own: read-only but for its directories, and without what it needs not see."""

import os
from collections.abc import Iterable
from pathlib import Path

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
    root = Path(scaffold)
    size = order.limits.temporary_bytes
    _own_tmpfs(root / "tmp", size, mode=1777)
    for path in outermost(order.readable):
        _bind(root, Path(path), read_only=True)
    if order.hosts:
        _bind(root, Path(order.hosts), read_only=True, shown_as=Path(HOSTS))
    for path in order.writable:
        _bind(root, Path(path), read_only=False)
    for overlay in order.overlays:
        _lay_over(root, overlay)
    _devices(root / "dev", size)
    _processes(root / "proc")
    os.chdir(root)
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


def _own_tmpfs(place: Path, size: int, *, mode: int) -> None:
    place.mkdir(parents=True, exist_ok=True)
    # One inode takes a kilobyte of memory; small files would otherwise get around the size.
    options = f"size={size},nr_inodes={max(size // 4096, 64)},mode={mode}"
    calls.mount("tmpfs", str(place), "tmpfs", flags=_QUIET, options=options)


def _bind(root: Path, source: Path, *, read_only: bool, shown_as: Path | None = None) -> None:
    target = root / (shown_as or source).relative_to("/")
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    calls.mount(str(source), str(target), flags=calls.MS_BIND | calls.MS_REC)
    attributes = calls.ATTR_NOSUID | calls.ATTR_NODEV | (calls.ATTR_RDONLY if read_only else 0)
    calls.set_mount_attributes(str(target), attributes)


def _lay_over(root: Path, overlay: Overlay) -> None:
    target = root / Path(overlay.target).relative_to("/")
    # A run before this one in the same copy may have moved the folder above it and put a link in its place.
    if not target.is_dir() or target.resolve() != root.resolve() / target.relative_to(root):
        return
    shown, kept = ":".join(overlay.lowers), overlay.kept
    options = f"lowerdir={shown},upperdir={kept}/upper,workdir={kept}/work"
    # Without privileges the kernel's notes can only be those of a user.
    try:
        calls.mount("overlay", str(target), "overlay", flags=_QUIET, options=f"{options},userxattr")
    except OSError as error:
        raise NotShown(*error.args) from error


def _processes(place: Path) -> None:
    place.mkdir()
    calls.mount("proc", str(place), "proc", flags=_QUIET | calls.MS_NOEXEC)
    for name in KERNEL_SETTINGS:
        if (target := place / name).exists():
            calls.mount(str(target), str(target), flags=calls.MS_BIND | calls.MS_REC)
            calls.set_mount_attributes(str(target), calls.ATTR_RDONLY)


def _devices(place: Path, size: int) -> None:
    place.mkdir()
    for name in _DEVICES:
        (place / name).touch()
        calls.mount(f"/dev/{name}", str(place / name), flags=calls.MS_BIND)
        # It is the machine's own: written to as a device, but never given other rights, owners or times.
        calls.set_mount_attributes(str(place / name), calls.ATTR_RDONLY | calls.ATTR_NOSUID)
    for name, target in _DEVICE_LINKS.items():
        (place / name).symlink_to(target)
    (place / "pts").mkdir()
    options = "newinstance,ptmxmode=0666,mode=620"
    calls.mount(
        "devpts", str(place / "pts"), "devpts", flags=calls.MS_NOSUID | calls.MS_NOEXEC, options=options
    )
    _own_tmpfs(place / "shm", size, mode=1777)
