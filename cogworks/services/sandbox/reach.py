"""What a walled-in command may read of this machine, and how bubblewrap is told."""

import os
from collections.abc import Iterable

from cogworks.services.sandbox.inside.order import Order
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
        as_root: whether root runs it; None: whoever runs this.
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
