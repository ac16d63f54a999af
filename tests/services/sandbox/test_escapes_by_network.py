"""Hostile programs that open connections; each is shown to succeed where there are no isolation."""

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cogworks.services.sandbox.isolation import Isolation
from tests.services.sandbox.attacks import NO_ISOLATION, attack, name, variants

WALLS = pytest.mark.parametrize("isolation", variants(), ids=name)

CALL = """
import socket, sys
tcp, udp, abstract, path = sys.argv[1:]
def attempt(family, kind, address):
    try:
        with socket.socket(family, kind) as caller:
            caller.settimeout(2)
            caller.sendto(b"hello", address) if kind == socket.SOCK_DGRAM else caller.connect(address)
    except OSError:
        return "held"
    return "out"
print(attempt(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(tcp))))
attempt(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(udp)))
print(attempt(socket.AF_UNIX, socket.SOCK_STREAM, "\\0" + abstract))
print(attempt(socket.AF_UNIX, socket.SOCK_STREAM, path))
try:
    socket.getaddrinfo("example.org", 80)
    print("found")
except OSError:
    print("held")
"""


class Listeners:
    """What a program might call on this machine: a server, a name server, a bus, an agent."""

    def __init__(self, folder: Path) -> None:
        self._open = ExitStack()
        self.tcp = self._open.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = self._open.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        self.abstract = f"cogworks-test-{folder.name}"
        self.path = folder / "agent"
        for address in (f"\0{self.abstract}", str(self.path)):
            listener = self._open.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()

    def called_by(self, isolation: Isolation, folder: Path) -> tuple[list[str], bool]:
        """What the caller says, and whether a datagram arrived."""
        ports = (each.getsockname()[1] for each in (self.tcp, self.udp))
        ended = attack(CALL, folder, isolation, *ports, self.abstract, self.path)
        try:
            arrived = self.udp.recv(100) == b"hello"
        except BlockingIOError:
            arrived = False
        return ended.output.split(), arrived

    def close(self) -> None:
        self._open.close()


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[Listeners]:
    opened = Listeners(tmp_path)
    yield opened
    opened.close()


@WALLS
def test_no_socket_of_this_machine_can_be_reached(
    isolation: Isolation, listeners: Listeners, tmp_path: Path
) -> None:
    assert listeners.called_by(isolation, tmp_path) == (["held"] * 4, False)


def test_without_walls_they_could_be_reached(listeners: Listeners, tmp_path: Path) -> None:
    said, arrived = listeners.called_by(NO_ISOLATION, tmp_path)

    # Whether a name is found depends on the machine's own network.
    assert (said[:3], arrived) == (["out"] * 3, True)


FETCH = """
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2).close()
try:
    open(sys.argv[2])
except OSError:
    print("fetched, and nothing read")
"""


