"""Which issues and pull requests a listing contains, and in which order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cogworks.hub.records import Issue

Ordering = Mapping[str, str] | None
"""GraphQL's `orderBy`: `field` and `direction`."""


def pull_state(pull: Issue) -> str:
    """GraphQL's state of a pull request: merged is a state of its own."""
    if pull.pull is not None and pull.pull.merged_at is not None:
        return "MERGED"
    return pull.state.upper()


def ordered(
    items: Iterable[Issue], order: Ordering, *, comments: Callable[[Issue], int] = lambda _: 0
) -> list[Issue]:
    """The items by creation (the default), last update or number of comments; ties keep the order of creation."""
    keys: dict[str, Callable[[Issue], Any]] = {
        "CREATED_AT": lambda item: item.id,
        "UPDATED_AT": lambda item: (item.updated_at, item.id),
        "COMMENTS": lambda item: (comments(item), item.id),
    }
    field = "CREATED_AT" if order is None else order["field"]
    is_descending = order is not None and order["direction"] == "DESC"
    return sorted(items, key=keys[field], reverse=is_descending)


def by_name(order: Ordering) -> tuple[bool, bool]:
    """Whether to order by name instead of by creation, and whether descending."""
    return (False, False) if order is None else (order["field"] != "CREATED_AT", order["direction"] == "DESC")


def wanted_issues(
    issues: Iterable[Issue],
    *,
    states: Sequence[str] | None,
    label_ids: frozenset[int] | None,
) -> list[Issue]:
    """The issues in one of the states (None: any) that carry one of the labels (None: whatever they carry)."""
    return [
        issue
        for issue in issues
        if issue.pull is None
        and (not states or issue.state.upper() in states)
        and (label_ids is None or label_ids.intersection(issue.label_ids))
    ]


def wanted_pulls(
    pulls: Iterable[Issue],
    *,
    states: Sequence[str] | None,
    label_ids: frozenset[int] | None = None,
    head: str | None = None,
    base: str | None = None,
) -> list[Issue]:
    """The pull requests in one of the states, with one of the labels, of that head and base branch."""
    return [
        pull
        for pull in pulls
        if pull.pull is not None
        and (not states or pull_state(pull) in states)
        and (label_ids is None or label_ids.intersection(pull.label_ids))
        and (head is None or pull.pull.head_branch == head)
        and (base is None or pull.pull.base_branch == base)
    ]
