"""The names of this machine that a command with a network of its own finds in `/etc/hosts`."""

import socket
from pathlib import Path

from cogworks.services.sandbox.inside.view import HOSTS

_OF_VERSION_4, _OF_VERSION_6, _NAME = "127.0.0.1", "::1", "localhost"


def lay_out_hosts(folder: Path) -> Path:
    """Write the file that a command is shown for the machine's into a folder out of its reach."""
    own = folder / "hosts"
    theirs = Path(HOSTS)
    found = theirs.read_text(encoding="utf-8", errors="replace") if theirs.is_file() else ""
    own.write_text(with_localhost(found, has_version_6=_has_version_6()), encoding="utf-8")
    own.chmod(0o644)
    return own


def with_localhost(text: str, *, has_version_6: bool) -> str:
    """The lines of a machine, and `localhost` for each version of IP that it has.

    Some machines name `::1` nowhere. Tests that go to `localhost` by IPv6, as they may on most, would fail there for no reason of theirs.
    """
    wanted = (_OF_VERSION_4, _OF_VERSION_6) if has_version_6 else (_OF_VERSION_4,)
    named = {
        (words[0], name)
        for line in text.splitlines()
        if (words := line.partition("#")[0].split())
        for name in words[1:]
    }
    missing = [f"{address} {_NAME}\n" for address in wanted if (address, _NAME) not in named]
    return "".join([text if not text or text.endswith("\n") else f"{text}\n", *missing])


def _has_version_6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as tried:
            tried.bind((_OF_VERSION_6, 0))
    except OSError:
        return False
    return True
