"""What an HTTP response of the GraphQL endpoint means: an answer, a wait, a redirect or a failure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from cogworks.errors import CogworksError, PermissionRefused, UsageError
from cogworks.forge.facts import RateLimit
from cogworks.github.documents import Answer, GraphQLProblem, ResourceLimitsExceeded, is_internal, is_limited
from cogworks.leaving import masked

_MAX_EPOCH_S = 4e9
REDIRECTS = frozenset({301, 302, 307, 308})


@dataclass(frozen=True)
class Answered:
    """The document was carried out, perhaps in part."""

    answer: Answer


@dataclass(frozen=True)
class Moved:
    """Ask the same thing of another address."""

    location: str


@dataclass(frozen=True)
class Limited:
    """Too many requests; nothing was done."""

    message: str
    wait_s: float | None
    """How long GitHub says to wait; None when it does not say."""


@dataclass(frozen=True)
class Unauthorised:
    """The token is not, or no longer, valid."""

    message: str


@dataclass(frozen=True)
class Broken:
    """GitHub or something before it broke down; a write may or may not have happened."""

    message: str
    is_cut_short: bool = False
    """502 or 504: perhaps the document takes too long."""


@dataclass(frozen=True)
class Unsent:
    """The request never reached the server."""

    message: str


@dataclass(frozen=True)
class Refused:
    """A definite no."""

    error: CogworksError


Verdict = Answered | Moved | Limited | Unauthorised | Broken | Unsent | Refused


def judge(status: int, headers: Mapping[str, str], body: bytes, *, url: str) -> Verdict:
    """The meaning of one response. `headers` must be looked up by lower-case names."""
    if status == 200:
        return _judge_ok(headers, body, url)
    problem = f"{url} answered {status}: {_message(body)}"
    if status in REDIRECTS:
        location = headers.get("location")
        return Moved(location) if location else Broken(f"{problem}, without saying where to go")
    if status == 401:
        return Unauthorised(problem)
    if status in (403, 429):
        return judge_forbidden(status, headers, _message(body), problem)
    if status in (404, 405):
        return Refused(UsageError(f"{problem}. This is not a GraphQL endpoint; check `GITHUB_GRAPHQL_URL`."))
    if status == 410:
        return Refused(UsageError(f"{problem}. It was deleted or switched off; there is nothing to work on."))
    if status >= 500 or status == 408:
        return Broken(problem, is_cut_short=status in (502, 504))
    return Refused(
        CogworksError(
            f"{problem}. GitHub does not accept the request as cogworks sends it; please report this."
        )
    )


def _judge_ok(headers: Mapping[str, str], body: bytes, url: str) -> Verdict:
    try:
        content = json.loads(body)
    except ValueError:
        return Broken(f"{url} answered 200 with something that is not JSON")
    if not isinstance(content, dict) or not ("data" in content or "errors" in content):
        return Broken(f"{url} answered 200 with neither `data` nor `errors`")
    server_date = server_date_of(headers)
    if server_date is None:
        return Broken(
            f"{url} answered without a readable `Date` header, by which cogworks measures the age of leases"
        )
    data, errors = content.get("data") or {}, content.get("errors") or []
    if not isinstance(data, dict) or not isinstance(errors, list):
        return Broken(f"{url} answered 200 with a `data` or `errors` of another kind than asked for")
    problems = tuple(_problem(entry) for entry in errors)
    return _judge_problems(problems, headers, url, data) or Answered(
        Answer(data=data, errors=problems, server_date=server_date, rate=_rate(data, headers))
    )


def _judge_problems(
    problems: tuple[GraphQLProblem, ...], headers: Mapping[str, str], url: str, data: Mapping[str, Any]
) -> Verdict | None:
    # A part that was done must reach the caller, whatever befell the rest.
    if any(value is not None for alias, value in data.items() if alias != "rateLimit"):
        return None
    for problem in problems:
        text = f"{url} answered {problem.type or 'an error'}: {problem.message}"
        if is_limited(problem):
            return Limited(text, _wait_s(headers))
        if problem.type == "RESOURCE_LIMITS_EXCEEDED":
            return Refused(
                ResourceLimitsExceeded(
                    f"{text}. The query is too large for GitHub; run the step again later."
                )
            )
        if is_internal(problem):
            return Broken(text)
    return None


def judge_forbidden(status: int, headers: Mapping[str, str], message: str, problem: str) -> Limited | Refused:
    """The meaning of 403 and 429: a limit to wait for, or a permission that is missing."""
    text = message.lower()
    used_up = headers.get("x-ratelimit-remaining") == "0"
    secondary = (
        status == 429 or "retry-after" in headers or "secondary rate" in text or "abuse detection" in text
    )
    if used_up or secondary or "rate limit exceeded" in text:
        return Limited(problem, _wait_s(headers))
    needed = headers.get("x-accepted-github-permissions")
    remedy = f"Grant the token {needed}" if needed else "Grant the token the missing permission"
    if sso := headers.get("x-github-sso"):
        remedy = f"Authorise the token for single sign-on ({sso})"
    return Refused(PermissionRefused(f"{problem}. {remedy} and run the step again."))


def _wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds until GitHub wants to be asked again, by its own clock."""
    retry_after = _number(headers.get("retry-after"))
    if retry_after is not None:
        return max(retry_after, 0.0)
    reset = _number(headers.get("x-ratelimit-reset"))
    now = server_date_of(headers)
    if headers.get("x-ratelimit-remaining") != "0" or reset is None or now is None:
        return None
    # One second more: the reset is given in whole seconds.
    return max(reset - now.timestamp(), 0.0) + 1.0


