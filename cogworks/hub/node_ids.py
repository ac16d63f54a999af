"""What every record has: an id, the opaque node id made of it, and the three columns it is found by."""

import base64
import binascii
from enum import StrEnum
from typing import ClassVar

from cogworks.vocabulary import Value


def node_id(type_name: str, *parts: object) -> str:
    """The opaque, stable id of an object: `node_id("Issue", 7)`, `node_id("Commit", repository_id, oid)`."""
    text = ":".join((type_name, *(str(part) for part in parts)))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_node_id(text: str) -> tuple[str, str] | None:
    """Type name and the rest (everything after the first colon) of a node id; None when it is not one."""
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    type_name, colon, rest = decoded.partition(":")
    return (type_name, rest) if colon and rest else None


class Record(Value):
    """Something the store keeps; ids are unique over all kinds."""

    type_name: ClassVar[str]
    """GraphQL's name of the type, and the kind of the row in the store."""
    id: int

    @property
    def node_id(self) -> str:
        return node_id(self.type_name, self.id)

    @property
    def parent(self) -> int | None:
        """The id of the record that this one is listed under."""
        return None

    @property
    def key(self) -> str | None:
        """A text that no other record of the kind has."""
        return None

    @property
    def tag(self) -> str | None:
        """A text by which the children of one parent are filtered."""
        return None


class Role(StrEnum):
    """What a collaborator may do, weakest first; `none` is a stranger."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def covers(self, needed: "Role") -> bool:
        return self.rank >= needed.rank
