"""The logs of jobs as GitHub hands them out: behind an address that is signed, good for a minute, and wants no token."""

import hashlib
import hmac
from datetime import timedelta

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cogworks.hub.check_records import JobLog
from cogworks.hub.store import LOGS, kept_token
from cogworks.hub.world import World

VALID_S = 60
_ROOT = "/_logs/jobs"


def signed_address(world: World, log: JobLog) -> str:
    """Where anybody may read the log for a minute."""
    until = int((world.clock.now() + timedelta(seconds=VALID_S)).timestamp())
    return f"{world.base_url}{_ROOT}/{log.id}?until={until}&signature={_signature(world, log.id, until)}"


def log_routes(world: World) -> list[Route]:
    """The pages with the logs."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_answered, world, request)

    return [Route(f"{_ROOT}/{{job_id:int}}", answer, methods=["GET"])]


def _answered(world: World, request: Request) -> Response:
    if "authorization" in request.headers:
        # The storage behind GitHub refuses these as well: the address says who may read.
        return PlainTextResponse("InvalidAuthenticationInfo: the address is signed; send no token\n", 400)
    job_id, query = int(request.path_params["job_id"]), request.query_params
    until = int(query.get("until", "")) if query.get("until", "").isdecimal() else 0
    expected = _signature(world, job_id, until)
    is_ours = hmac.compare_digest(expected.encode(), query.get("signature", "").encode())
    log = world.store.get(JobLog, job_id)
    if not is_ours or until < world.clock.now().timestamp() or log is None:
        return PlainTextResponse("AuthenticationFailed: the address is not signed, or too old\n", 403)
    return PlainTextResponse(log.text)


def _signature(world: World, job_id: int, until: int) -> str:
    key = kept_token(world.directory, LOGS).encode()
    return hmac.new(key, f"{job_id}:{until}".encode(), hashlib.sha256).hexdigest()
