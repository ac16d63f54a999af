"""Which issues and pull requests a listing contains, and in which order."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.request import Request
from cogworks.hub.records import Issue, Label, Milestone
from cogworks.hub.refusals import Unprocessable

Ordering = Mapping[str, str] | None
"""GraphQL's `orderBy`: `field` and `direction`."""
Narrowing = Mapping[str, Callable[[Issue, Any, Request], bool]]
"""Argument -> whether an item fits its value; an argument that is not given fits everything."""


def pull_state(pull: Issue) -> str:
    """GraphQL's state of a pull request: merged is a state of its own."""
    if pull.pull is not None and pull.pull.merged_at is not None:
        return "MERGED"
    return pull.state.upper()


def by_name(order: Ordering) -> tuple[bool, bool]:
    """Whether to order by name instead of by creation, and whether descending."""
    return (False, False) if order is None else (order["field"] != "CREATED_AT", order["direction"] == "DESC")


def _login(user_id: int, request: Request) -> str:
    return request.world.user(user_id).login.lower()


def _wears(item: Issue, names: list[str], request: Request) -> bool:
    """Whether it carries one of the labels, whatever the case of their names."""
    worn = request.once(("labels", item.id), lambda: request.store.many(Label, item.label_ids))
    return not {label.name.lower() for label in worn}.isdisjoint(name.lower() for name in names)


def _is_assigned(item: Issue, login: str | None, request: Request) -> bool:
    """Null asks for those nobody is assigned to, `*` for those somebody is."""
    logins = {_login(user_id, request) for user_id in item.assignee_ids}
    return bool(logins) is (login == "*") if login in {None, "*"} else str(login).lower() in logins


def _is_planned(item: Issue, milestone: str | None, _request: Request) -> bool:
    """By the database id of a milestone; null asks for none, `*` for any."""
    if milestone in {None, "*"}:
        return (item.milestone_id is not None) is (milestone == "*")
    return str(item.milestone_id) == milestone


def _is_planned_by_number(item: Issue, number: str | None, request: Request) -> bool:
    milestone = request.store.get(Milestone, item.milestone_id)
    return (None if milestone is None else str(milestone.number)) == number


_ISSUES: Narrowing = {
    "states": lambda item, states, _: item.state.upper() in states,
    "labels": _wears,
    "created_by": lambda item, login, request: _login(item.author_id, request) == str(login).lower(),
    "assignee": _is_assigned,
    "milestone": _is_planned,
    "milestone_number": _is_planned_by_number,
    "since": lambda item, since, _: item.updated_at >= since,
}
_PULLS: Narrowing = {
    "states": lambda item, states, _: pull_state(item) in states,
    "labels": _wears,
    "head_ref_name": lambda item, name, _: item.pull is not None and item.pull.head_branch == name,
    "base_ref_name": lambda item, name, _: item.pull is not None and item.pull.base_branch == name,
}
_NULL_MEANS_NONE = frozenset({"assignee", "milestone", "milestone_number"})


def issue_page(items: Iterable[Issue], request: Request, arguments: Mapping[str, Any]) -> Connection[Issue]:
    """The issues among `items` that the arguments of a listing ask for; pull requests are passed over.

    Raises:
        Unprocessable: a filter asks for what the hub does not keep, so that any answer would be wrong.
    """
    filters = dict(arguments.get("filter_by") or {})
    for name in ("mentioned", "viewer_subscribed"):
        if filters.pop(name, None):
            raise Unprocessable(f"The hub cannot filter issues by `{name}`: it does not keep that")
    wanted = {
        **filters,
        **{name: arguments.get(name) for name in ("states", "labels") if arguments.get(name)},
    }
    issues = [item for item in items if item.pull is None and _fits(item, wanted, _ISSUES, request)]
    return _page(issues, request, arguments)


def pull_page(items: Iterable[Issue], request: Request, arguments: Mapping[str, Any]) -> Connection[Issue]:
    """The pull requests among `items` that the arguments of a listing ask for; issues are passed over."""
    pulls = [item for item in items if item.pull is not None and _fits(item, arguments, _PULLS, request)]
    return _page(pulls, request, arguments)


def _fits(item: Issue, wanted: Mapping[str, Any], narrowing: Narrowing, request: Request) -> bool:
    return all(
        fits(item, wanted[name], request)
        for name, fits in narrowing.items()
        if name in wanted and (wanted[name] or name in _NULL_MEANS_NONE)
    )


def _page(items: list[Issue], request: Request, arguments: Mapping[str, Any]) -> Connection[Issue]:
    """By creation unless `order_by` says otherwise; ties keep the order of creation."""
    keys: dict[str, Callable[[Issue], Any]] = {
        "CREATED_AT": lambda item: item.id,
        "UPDATED_AT": lambda item: (item.updated_at, item.id),
        "COMMENTS": lambda item: (len(request.comments(item)), item.id),
    }
    order: Ordering = arguments.get("order_by")
    field, direction = ("CREATED_AT", "ASC") if order is None else (order["field"], order["direction"])
    ordered = sorted(items, key=keys[field], reverse=direction == "DESC")
    return connect(ordered, dict(arguments), key=lambda item: item.id)
