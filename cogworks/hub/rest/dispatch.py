"""From an HTTP request to a REST handler and back: authentication, limits, conditional requests, errors."""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from cogworks.hub.actions.access import ANONYMOUS, Actor, authenticate
from cogworks.hub.clock import http_date
from cogworks.hub.git_http import basic_token
from cogworks.hub.refusals import BadRequest, NotFound, RateLimited, Refusal, Unprocessable
from cogworks.hub.rest.described import MANY_SEGMENTS, Described, refusal_of, rival_refusal
from cogworks.hub.rest.exchange import Answer, Call, Handler
from cogworks.hub.world import World

API_ROOT = "/api/v3"
_DOCUMENTATION = "https://docs.github.com/rest"
_READ_WITH: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("branches", "commits", "compare", "contents", "git", "readme"), ("contents",)),
    **dict.fromkeys(("check-runs", "check-suites"), ("checks",)),
    **dict.fromkeys(("status", "statuses"), ("statuses",)),
    **dict.fromkeys(("issues", "labels", "milestones"), ("issues", "pull_requests")),
    "pulls": ("pull_requests",),
    "jobs": ("actions",),
}
"""The word in a path that says what is read -> the app permissions any one of which lets a token do so."""
_UNCOUNTED = frozenset({"/rate_limit"})
_request_numbers = itertools.count(1)


def template(path: str) -> str:
    """The router's form of an OpenAPI path: refs, paths, branches and label names may hold slashes."""
    return re.sub(
        r"\{(\w+)\}", lambda match: f"{{{match[1]}:path}}" if match[0] in MANY_SEGMENTS else match[0], path
    )


def read_with(path: str) -> tuple[str, ...]:
    """The app permissions that let a token read what an OpenAPI path leads to; none are asked for other things."""
    words = path.partition("/repos/{owner}/{repo}/")[2].split("/")
    # The checks of a commit are read with the permission for checks, not with that for the commit.
    if words[0] == "actions":
        words = words[1:]
    subject = words[-1] if words[0] == "commits" and words[-1] in _READ_WITH else words[0]
    return _READ_WITH.get(subject, ())


def api_path(path: str) -> str:
    """A request's path below the root of the API: REST is at `/api/v3` and at `/`."""
    return path.removeprefix(API_ROOT) or "/"


class RestEndpoint:
    """All operations of one path."""

    def __init__(
        self, world: World, path: str, handlers: Mapping[str, Handler], rivals: Sequence[Described] = ()
    ) -> None:
        self._world = world
        self._path = path
        self._handlers = handlers
        self._rivals = rivals

    async def answer(self, request: Request) -> Response:
        raw = await request.body()
        return await run_in_threadpool(self._respond, request, raw)

    def _respond(self, request: Request, raw: bytes) -> Response:
        world = self._world
        actor: Actor | None = None
        resource = "search" if self._path.startswith("/search") else "core"
        try:
            actor = authenticate(world, basic_token(request.headers.get("authorization")))
            handler = self._handler(request.method, api_path(request.url.path))
            if self._path not in _UNCOUNTED:
                world.limits.check(actor.caller, resource)  # before anything is written
            answer = handler(self._call(request, actor, raw))
            etag = (
                _etag(actor, answer) if request.method in ("GET", "HEAD") and answer.status == 200 else None
            )
            if etag is not None and etag in request.headers.get("if-none-match", ""):
                # An unchanged answer costs nothing of the hour's budget.
                return Response(
                    status_code=304, headers={**standard_headers(world, actor, resource), "etag": etag}
                )
            if self._path not in _UNCOUNTED:
                world.limits.spend(actor.caller, resource)
        except Refusal as refusal:
            return refusal_response(refusal, standard_headers(world, actor, resource))
        headers = {**standard_headers(world, actor, resource), **answer.headers}
        if etag is not None:
            headers |= {"etag": etag, "cache-control": "private, max-age=60, s-maxage=60"}
        if answer.raw is not None:
            return Response(
                answer.raw, answer.status, headers=headers, media_type="text/plain; charset=utf-8"
            )
        return json_response(answer.status, answer.body, headers)

    def _handler(self, method: str, path: str) -> Handler:
        """Raises the refusal of an operation that is not there."""
        handler = self._handlers.get("GET" if method == "HEAD" else method)
        refusal = refusal_of(method, path) if handler is None else rival_refusal(method, path, self._rivals)
        if handler is None or refusal is not None:
            raise refusal or NotFound
        return handler

    def _call(self, request: Request, actor: Actor, raw: bytes) -> Call:
        return Call(
            world=self._world,
            actor=actor,
            path={name: str(value) for name, value in request.path_params.items()},
            query=dict(request.query_params),
            body=parsed_json(raw) if raw.strip() else None,
            url=f"{self._world.base_url}{request.url.path}",
            accept=request.headers.get("accept", ""),
            reads=read_with(self._path) if request.method in ("GET", "HEAD") else (),
        )


def parsed_json(raw: bytes) -> Any:
    """What the bytes say. Raises `BadRequest`, also for half of a surrogate pair, which is no text."""
    try:
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False).encode()
    except ValueError as error:
        raise BadRequest("Problems parsing JSON") from error
    return body


def _etag(actor: Actor, answer: Answer) -> str:
    """Bound to the token, as GitHub's are: another token never revalidates it."""
    content = answer.raw or json.dumps(answer.body, sort_keys=True).encode()
    token = "" if actor.token is None else actor.token.sha256
    return f'W/"{hashlib.sha256(content + token.encode()).hexdigest()}"'


def standard_headers(world: World, actor: Actor | None, resource: str) -> dict[str, str]:
    """What every answer carries: date, request id, and how much of the hour's budget is left."""
    left = world.limits.allowance((actor or ANONYMOUS).caller, resource)
    return {
        "date": http_date(world.clock.now()),
        "x-github-request-id": f"{next(_request_numbers):08X}",
        "x-github-media-type": "github.v3; format=json",
        "x-ratelimit-limit": str(left.limit),
        "x-ratelimit-remaining": str(left.remaining),
        "x-ratelimit-used": str(left.used),
        "x-ratelimit-reset": str(int(left.reset_at.timestamp())),
        "x-ratelimit-resource": resource,
    }


def json_response(status: int, body: Any, headers: Mapping[str, str]) -> Response:
    """A JSON answer; no body at all where there is none (204)."""
    if body is None:
        return Response(status_code=status, headers=dict(headers))
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # A path or a diff may hold bytes that are no UTF-8; JSON cannot.
    encoded = content.encode("utf-8", "replace")
    return Response(encoded, status, headers=dict(headers), media_type="application/json; charset=utf-8")


def refusal_response(refusal: Refusal, headers: Mapping[str, str]) -> Response:
    """GitHub's error object for a refusal."""
    body: dict[str, Any] = {"message": refusal.message}
    if isinstance(refusal, Unprocessable) and refusal.errors:
        body["errors"] = list(refusal.errors)
    body |= {"documentation_url": _DOCUMENTATION, "status": str(refusal.status)}
    extra = {"retry-after": "60"} if isinstance(refusal, RateLimited) else {}
    if refusal.status == 401:
        extra["www-authenticate"] = 'Basic realm="GitHub"'
    return json_response(refusal.status, body, {**headers, **extra})
