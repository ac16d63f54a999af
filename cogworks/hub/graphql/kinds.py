"""Which GraphQL type a value of the hub is, and which timeline item an event is."""

import re
from typing import Any

from cogworks.hub.records import Event, Issue, User

_EVENT_TYPES = {"renamed": "RenamedTitleEvent"}
"""Kinds of events whose type is not named after them."""


def typename(value: Any) -> str:
    """GraphQL's name of the concrete type of a record or git object."""
    if isinstance(value, User):
        return value.kind
    if isinstance(value, Issue):
        return "Issue" if value.pull is None else "PullRequest"
    if isinstance(value, Event):
        return event_type(value.kind)
    return str(value.type_name)


def event_type(kind: str) -> str:
    """`labeled` -> `LabeledEvent`, `head_ref_deleted` -> `HeadRefDeletedEvent`."""
    return _EVENT_TYPES.get(kind) or "".join(part.capitalize() for part in kind.split("_")) + "Event"


def item_type(type_name: str) -> str:
    """The name under which `timelineItems(itemTypes:)` selects a type: `LabeledEvent` -> `LABELED_EVENT`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type_name).upper()
