"""Whose work items run code only in complete isolation."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from cogworks.forge.inbox import objection
from cogworks.forge.snapshot import Snapshot
from cogworks.settings.config import Config
from cogworks.vocabulary import Login


class Permissions(Protocol):
    """Says what people may do in the repository."""

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]: ...


def needs_walls(
    tracker: Permissions, snapshot: Snapshot, config: Config, *, is_safety_critical: bool
) -> bool:
    """Whether a service must refuse to run this item's code where it cannot wall it in.

    Costs a request where it depends on an author about whom nothing is known yet.
    """
    if is_safety_critical or config.isolation.require == "always":
        return True
    return not _is_trusted(tracker, snapshot, config)


def _is_trusted(tracker: Permissions, snapshot: Snapshot, config: Config) -> bool:
    """Whether the issue's author would be obeyed: what the issue asks for becomes code that runs."""
    author = snapshot.issue.author
    if author is None or not objection(author, snapshot, config):
        return author is not None
    if author.is_bot or author.login in snapshot.permissions:
        return False
    asked = tracker.permissions(snapshot, [author.login])
    known = snapshot.model_copy(update={"permissions": {**snapshot.permissions, **asked}})
    return not objection(author, known, config)
