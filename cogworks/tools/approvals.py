"""Calls that wait for a person: named by a hash, and allowed for exactly that tool, input and tree."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from cogworks.canonical import canonical, sha256
from cogworks.vocabulary import Value

HASH_CHARS = 12
Answer = Literal["approved", "rejected", "approval_required"]


class Approval(Value):
    """What a person is asked about one call."""

    hash: str
    """`/cogworks approve` and `--approve` take it."""
    step: str
    tool: str
    profile: str
    input_redacted: dict[str, Any]


class Approvals:
    """What people have said, and what the tree is that they said it about."""

    def __init__(
        self,
        *,
        tree: Callable[[], str],
        approved: frozenset[str] = frozenset(),
        rejected: frozenset[str] = frozenset(),
    ) -> None:
        """Args:
        tree: names the repository's files as they are now; asked for once, when the first call needs approval.
        """
        self._tree = tree
        self._name = ""
        self._approved = approved
        self._rejected = rejected

    def hash_of(self, tool: str, profile: str, parameters: Mapping[str, Any]) -> str:
        """The name of a call; another input, tool or tree has another."""
        # What the run itself changes meanwhile must not void what was approved for the tree it began with.
        self._name = self._name or self._tree()
        call = {"tool": tool, "profile": profile, "input": dict(parameters), "tree": self._name}
        return sha256(canonical(call))[:HASH_CHARS]

    def answer(self, name: str) -> Answer:
        """What was said about a call; who both approved and rejected it has rejected it."""
        if name in self._rejected:
            return "rejected"
        return "approved" if name in self._approved else "approval_required"
