"""What the owner of a running hub may do to it: faults, clock, snapshots, the journal and held requests."""

import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from cogworks.errors import ConfigurationError
from cogworks.hub.clock import SystemClock, http_date, iso
from cogworks.hub.fault_middleware import Controls
from cogworks.hub.faults import plan_from_object
from cogworks.hub.git_http import basic_token
from cogworks.hub.journal import Entry
from cogworks.hub.refusals import BadRequest, Refusal, Unauthenticated, Unprocessable
from cogworks.hub.rest.dispatch import json_response, refusal_response
from cogworks.hub.snapshots import Snapshots
from cogworks.hub.store import ADMIN

MAX_WAIT_S = 600.0
_Act = Callable[[Request], Awaitable[Any]]


class Admin:
    """The endpoints below `/_hub/`; every one needs the administrator's token."""

    def __init__(self, controls: Controls, snapshots: Snapshots, clock: SystemClock, token: str) -> None:
        self._desk = controls
        self._snapshots = snapshots
        self._clock = clock
        self._token = token

    async def show_faults(self, _request: Request) -> Any:
        return self._played()

    async def put_faults(self, request: Request) -> Any:
        try:
            plan = plan_from_object(await _json(request), source="the fault plan")
        except ConfigurationError as error:
            raise Unprocessable(str(error)) from error
        self._desk.play(plan)
        return self._played()

    async def drop_faults(self, _request: Request) -> Any:
        self._desk.play(plan_from_object({}, source="nothing"))
        return self._played()

    def _played(self) -> Any:
        faults = self._desk.faults
        return {
            "faults": [
                {**rule.model_dump(mode="json", exclude_unset=True), "seen": seen, "struck": struck}
                for rule, (seen, struck) in zip(faults.plan.faults, faults.standing(), strict=True)
            ]
        }

    async def show_requests(self, _request: Request) -> Any:
        return _listed(list(self._desk.journal.entries))

    async def drop_requests(self, _request: Request) -> Any:
        self._desk.journal.clear()
        return _listed([])

    async def show_held(self, request: Request) -> Any:
        wait_s = _number(request.query_params.get("wait_s", "0"), "wait_s")
        return _listed(await self._desk.holding.held(min(max(wait_s, 0.0), MAX_WAIT_S)))

    async def release_held(self, _request: Request) -> Any:
        return {"released": await self._desk.holding.release()}

    async def show_clock(self, _request: Request) -> Any:
        return {"now": iso(self._clock.now()), "offset_s": self._clock.offset.total_seconds()}

    async def move_clock(self, request: Request) -> Any:
        body = await _json(request)
        if not isinstance(body, dict) or set(body) != {"advance_s"}:
            raise Unprocessable('wanted {"advance_s": <seconds>}')
        self._clock.advance(_number(body["advance_s"], "advance_s"))
        return await self.show_clock(request)

    async def show_snapshots(self, _request: Request) -> Any:
        return {"snapshots": await run_in_threadpool(self._snapshots.names)}

    async def take_snapshot(self, request: Request) -> Any:
        return await self._alone(self._snapshots.take, request)

    async def restore_snapshot(self, request: Request) -> Any:
        return await self._alone(self._snapshots.restore, request)

    async def remove_snapshot(self, request: Request) -> Any:
        return await self._alone(self._snapshots.remove, request)

    async def _alone(self, act: Callable[[str], None], request: Request) -> Any:
        name = str(request.path_params["name"])
        async with self._desk.gate.closed():
            await run_in_threadpool(act, name)
        return {"snapshot": name}

    def guarded(self, act: _Act) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of one act: who may not, or asks for nonsense, gets GitHub's error object."""

        async def answer(request: Request) -> Response:
            headers = {"date": http_date(self._clock.now())}
            try:
                given = basic_token(request.headers.get("authorization")) or ""
                if not hmac.compare_digest(given.encode(), self._token.encode()):
                    raise Unauthenticated(f"This needs the token in {ADMIN} of the hub's directory")
                return json_response(200, await act(request), headers)
            except Refusal as refusal:
                return refusal_response(refusal, headers)

        return answer


def admin_app(admin: Admin) -> Starlette:
    """The application below `/_hub`."""
    table: list[tuple[str, str, _Act]] = [
        ("GET", "/faults", admin.show_faults),
        ("PUT", "/faults", admin.put_faults),
        ("DELETE", "/faults", admin.drop_faults),
        ("GET", "/requests", admin.show_requests),
        ("DELETE", "/requests", admin.drop_requests),
        ("GET", "/held", admin.show_held),
        ("DELETE", "/held", admin.release_held),
        ("GET", "/clock", admin.show_clock),
        ("POST", "/clock", admin.move_clock),
        ("GET", "/snapshots", admin.show_snapshots),
        ("POST", "/snapshots/{name}", admin.take_snapshot),
        ("POST", "/snapshots/{name}/restore", admin.restore_snapshot),
        ("DELETE", "/snapshots/{name}", admin.remove_snapshot),
    ]
    routes = [Route(path, admin.guarded(act), methods=[method]) for method, path, act in table]
    return Starlette(routes=[Mount("/_hub", routes=routes)])


def _listed(entries: list[Entry]) -> Any:
    return {"requests": [entry.shown() for entry in entries], "points": sum(e.points for e in entries)}


async def _json(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except ValueError as error:
        raise BadRequest("Problems parsing JSON") from error


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise Unprocessable(f"{name} is {value!r}; wanted a number of seconds") from error
