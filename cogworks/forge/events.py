"""Which work item an event on GitHub is about, and whether it is worth a step."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cogworks.forge.bodies import parse_marker
from cogworks.vocabulary import Value

Payload = Mapping[str, Any]

_VIEWS = ("cogworks:node:", "cogworks:kind:", "cogworks:awaiting-review")
_WORK_BRANCH = re.compile(r"cogworks/(?P<number>[1-9]\d{0,9})/.+")
_PART_OF = re.compile(r"\bPart of #(?P<number>[1-9]\d{0,9})\b")
_OF_CHECKS = ("check_suite", "check_run", "workflow_run")


class About(Value):
    """The event concerns this work item."""

    issue_url: str


class Ignored(Value):
    """Nothing is to be done."""

    reason: str


def about(event: str, payload: Payload, *, trigger: str) -> About | Ignored:
    """The work item of an event.

    Args:
        event: GitHub's name of it, e.g. `issue_comment`.
        payload: as GitHub sends it to webhooks and workflows; every text in it is somebody else's.
        trigger: the label that asks for the work; an event of an issue without it is ignored.
    """
    if view := _view(payload):
        return Ignored(reason=view)
    issue = payload.get("issue")
    if isinstance(issue, Mapping) and not issue.get("pull_request"):
        return _about_issue(issue, trigger)
    number = _number(event, payload)
    if number is None:
        return Ignored(reason=f"the event {event!r} is not about a work item")
    return About(issue_url=f"{payload['repository']['html_url']}/issues/{number}")


def actor_id(payload: Payload) -> int | None:
    """The App that caused the event, by its user's id; None for a person, who may use the same token as cogworks."""
    sender = payload.get("sender") or {}
    return sender.get("id") if sender.get("type") == "Bot" else None


def _view(payload: Payload) -> str:
    """Why this is only a trace of our own work; `""` where it is not."""
    label = (payload.get("label") or {}).get("name") or ""
    if label.startswith(_VIEWS):
        return f"the label {label!r} is a view"
    body = (payload.get("comment") or {}).get("body") or ""
    return "the comment is one of cogworks' own" if parse_marker(body) else ""


def _about_issue(issue: Payload, trigger: str) -> About | Ignored:
    number, labels = issue["number"], {label["name"] for label in issue.get("labels") or ()}
    if issue.get("state") == "closed":
        return Ignored(reason=f"#{number} is closed")
    if trigger not in labels:
        return Ignored(reason=f"#{number} does not carry the label {trigger!r}")
    return About(issue_url=issue["html_url"])


def _number(event: str, payload: Payload) -> int | None:
    input_number = (payload.get("inputs") or {}).get("issue") or (payload.get("client_payload") or {}).get(
        "issue"
    )
    if input_number is not None and event in ("workflow_dispatch", "repository_dispatch"):
        return int(input_number) if re.fullmatch(r"[1-9]\d{0,9}", str(input_number)) else None
    for branch in _own_branches(event, payload):
        if match := _WORK_BRANCH.fullmatch(branch):
            return int(match["number"])
    # The event of a comment on a pull request has its text, not its branch.
    part_of = _PART_OF.search((payload.get("issue") or {}).get("body") or "")
    return int(part_of["number"]) if part_of else None


def _own_branches(event: str, payload: Payload) -> Iterator[str]:
    """The heads of the event's pull requests; a fork's never count."""
    pull = payload.get("pull_request")
    if isinstance(pull, Mapping):
        head = pull.get("head") or {}
        if (head.get("repo") or {}).get("full_name") == payload["repository"]["full_name"]:
            yield head["ref"]
    if event == "status":
        # A commit's status names the branches of this repository that the commit is on.
        for branch in payload.get("branches") or ():
            yield branch["name"]
    if event in _OF_CHECKS:
        for each in (payload.get(event) or {}).get("pull_requests") or ():
            head = each["head"]
            if (head.get("repo") or {}).get("id") == payload["repository"]["id"]:
                yield head["ref"]