@WALLS
def test_a_command_that_may_use_the_network_still_reads_nothing_else(
    isolation: Isolation, listeners: Listeners, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("secret")
    port = listeners.tcp.getsockname()[1]

    ended = attack(FETCH, tmp_path, isolation, port, tmp_path / "key", has_network=True)

    assert ended.output == "fetched, and nothing read\n"


SELF = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
a, b = socket.socketpair()
a.sendall(b"x")
print(b.recv(1))
"""


@pytest.mark.parametrize("isolation", [each for each in variants() if each.is_complete], ids=name)
def test_a_program_can_talk_to_itself(isolation: Isolation, tmp_path: Path) -> None:
    assert attack(SELF, tmp_path, isolation).output == "b'x'\n"


DATAGRAMS = """
import socket
a, b = socket.socketpair()
a.sendall(b"x")
print(b.recv(1), flush=True)
socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
"""


@pytest.mark.parametrize(
    "isolation", [each for each in variants() if each.engine == "none" and each.is_filtered], ids=name
)
def test_without_namespaces_only_connected_pairs_of_streams_remain(
    isolation: Isolation, tmp_path: Path
) -> None:
    ended = attack(DATAGRAMS, tmp_path, isolation)

    assert ended.output.startswith("b'x'\n")
    assert "PermissionError" in ended.output


FAMILIES = """
import socket, sys
for family in map(int, sys.argv[1:]):
    try:
        socket.socket(family, socket.SOCK_STREAM).close()
        print("open")
    except OSError as error:
        print(error.errno)
"""
AF_UNIX, AF_INET = 1, 2
AF_ALG, AF_VSOCK, AF_UNHEARD_OF = 38, 40, 99


FILTERED = pytest.mark.parametrize(
    "isolation", [each for each in variants() if each.is_filtered and each.is_complete], ids=name
)


@FILTERED
def test_no_socket_is_of_a_family_that_no_wall_keeps_in(isolation: Isolation, tmp_path: Path) -> None:
    asked = (AF_VSOCK, AF_ALG, AF_UNHEARD_OF, AF_UNIX, AF_INET)

    said = attack(FAMILIES, tmp_path, isolation, *asked).output.split()

    # By the filter, whether or not this kernel has the family.
    assert said == [str(errno.EAFNOSUPPORT)] * 3 + ["open"] * 2


OUTSIDE = ("10.255.255.1", "192.0.2.1", "fd00::2", "2001:db8::1")
LOOK_UP = """
import socket, sys
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as server:
            server.bind(("localhost" if family == socket.AF_INET else "::1", 0))
        name = "localhost" if family == socket.AF_INET else "::1"
        found = socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
        print(found[0][4][0])
    except socket.gaierror:
        print("no such name")
    except OSError:
        print("not on this machine")
for address in sys.argv[1:]:
    try:
        socket.create_connection((address, 80), 2)
    except OSError as error:
        print(error.errno)
"""


@WALLS
def test_a_lookup_that_asks_for_usable_addresses_finds_this_host_and_nothing_leads_out(
    isolation: Isolation, tmp_path: Path
) -> None:
    if not isolation.is_complete:
        pytest.skip("there is no network of its own")

    found = attack(LOOK_UP, tmp_path, isolation, *OUTSIDE).output.split("\n")

    assert found[:2] in (["127.0.0.1", "::1"], ["127.0.0.1", "not on this machine"])
    assert set(found[2:-1]) <= {str(errno.ENETUNREACH), str(errno.EAFNOSUPPORT), str(errno.EADDRNOTAVAIL)}
    assert len(found[2:-1]) == len(OUTSIDE)


BY_NAME = """
import socket
with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as server:
    try:
        server.bind(("::1", 0))
    except OSError:
        raise SystemExit("not on this machine")
    server.listen()
    port = server.getsockname()[1]
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as caller:
        caller.connect(("localhost", port))
    print("reached")
print(open("/etc/hosts").read())
"""


@WALLS
def test_localhost_is_reached_by_either_version_of_ip_whatever_the_machine_s_own_file_names(
    isolation: Isolation, tmp_path: Path
) -> None:
    if not isolation.is_complete:
        pytest.skip("there is no network of its own")

    found = attack(BY_NAME, tmp_path, isolation).output.splitlines()

    assert found[0] in ("reached", "not on this machine")
    assert set(Path("/etc/hosts").read_text().splitlines()) <= {*found, ""} or found[0] != "reached"


RENAME = """
import fcntl, socket, struct
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("CapPrm")))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    address = struct.pack("16sHH4s8x", b"lo:2", socket.AF_INET, 0, socket.inet_aton("10.0.0.1"))
    try:
        fcntl.ioctl(control, 0x8916, address)
    except OSError as error:
        print(error.errno)
"""


@WALLS
def test_no_address_is_added_from_inside(isolation: Isolation, tmp_path: Path) -> None:
    if not isolation.is_complete:
        pytest.skip("there is no network of its own")

    assert attack(RENAME, tmp_path, isolation).output.split() == ["0" * 16, str(errno.EPERM)]
