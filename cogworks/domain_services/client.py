"""Speaks the Extension API to a service that runs as our own child process."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from cogworks.domain_services.answers import (
    Unusable,
    fields_of,
    read_diagnostics,
    read_handshake,
    read_report,
    read_response,
)
from cogworks.domain_services.failures import ServiceFailed, ServiceGone, ServiceSlow
from cogworks.domain_services.messages import (
    Caller,
    Diagnostic,
    ErrorCode,
    Handshake,
    Repository,
    Request,
    Response,
    ServiceError,
    SimulateParams,
    TestReport,
    ValidateParams,
    frame,
    retry_class,
)
from cogworks.domain_services.process import ServiceProcess
from cogworks.errors import TryAgainLater
from cogworks.vocabulary import Value

Result = TypeVar("Result")
_SHORTEST_S = 0.01


class HasPath(Protocol):
    """What this module needs of a working copy."""

    @property
    def path(self) -> Path: ...


class Limits(Value):
    """How long each operation may take, in seconds, and how often it is asked."""

    start_s: float = 30.0
    """Until a started process accepts a connection."""
    handshake_s: float = 5.0
    validate_s: float = 300.0
    simulate_s: float = 600.0
    grace_s: float = 30.0
    """Beyond `simulate_s`, for the service to report what it has."""
    attempts: int = 3
    """Every operation here is idempotent, so an answer that was lost may be asked for again."""
    pause_s: float = 0.5
    """Before the second attempt; twice that before the third."""


class ProcessService:
    """A domain service for the length of a `with` block; started by the first question, ended with the block.

    Obeys the Protocol `DomainService`. Every method raises ServiceFailed when the service cannot be used, and
    TryAgainLater when it says itself that the same request may succeed later.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        environment: Mapping[str, str],
        caller: Caller | None = None,
        limits: Limits | None = None,
        sleep: Callable[[float], None] = time.sleep,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
        command: starts the service; `--socket <path>` is added.
        name: for messages.
        environment: of this process; only PATH is passed on.
        left_s: what is left of the time of whoever asks; the service is ended with it. None: no limit.
        """
        self._command = tuple(command)
        self._name = name
        self._environment = environment
        self._caller = caller or Caller()
        self._limits = limits or Limits()
        self._sleep = sleep
        self._left_s = left_s
        self._process: ServiceProcess | None = None
        self._handshake: Handshake | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the service; the next question starts it again."""
        if self._process is not None:
            self._process.close()
        self._process = self._handshake = None

    def handshake(self) -> Handshake:
        """Who the service is and what it can do; asked once per process."""
        if self._handshake is None:
            request = self._request("handshake", None, {})
            self._handshake = self._asked(request, read_handshake, self._limits.handshake_s)
        return self._handshake

    def validate(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What the service finds in these files, repository-relative paths."""
        self._must_offer("validate")
        request = self._request("validate", workspace, fields_of(ValidateParams(artifacts=tuple(paths))))
        return self._asked(
            request, lambda response: read_diagnostics(response, len(paths)), self._limits.validate_s
        )

    def simulate(self, workspace: HasPath, tests: Sequence[str] = ()) -> TestReport:
        """Run the given test files or ids (none: the whole suite)."""
        self._must_offer("simulate")
        params = SimulateParams(tests=tuple(tests), timeout_s=self._limits.simulate_s)
        request = self._request("simulate", workspace, fields_of(params))
        return self._asked(request, read_report, self._limits.simulate_s + self._limits.grace_s)

    def _request(self, method: str, workspace: HasPath | None, params: dict[str, object]) -> Request:
        repository = None if workspace is None else Repository(path=str(workspace.path))
        request_id = str(uuid.uuid4())
        return Request(
            request_id=request_id, method=method, caller=self._caller, repository=repository, params=params
        )

    def _must_offer(self, method: str) -> None:
        offered = self.handshake().capabilities
        if method not in offered:
            raise ServiceFailed(
                f"service {self._name!r} does not offer {method!r}, only {', '.join(offered) or 'nothing'}. "
                "Install a version that does, or configure another service.",
                service=self._name,
                method=method,
                code=ErrorCode.UNSUPPORTED_METHOD,
            )

    def _asked(
        self, request: Request, read: Callable[[Response], Result | Unusable], limit_s: float
    ) -> Result:
        """The result of a request, asked for as often as makes sense."""
        reason, announced = "", False
        for attempt in range(self._limits.attempts):
            if attempt:
                self.close()
                self._sleep(self._limits.pause_s * attempt)
            answer = self._answer(request, limit_s)
            if isinstance(answer, Response) and answer.error is not None:
                reason, announced = self._retryable(request, answer.error), True
                continue
            result = read(answer) if isinstance(answer, Response) else answer
            if not isinstance(result, Unusable):
                return result
            reason, announced = result.reason, False
        self.close()
        text = (
            f"service {self._name!r} failed at {request.method} {self._limits.attempts} times; last: {reason}"
        )
        if announced:
            raise TryAgainLater(f"{text}. The service expects it to work later.")
        raise ServiceFailed(
            f"{text}. Check the service with its own log or version.",
            service=self._name,
            method=request.method,
        )

    def _answer(self, request: Request, limit_s: float) -> Response | Unusable:
        try:
            if self._process is None:
                self._process = ServiceProcess(
                    self._command, environment=self._environment, start_s=self._within(self._limits.start_s)
                )
            return read_response(
                self._process.exchange(frame(request), limit_s=self._within(limit_s)), request
            )
        except ServiceGone as error:
            return Unusable(reason=str(error))
        except ServiceSlow as error:
            # Not again: a service that hangs would hang as long once more.
            self.close()
            raise ServiceFailed(
                f"service {self._name!r} is stuck at {request.method}: {error}. It was ended with all its processes.",
                service=self._name,
                method=request.method,
                code=ErrorCode.TIMEOUT,
            ) from error

    def _within(self, limit_s: float) -> float:
        """A limit, or what is left where that is less; never zero, which a socket takes for something else."""
        left_s = self._left_s()
        return limit_s if left_s is None else max(_SHORTEST_S, min(limit_s, left_s))

    def _retryable(self, request: Request, error: ServiceError) -> str:
        if retry_class(error.code) == "never" or not error.recoverable:
            raise ServiceFailed(
                f"service {self._name!r} refused {request.method}: {error.code.value}: {error.message}",
                service=self._name,
                method=request.method,
                code=error.code,
            )
        return f"{error.code.value}: {error.message}"
