"""How the conformance suite reaches the service under examination, asks it, and what it makes of one answer."""

import json
import os
import socket
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator

from cogworks.domain_services.answers import Unusable, read_answer, read_response
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.messages import (
    Caller,
    Handshake,
    InterfaceContract,
    Repository,
    Request,
    Response,
    frame,
)
from cogworks.domain_services.operations import HANDSHAKE_LIMIT_S, OPERATIONS, Profile, response_schema
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import ServiceGone, ServiceRefused, ServiceSlow, Transport
from cogworks.vocabulary import Value

_FAREWELL_S = 3.0
_DYING_S = 0.2
_FAILURES = (ServiceGone, ServiceSlow, ServiceRefused)


class Heard(Value):
    """What came back for one request."""

    kind: Literal["answer", "closed", "silent", "refused"]
    """A line; no or half a line; nothing in time; turned away."""
    line: bytes = b""
    why: str = ""
    has_died: bool = False
    """Whether the service ended over it; only seen of one that cogworks started."""


class Subject:
    """One service, reached again whenever it broke off; close it."""

    def __init__(self, service: ServiceConfig, open_transport: Callable[[], Transport]) -> None:
        self.service = service
        self._open = open_transport
        self._transport: Transport | None = None

    def ask(self, method: str, line: bytes, *, limit_s: float) -> Heard:
        """Send one line, whatever it holds."""
        (heard,) = self.ask_together(method, [line], limit_s=limit_s)
        return heard

    def ask_together(self, method: str, lines: Sequence[bytes], *, limit_s: float) -> list[Heard]:
        """Send several lines at once, each as a caller of its own."""
        try:
            transport = self._reached()
        except _FAILURES as error:
            return [_unheard(error)] * len(lines)
        with ThreadPoolExecutor(len(lines)) as pool:
            answers = list(pool.map(lambda line: _heard(transport, method, line, limit_s), lines))
        # Not before everybody has heard something: a started service ends by it, and all its callers would hear that.
        if any(heard.kind in ("closed", "silent") for heard in answers):
            self.close()
        return answers

    def close(self) -> None:
        """Let go of it; a started service ends."""
        if self._transport is not None:
            self._transport.close()
        self._transport = None

    @property
    def socket_path(self) -> Path | None:
        """Where it listens on this machine; None: it is reached over HTTP."""
        if self.service.url:
            return None
        if self.service.socket:
            return Path(self.service.socket)
        transport = self._reached()
        return transport.socket_path if isinstance(transport, ServiceProcess) else None

    def socket_mode(self) -> int | None:
        """The permission bits of its socket; None: it has none."""
        path = self.socket_path
        return None if path is None else stat.S_IMODE(path.stat().st_mode)

    @contextmanager
    def connected(self, *, limit_s: float) -> Iterator[socket.socket]:
        """A connection of its own, over which nothing has been said.

        Raises:
            OSError: there is none to be had.
        """
        path = self.socket_path
        if path is not None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            parts = urlsplit(self.service.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            connection = socket.create_connection((parts.hostname or "", port), timeout=limit_s)
        with connection:
            connection.settimeout(limit_s)
            if path is not None:
                connection.connect(str(path))
            yield connection

    def end_politely(self) -> tuple[int | None, bool] | None:
        """Ask a service that cogworks started to end: exit code (None: it did not), and whether anything of it is left.

        None when somebody else started it.
        """
        transport = self._reached()
        if not isinstance(transport, ServiceProcess):
            return None
        code = transport.end_politely(within_s=_FAREWELL_S)
        left = False
        with suppress(ProcessLookupError):
            os.killpg(transport.pid, 0)
            left = True
        self.close()
        return code, left

    def _reached(self) -> Transport:
        if self._transport is None:
            self._transport = self._open()
        return self._transport


def _heard(transport: Transport, method: str, line: bytes, limit_s: float) -> Heard:
    try:
        return Heard(kind="answer", line=transport.exchange(method, line, limit_s=limit_s))
    except _FAILURES as error:
        heard = _unheard(error)
    if heard.kind == "closed" and isinstance(transport, ServiceProcess):
        return heard.model_copy(update={"has_died": transport.has_ended(within_s=_DYING_S)})
    return heard


def _unheard(error: ServiceGone | ServiceSlow | ServiceRefused) -> Heard:
    match error:
        case ServiceGone():
            return Heard(kind="closed", why=str(error))
        case ServiceSlow():
            return Heard(kind="silent", why=str(error))
        case ServiceRefused():
            return Heard(kind="refused", why=str(error))


class Finding(Value):
    """One way in which a service differs from the Extension API."""

    found: str
    remedy: str
    """What the author of the service does about it."""


class CheckResult(Value):
    """One check and what came of it."""

    check: str
    title: str
    status: Literal["passed", "failed", "skipped"]
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    """Why it was skipped."""


class Conformance(Value):
    """The whole examination of one service."""

    service: str
    results: tuple[CheckResult, ...]

    @property
    def is_conformant(self) -> bool:
        """Whether nothing was found."""
        return all(result.status != "failed" for result in self.results)

    @property
    def failed(self) -> tuple[str, ...]:
        """The checks that found something."""
        return tuple(result.check for result in self.results if result.status == "failed")


class Skipped(Exception):
    """A check that does not apply; its text says why."""


_FRAMING = (
    "Answer each request with exactly one JSON object on one line (over HTTP: as the body, with status 200)."
)


@dataclass(frozen=True)
class Sample:
    """A repository to ask about."""

    folder: Path
    artifacts: tuple[str, ...]
    """Files that are the service's business and in order."""
    broken: str = ""
    """A file in which `validate` must find something that blocks."""
    failing_test: str = ""
    """A test that must fail."""


@dataclass
class Exam:
    """One run of the suite; the handshake is learned on the way."""

    subject: Subject
    limit_s: float
    """For every method but the handshake."""
    handshake_limit_s: float = HANDSHAKE_LIMIT_S
    sample: Sample | None = None
    profile: Profile | None = None
    handshake: Handshake | None = None
    first_test: str = field(default="")

    def capabilities(self) -> tuple[str, ...]:
        """What the service announces.

        Raises:
            Skipped: there was no usable handshake.
        """
        if self.handshake is None:
            raise Skipped("there is no usable handshake")
        return self.handshake.capabilities

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        folder: str | None = None,
        contracts: Sequence[InterfaceContract] = (),
    ) -> Request:
        """A request about the sample, or another folder."""
        path = folder or (str(self.sample.folder) if self.sample else None)
        return Request(
            request_id=str(uuid.uuid4()),
            method=method,
            caller=Caller(node="conformance"),
            repository=None if path is None or method == "handshake" else Repository(path=path),
            params=dict(params or {}),
            interface_contracts=tuple(contracts),
        )

    def ask(self, request: Request) -> Heard:
        """Send a well-formed request."""
        limit_s = self.limit_of(request.method)
        return self.subject.ask(request.method, frame(request), limit_s=limit_s)

    def limit_of(self, method: str) -> float:
        """How long to wait."""
        return self.handshake_limit_s if method == "handshake" else self.limit_s

    def is_alive(self) -> bool:
        """Whether a handshake works."""
        request = self.request("handshake")
        heard = self.ask(request)
        return heard.kind == "answer" and isinstance(read_response(heard.line, request), Response)


