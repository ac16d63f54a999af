"""What a walled-in command may see of this machine: folders, files as copies, and the names of hosts."""

import os
import shutil
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path

from cogworks.services.sandbox.inside.order import Order, Overlay
from cogworks.services.sandbox.inside.view import HOSTS, KERNEL_SETTINGS, outermost

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
"""Programs and libraries."""
_ETC = (
    "alternatives", "ca-certificates", "debian_version", "fonts", "gai.conf", "group", "host.conf", "hosts", "inputrc",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "lsb-release", "magic", "mime.types", "networks",
    "nsswitch.conf", "os-release", "passwd", "pki/ca-trust", "pki/tls/certs", "protocols", "python3", "rpc",
    "services", "shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
)  # fmt: skip
SETTINGS = tuple(f"/etc/{name}" for name in _ETC)
"""Of /etc, what programs look up about the machine; nothing that grants anything."""
RESOLVER = ("/etc/resolv.conf",)


def readable(own: Iterable[str], *, has_network: bool = False) -> tuple[str, ...]:
    """Everything a command may read: the system's programs, its lookup files, and `own`."""
    return (*SYSTEM, *SETTINGS, *(RESOLVER if has_network else ()), *own)


def bubblewrap_arguments(order: Order, *, as_root: bool | None = None) -> list[str]:
    """The options that make bubblewrap build the isolation of an order; the readable paths must exist.

    Args:
        as_root: whether root runs it; None: that depends on the user who runs this.
    """
    as_root = os.geteuid() == 0 if as_root is None else as_root
    size = str(order.limits.temporary_bytes)
    built = ["--unshare-all", *(["--share-net"] if order.has_network else [])]
    # The launcher raises the command's own network, and gives this up before the command begins.
    built += [] if order.has_network else ["--cap-add", "CAP_NET_ADMIN"]
    # So does it with this, once it has taken the devices of the machine from root.
    built += ["--cap-add", "CAP_SYS_ADMIN"] if as_root else []
    built += ["--die-with-parent", "--as-pid-1"]
    built += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]  # noqa: S108  # the command's own
    for path in outermost(order.readable):
        built += ["--ro-bind", path, path]
    built += ["--ro-bind", order.hosts, HOSTS] if order.hosts else []
    for path in order.writable:
        built += ["--bind", path, path]
    built += ["--proc", "/proc"]
    for name in KERNEL_SETTINGS:
        built += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    built += ["--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]  # noqa: S108  # also its own
    return [*built, "--remount-ro", "/", "--chdir", "/"]


_OF_VERSION_4, _OF_VERSION_6, _NAME = "127.0.0.1", "::1", "localhost"


def lay_out_hosts(folder: Path) -> Path:
    """Write the hosts file that a command sees instead of the machine's into a folder out of its reach."""
    own = folder / "hosts"
    theirs = Path(HOSTS)
    text = theirs.read_text(encoding="utf-8", errors="replace") if theirs.is_file() else ""
    own.write_text(with_localhost(text, has_version_6=_has_version_6()), encoding="utf-8")
    own.chmod(0o644)
    return own


def with_localhost(text: str, *, has_version_6: bool) -> str:
    """The lines of a machine, and `localhost` for each version of IP that it has.

    Some machines name `::1` nowhere. Tests that go to `localhost` by IPv6, as they may on most, would fail there for no reason of theirs.
    """
    addresses = (_OF_VERSION_4, _OF_VERSION_6) if has_version_6 else (_OF_VERSION_4,)
    named = {
        (words[0], name)
        for line in text.splitlines()
        if (words := line.partition("#")[0].split())
        for name in words[1:]
    }
    missing = [f"{address} {_NAME}\n" for address in addresses if (address, _NAME) not in named]
    return "".join([text if not text or text.endswith("\n") else f"{text}\n", *missing])


def _has_version_6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as tried:
            tried.bind((_OF_VERSION_6, 0))
    except OSError:
        return False
    return True


def copy_instead(overlays: Iterable[Overlay], writable: Sequence[Path]) -> None:
    """Copy what overlays show into their folders; one in which something lies already has its copy.

    Raises:
        OSError: it cannot be copied.
    """
    for overlay in overlays:
        target = Path(overlay.target)
        if _is_own(target, writable) and not any(target.iterdir()):
            for shown in (f"{overlay.kept}/upper", *overlay.lowers):
                _lay(Path(shown), target)


def _is_own(target: Path, writable: Sequence[Path]) -> bool:
    """Whether no link leads there: a run before this one may have put one in place of a folder above it."""
    return target.is_dir() and any(
        target.resolve() == place.resolve() / target.relative_to(place)
        for place in writable
        if target.is_relative_to(place)
    )


def _lay(source: Path, target: Path) -> None:
    """What is there already stays, and no link is followed."""
    for entry in os.scandir(source):
        place = target / entry.name
        if not entry.is_dir(follow_symlinks=False):
            if not os.path.lexists(place):
                shutil.copy2(entry.path, place, follow_symlinks=False)
            continue
        if not os.path.lexists(place):
            place.mkdir()
        if place.is_dir() and not place.is_symlink():
            _lay(Path(entry.path), place)
