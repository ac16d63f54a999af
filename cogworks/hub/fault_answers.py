"""What a struck request is answered, and how a good answer is spoilt."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cogworks.hub.clock import http_date
from cogworks.hub.faults import Rule
from cogworks.hub.journal import Asked
from cogworks.hub.node_ids import parse_node_id
from cogworks.hub.records import COMMENT_ID_BASE

_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_PRIMARY = "API rate limit exceeded for this user."


@dataclass(frozen=True)
class Reply:
    """An answer that the hub's own handlers did not make."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def instead(rule: Rule, request: Asked, now: datetime) -> Reply:
    """The answer of a rule that keeps a request from being carried out."""
    match rule.kind:
        case "redirect":
            body = {"message": rule.message or "Moved Permanently", "url": rule.location}
            return _dated(rule.status or 307, body, now, location=rule.location)
        case "rate_limited":
            return _rate_limited(rule, now)
        case "rate_limited_200":
            error = {"type": "RATE_LIMITED", "message": rule.message or _PRIMARY}
            return _dated(200, {"errors": [error]}, now, **_used_up(rule, now))
        case "missing":
            return _missing(request, now)
        case _:
            return _dated(rule.status or 502, {"message": rule.message or "Server Error"}, now)


def spoilt(rule: Rule, body: Any) -> Any:
    """A GraphQL answer with an error at the rule's place, and null there; as it was where it has no such place."""
    if not isinstance(body, dict) or not isinstance(body.get("data"), dict):
        return body
    path = rule.at.split(".")
    data, is_there = _with_null(body["data"], path)
    if not is_there:
        return body
    error = {"type": rule.type, "path": path, "message": rule.message or "Resource not accessible"}
    return {**body, "data": data, "errors": [*body.get("errors", []), error]}


def _with_null(data: Any, path: list[str]) -> tuple[Any, bool]:
    if not isinstance(data, dict) or path[0] not in data:
        return data, False
    if len(path) == 1:
        return {**data, path[0]: None}, True
    inner, is_there = _with_null(data[path[0]], path[1:])
    return {**data, path[0]: inner}, is_there


@dataclass
class Replica:
    """A copy of the lists that lags: an entry made after it began is missing from its first `lag` reads."""

    newest_id: int
    """Every object up to this id is in all lists already."""
    _hidden: dict[tuple[str, int], int] = field(default_factory=dict)

    def seen_through(self, rule: Rule, request: Asked, body: Any) -> Any:
        """The answer as a lagging copy gives it. Counts (`totalCount`) come from elsewhere and are right."""
        if request.kind == "graphql":
            return self._walked(rule, body)
        tail = request.path.rpartition("/")[2]
        return self._shortened(rule, tail, body) if tail in rule.lists and isinstance(body, list) else body

    def _walked(self, rule: Rule, value: Any) -> Any:
        if isinstance(value, list):
            return [self._walked(rule, each) for each in value]
        if not isinstance(value, dict):
            return value
        walked = {name: self._walked(rule, each) for name, each in value.items()}
        for name in walked.keys() & set(rule.lists):
            page = walked[name]
            if isinstance(page, dict) and isinstance(page.get("nodes"), list):
                walked[name] = {**page, "nodes": self._shortened(rule, name, page["nodes"])}
        return walked

    def _shortened(self, rule: Rule, name: str, entries: list[Any]) -> list[Any]:
        return [entry for entry in entries if not self._is_hidden(rule, name, entry)]

    def _is_hidden(self, rule: Rule, name: str, entry: Any) -> bool:
        number = _record_id(entry)
        if number is None or number <= self.newest_id:
            return False
        reads = self._hidden.get((name, number), 0)
        self._hidden[name, number] = reads + 1
        return reads < rule.lag


def _record_id(entry: Any) -> int | None:
    """The number behind an entry's node id, without the offset that comments have."""
    text = (entry.get("node_id") or entry.get("id")) if isinstance(entry, dict) else None
    parsed = parse_node_id(text) if isinstance(text, str) else None
    if parsed is None or not parsed[1].isdigit():
        return None
    return sequence_of(int(parsed[1]))


def sequence_of(record_id: int) -> int:
    """The place of a record in the order of creation: comments' ids start beyond 32 bits."""
    return record_id - COMMENT_ID_BASE if record_id > COMMENT_ID_BASE else record_id


def _rate_limited(rule: Rule, now: datetime) -> Reply:
    headers = _used_up(rule, now) if rule.limit == "primary" else {}
    if rule.retry_after_s is not None:
        headers["retry-after"] = str(rule.retry_after_s)
    message = rule.message or (_PRIMARY if rule.limit == "primary" else _SECONDARY)
    return _dated(rule.status or 403, {"message": message}, now, **headers)


def _used_up(rule: Rule, now: datetime) -> dict[str, str]:
    reset = int((now + timedelta(seconds=rule.reset_in_s)).timestamp())
    return {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}


def _missing(request: Asked, now: datetime) -> Reply:
    if request.kind != "graphql":
        return _dated(404, {"message": "Not Found", "status": "404"}, now)
    errors = [
        {"type": "NOT_FOUND", "path": [name], "message": "Could not resolve to a node"}
        for name in request.fields
    ]
    return _dated(200, {"data": dict.fromkeys(request.fields), "errors": errors}, now)


def _dated(status: int, body: Any, now: datetime, **headers: str) -> Reply:
    return Reply(status, body, {"date": http_date(now), **headers})


def encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