def response_of(heard: Heard, request: Request) -> Response | Finding:
    """The response in what was heard, judged by the published schema."""
    if heard.kind == "silent":
        return Finding(
            found=f"{request.method}: {heard.why}", remedy="Answer in time; report what is known by then."
        )
    if heard.kind == "refused":
        return Finding(found=f"{request.method}: {heard.why}", remedy="Let a caller with this token in.")
    if heard.kind == "closed":
        return Finding(found=f"{request.method}: {heard.why}", remedy=_FRAMING)
    try:
        document = json.loads(heard.line)
    except (ValueError, RecursionError) as error:
        return Finding(found=f"{request.method}: the answer is not JSON in UTF-8: {error}", remedy=_FRAMING)
    response = read_response(heard.line, request)
    if isinstance(response, Response):
        return response
    problems = _schema_problems(document, request.method)
    problem = problems or response.reason
    return Finding(found=f"{request.method}: {problem}", remedy=_remedy(response.reason))


def result_problem(response: Response, request: Request) -> Finding | None:
    """What is wrong with the result of a response that is no error."""
    document = response.model_dump(mode="json", exclude_none=True)
    document["result"] = response.result
    if problems := _schema_problems(document, request.method):
        return Finding(
            found=f"{request.method}: {problems}",
            remedy=f"Make the result fit schemas/extension-api/{request.method}.result.json.",
        )
    answer = read_answer(response, OPERATIONS[request.method], request, service="subject")
    if isinstance(answer, Unusable):
        return Finding(found=f"{request.method}: {answer.reason}", remedy=_remedy(answer.reason))
    return None


def _schema_problems(document: Any, method: str) -> str:
    if isinstance(document, dict) and document.get("status") == "error":
        document = {**document, "result": {}}
        schema: dict[str, Any] = {**response_schema(method)}
        schema["properties"] = {**schema["properties"], "result": {}}
    else:
        schema = response_schema(method)
    errors = sorted(Draft202012Validator(schema).iter_errors(document), key=lambda error: list(error.path))
    return "; ".join(
        f"{'.'.join(map(str, error.path)) or 'response'}: {error.message}" for error in errors[:3]
    )


_REMEDIES = {
    "is to request": "Copy `request_id` of the request into its response.",
    "success with": "Say `failure` when a diagnostic blocks.",
    "none of its diagnostics": "Say `failure` only with a blocking diagnostic that gives the reason.",
    "does not say which": "Fill `error` with code, message and recoverable.",
    "together with error": "Fill `error` only with status `error`.",
    "test report": "A suite in which no test ran, or one failed, is a `failure` with a blocking diagnostic.",
    "looked at": "Count what was looked at in `metadata.counts.artifacts` and what was left out in `.skipped`.",
    "interface contract": "Answer each contract in `constraint_results`, `not_checked` if need be.",
    "not asked about": "Answer only for the artifacts of the request.",
    "speaks API": "Serve the major version of the caller, at least its minor one.",
}


def _remedy(reason: str) -> str:
    for words, remedy in _REMEDIES.items():
        if words in reason:
            return remedy
    return "Make the response fit schemas/extension-api/response.json."
