"""The network that a command has for itself: loopback, under addresses that name lookups take for those of a machine."""

# Without what `socket` adds to it, which takes longer to load than all of this to do.
import _socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import ioctl

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_SIOCSIFADDR = 0x8916
_IFF_UP = 1
_LOOPBACK = b"lo"
_ALIAS = b"lo:1"
_OF_VERSION_4 = "127.0.0.2"
_OF_VERSION_6 = "fe80::1"
"""Of this link alone, as every machine with IPv6 has one."""
_WHOLE_ADDRESS = 128


def raise_own_network() -> None:
    """Let commands that talk to themselves do so, in a network of their own.

    A lookup with `AI_ADDRCONFIG`, as asyncio makes them, finds nothing of a version of IP whose addresses here are only
    `127.0.0.1` and `::1`, not even `localhost`. So each has one more. An ordinary user under bubblewrap has not: it takes us into a
    user namespace to which this network does not belong.
    """
    with suppress(OSError), _datagrams(_socket.AF_INET) as control:
        request = struct.pack("16sH14x", _LOOPBACK, 0)
        _, flags = struct.unpack("16sH14x", ioctl(control, _SIOCGIFFLAGS, request))
        ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", _LOOPBACK, flags | _IFF_UP))
        address = struct.pack("16sHH4s8x", _ALIAS, _socket.AF_INET, 0, _socket.inet_aton(_OF_VERSION_4))
        ioctl(control, _SIOCSIFADDR, address)
    # A machine without IPv6 has none here either.
    with suppress(OSError), _datagrams(_socket.AF_INET6) as control:
        address = _socket.inet_pton(_socket.AF_INET6, _OF_VERSION_6)
        index = _socket.if_nametoindex(_LOOPBACK.decode())
        ioctl(control, _SIOCSIFADDR, struct.pack("16sIi", address, _WHOLE_ADDRESS, index))


@contextmanager
def _datagrams(family: int) -> Iterator[_socket.socket]:
    control = _socket.socket(family, _socket.SOCK_DGRAM)
    try:
        yield control
    finally:
        control.close()
