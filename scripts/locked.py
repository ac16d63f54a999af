"""The packages of requirements.lock, for the scripts that tell of them; only the standard library is there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\]+?))?\s*\\?"
)
_HASH = re.compile(r"\s+--hash=sha256:(?P<digest>[0-9a-f]{64})")
_VIA = re.compile(r"\s+#\s+(?:via\s+)?(?P<name>[A-Za-z0-9._-]+)(?:\s+\(.*\))?\s*")


@dataclass
class Package:
    """One package of the lock file."""

    name: str
    version: str
    marker: str = ""
    digests: list[str] = field(default_factory=list)
    """Of its files: each of them may be the one that is installed."""
    via: list[str] = field(default_factory=list)
    """Who needs it."""

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name.lower()}@{self.version}"


def packages_in(lock: str) -> list[Package]:
    """The packages of a lock file, in its order."""
    found: list[Package] = []
    for line in lock.splitlines():
        if pinned := _PINNED.fullmatch(line):
            found.append(Package(pinned["name"], pinned["version"], pinned["marker"] or ""))
        elif found and (digest := _HASH.match(line)):
            found[-1].digests.append(digest["digest"])
        elif found and (via := _VIA.fullmatch(line)) and via["name"] != "via":
            found[-1].via.append(via["name"])
    return found