def server_date_of(headers: Mapping[str, str]) -> datetime | None:
    """The server's clock in UTC, None when the header is absent or unreadable."""
    try:
        date = parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError):
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < 1e12 else None


def _rate(data: Mapping[str, Any], headers: Mapping[str, str]) -> RateLimit | None:
    rate = data.get("rateLimit")
    whole = _number(headers.get("x-ratelimit-limit"))
    limit = None if whole is None else int(whole)
    if isinstance(rate, dict) and isinstance(rate.get("remaining"), int):
        cost = rate.get("cost")
        return RateLimit(
            remaining=rate["remaining"],
            reset_at=_moment(rate.get("resetAt")),
            cost=cost if isinstance(cost, int) else None,
            limit=limit,
        )
    remaining, reset = (
        _number(headers.get("x-ratelimit-remaining")),
        _number(headers.get("x-ratelimit-reset")),
    )
    if remaining is None:
        return None
    known = reset is not None and 0 <= reset < _MAX_EPOCH_S
    reset_at = datetime.fromtimestamp(reset, UTC) if known and reset is not None else None
    return RateLimit(int(remaining), reset_at, limit=limit)


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _problem(entry: Any) -> GraphQLProblem:
    if not isinstance(entry, dict):
        return GraphQLProblem((), "", str(entry))
    extensions = entry.get("extensions")
    extensions = extensions if isinstance(extensions, dict) else {}
    kind = entry.get("type") or extensions.get("code") or extensions.get("type") or ""
    # A document that does not fit the schema has a path through the document, not through the data.
    path = entry.get("path")
    if ("code" in extensions and "type" not in entry) or not isinstance(path, list):
        path = []
    steps = tuple(part if isinstance(part, int) else str(part) for part in path)
    return GraphQLProblem(steps, str(kind), masked(str(entry.get("message", ""))))


def _message(body: bytes) -> str:
    """What the body says, in at most 300 characters of one line."""
    text = body.decode("utf-8", "replace").strip()
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if isinstance(content, dict) and isinstance(content.get("message"), str):
        text = content["message"]
    return masked(" ".join(text.split()))[:300].rstrip(".") or "an empty body"
