"""What the hub was asked, in order, and in the words that faults use."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    parse,
)

from cogworks.hub.clock import iso
from cogworks.vocabulary import Value

GRAPHQL_PATHS = ("/graphql", "/api/graphql")
_REST_ROOT = "/api/v3"


class Asked(Value):
    """One request as a rule of a fault plan sees it."""

    method: str
    path: str
    """Without `/api/v3`; the two addresses of GraphQL are both `/graphql`."""
    operation: str = ""
    """The name of a GraphQL document's operation."""
    fields: tuple[str, ...] = ()
    """The fields at the root of a GraphQL document, not their aliases: `repository`, `createCommitOnBranch`, …"""
    kind: str = "rest"
    """`graphql`, `git` or `rest`; pages count as `rest`."""
    is_write: bool = False
    """It may change something: a mutation, a push, any REST method but GET and HEAD."""


def asked(method: str, path: str, query: str = "", body: bytes = b"") -> Asked:
    """Describe a request. Never fails: what is no GraphQL document has neither operation nor fields."""
    if path in GRAPHQL_PATHS:
        operation, fields, is_write = _described(_document(body))
        return Asked(
            method=method,
            path="/graphql",
            operation=operation,
            fields=fields,
            kind="graphql",
            is_write=is_write,
        )
    tail = path.rpartition("/")[2]
    if tail in ("git-upload-pack", "git-receive-pack") or (tail == "refs" and "service=git-" in query):
        return Asked(
            method=method, path=path, kind="git", is_write=(method, tail) == ("POST", "git-receive-pack")
        )
    plain = path.removeprefix(_REST_ROOT) or "/"
    return Asked(method=method, path=plain, is_write=method not in ("GET", "HEAD"))


def _document(body: bytes) -> str:
    try:
        content = json.loads(body)
    except ValueError:
        return ""
    query = content.get("query") if isinstance(content, dict) else None
    return query if isinstance(query, str) else ""


@lru_cache(maxsize=512)
def _described(document: str) -> tuple[str, tuple[str, ...], bool]:
    try:
        parsed = parse(document)
    except GraphQLError:
        return "", (), False
    fragments = {
        node.name.value: node for node in parsed.definitions if isinstance(node, FragmentDefinitionNode)
    }
    for node in parsed.definitions:
        if isinstance(node, OperationDefinitionNode):
            name = node.name.value if node.name else ""
            fields = tuple(dict.fromkeys(_fields(node.selection_set, fragments)))
            return name, fields, node.operation.value == "mutation"
    return "", (), False


def _fields(selected: SelectionSetNode, fragments: dict[str, FragmentDefinitionNode]) -> Iterator[str]:
    for node in selected.selections:
        if isinstance(node, FieldNode):
            yield node.name.value
        elif isinstance(node, InlineFragmentNode):
            yield from _fields(node.selection_set, fragments)
        elif isinstance(node, FragmentSpreadNode) and node.name.value in fragments:
            # A fragment taken out of the table cannot spread itself for ever.
            left = {name: each for name, each in fragments.items() if name != node.name.value}
            yield from _fields(fragments[node.name.value].selection_set, left)


KEPT = 20_000
"""The oldest entries beyond these are forgotten."""


@dataclass
class Entry:
    """One request; its outcome is filled in when it is over."""

    number: int
    at: datetime
    asked: Asked
    status: int = 0
    """Of the answer that left the hub; 0: none did."""
    points: int = 0
    """What it took from the caller's hourly budget of REST requests or GraphQL points."""
    was_handled: bool = False
    """The hub carried it out, whatever the answer said."""
    fault: str = ""

    def shown(self) -> dict[str, Any]:
        fields = self.asked.model_dump(mode="json")
        return {
            "number": self.number,
            "at": iso(self.at),
            **fields,
            "status": self.status,
            "points": self.points,
            "handled": self.was_handled,
            "fault": self.fault,
        }


@dataclass
class Journal:
    """The requests since the last `clear`, oldest first; numbers start at 1 again then."""

    entries: deque[Entry] = field(default_factory=lambda: deque(maxlen=KEPT))
    _last: int = 0

    def open(self, asked: Asked, at: datetime) -> Entry:
        self._last += 1
        entry = Entry(number=self._last, at=at, asked=asked)
        self.entries.append(entry)
        return entry

    def clear(self) -> None:
        self.entries.clear()
        self._last = 0
