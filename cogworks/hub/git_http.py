"""Git over HTTP: `git http-backend` as a CGI process, with GitHub's idea of who may read and push."""

import asyncio
import base64
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from cogworks.hub.actions.access import (
    ANONYMOUS,
    Actor,
    authenticate,
    find_repository,
    require,
    require_sight,
)
from cogworks.hub.actions.refs import reconcile
from cogworks.hub.clock import http_date
from cogworks.hub.gitobjectstore import git_program
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Repository
from cogworks.hub.refusals import NotFound, Refusal, Unauthenticated
from cogworks.hub.world import World

SERVICES = ("git-upload-pack", "git-receive-pack")
TAILS = ("info/refs", *SERVICES)
"""What git asks for below a repository's URL."""
_CHUNK = 64 * 1024


def basic_token(header: str | None) -> str | None:
    """The token of an `Authorization` header: the password of Basic, or what follows Bearer or token.

    A Basic header with the token as user name and an empty password counts too.
    """
    scheme, _, value = (header or "").partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return value.strip() or None
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(value).decode().partition(":")
    except ValueError:
        return None
    return password if password and password != "x-oauth-basic" else user or None  # noqa: S105 - GitHub's fixed word


@dataclass(frozen=True)
class Admitted:
    """Somebody who may run a service in a repository."""

    actor: Actor
    repository: Repository


class GitEndpoint:
    """The ASGI endpoint of `/<owner>/<name>[.git]/<tail>`, for one of `TAILS`."""

    def __init__(self, world: World, tail: str) -> None:
        self._world = world
        self._tail = tail

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        service = self._service(request)
        if service is None:
            await self._plain(404, "Not Found")(scope, receive, send)
            return
        try:
            admitted = await run_in_threadpool(self._admit, request, service)
        except Refusal as refusal:
            await self._refuse(refusal)(scope, receive, send)
            return
        await self._serve(request, service, admitted, send)

    def _service(self, request: Request) -> str | None:
        if self._tail == "info/refs" and request.method == "GET":
            wanted = request.query_params.get("service", "")
            return wanted if wanted in SERVICES else None
        return self._tail if self._tail in SERVICES and request.method == "POST" else None

    def _admit(self, request: Request, service: str) -> Admitted:
        """Raises `Unauthenticated` so that git asks for a password, `NotFound` and `Forbidden` as GitHub does."""
        world = self._world
        token = basic_token(request.headers.get("authorization"))
        actor = ANONYMOUS if token is None else authenticate(world, token)
        owner, name = request.path_params["owner"], request.path_params["name"]
        try:
            repository = find_repository(world, actor, owner, str(name).removesuffix(".git"))
        except NotFound as refusal:
            # Whether a private repository exists is nobody's business: an anonymous request must log in first.
            raise refusal if actor.user is not None else Unauthenticated from None
        require_sight(actor, repository, "contents")
        if service == "git-receive-pack":
            require(world, actor, repository, Role.WRITE, "contents")
        return Admitted(actor=actor, repository=repository)

    def _refuse(self, refusal: Refusal) -> Response:
        response = self._plain(refusal.status, refusal.message)
        if isinstance(refusal, Unauthenticated):
            response.headers["www-authenticate"] = 'Basic realm="GitHub"'
        return response

    def _plain(self, status: int, text: str) -> Response:
        return PlainTextResponse(text + "\n", status, headers={"date": http_date(self._world.clock.now())})

    async def _serve(self, request: Request, service: str, admitted: Admitted, send: Send) -> None:
        process = await asyncio.create_subprocess_exec(
            git_program(),
            "http-backend",
            env=self._environment(request, admitted),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        feeding = asyncio.create_task(_feed(request, process))
        is_relayed = False
        try:
            await self._relay(request, service, admitted, process, send)
            is_relayed = True
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            # All of its output was read: it ends by itself, and its end is only not known yet.
            if not is_relayed:
                _kill(process)
            await process.wait()

    async def _relay(
        self,
        request: Request,
        service: str,
        admitted: Admitted,
        process: asyncio.subprocess.Process,
        send: Send,
    ) -> None:
        if process.stdout is None:  # impossible with PIPE; tells the type checker
            return
        status, headers = await _cgi_headers(process.stdout)
        headers.append((b"date", http_date(self._world.clock.now()).encode()))
        if request.method == "POST" and service == "git-receive-pack":
            # The answer of a push is short. It waits until pull requests know the new tips, so that a client that
            # sees the push succeed sees its effects too.
            body = await process.stdout.read()
            await process.wait()
            await run_in_threadpool(reconcile, self._world, admitted.repository, admitted.actor.known.id)
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        await send({"type": "http.response.start", "status": status, "headers": headers})
        while chunk := await process.stdout.read(_CHUNK):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _environment(self, request: Request, admitted: Admitted) -> dict[str, str]:
        headers = request.headers
        environment = {
            **self._world.git.environment,
            "GIT_PROJECT_ROOT": str(self._world.git.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{admitted.repository.full_name.lower()}.git/{self._tail}",
            "QUERY_STRING": request.url.query,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "REMOTE_ADDR": "127.0.0.1",
            "REMOTE_USER": "" if admitted.actor.user is None else admitted.actor.user.login,
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        }
        if "content-length" in headers:  # absent for a chunked body; git then reads to the end
            environment["CONTENT_LENGTH"] = headers["content-length"]
        if not admitted.actor.holds("workflows"):
            environment["HUB_REFUSES_WORKFLOWS"] = "1"
        return environment


async def _feed(request: Request, process: asyncio.subprocess.Process) -> None:
    """Pass the request's body on. A reader that stops early (git refused) is no fault of ours."""
    if process.stdin is None:  # impossible with PIPE; tells the type checker
        return
    try:
        async for chunk in request.stream():
            process.stdin.write(chunk)
            await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()
    except ClientDisconnect:
        _kill(process)
    except (BrokenPipeError, ConnectionResetError):
        return


def _kill(process: asyncio.subprocess.Process) -> None:
    # Not `process.kill()`: it looks first whether the process has ended, and takes that news away from asyncio's own
    # watcher, which then complains of an unknown child.
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


async def _cgi_headers(stdout: asyncio.StreamReader) -> tuple[int, list[tuple[bytes, bytes]]]:
    """Status and headers of a CGI answer; the reader is left at the first byte of the body."""
    status = 200
    headers: list[tuple[bytes, bytes]] = []
    while (line := (await stdout.readline()).strip()) != b"":
        name, _, value = line.partition(b":")
        if name.lower() == b"status":
            status = int(value.split()[0])
        else:
            headers.append((name.strip().lower(), value.strip()))
    if not headers and status == 200:
        return 500, [(b"content-type", b"text/plain")]
    return status, headers
