"""The network that a command has for itself: loopback, under addresses that name lookups take for those of a machine."""

import socket
import struct
from contextlib import suppress
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
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14x", _LOOPBACK, 0)
        _, flags = struct.unpack("16sH14x", ioctl(control, _SIOCGIFFLAGS, asked))
        ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", _LOOPBACK, flags | _IFF_UP))
        address = struct.pack("16sHH4s8x", _ALIAS, socket.AF_INET, 0, socket.inet_aton(_OF_VERSION_4))
        ioctl(control, _SIOCSIFADDR, address)
    # A machine without IPv6 has none here either.
    with suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        address = socket.inet_pton(socket.AF_INET6, _OF_VERSION_6)
        index = socket.if_nametoindex(_LOOPBACK.decode())
        ioctl(control, _SIOCSIFADDR, struct.pack("16sIi", address, _WHOLE_ADDRESS, index))
