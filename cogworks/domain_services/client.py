"""Speaks the Extension API to one service: asks again where that may help, and believes nothing unchecked."""

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

from cogworks.domain_services.adapting import as_configured
from cogworks.domain_services.answers import (
    Answer,
    NotOffered,
    Unusable,
    read_answer,
    read_handshake,
    read_response,
    request_of,
)
from cogworks.domain_services.checking import Artifacts, InterfaceMap, Parts, SimulateParams, ValidateParams
from cogworks.domain_services.limits import Breaker, Limits, within
from cogworks.domain_services.messages import (
    Caller,
    Diagnostic,
    ErrorCode,
    Handshake,
    InterfaceContract,
    Message,
    Repository,
    RepositorySettings,
    Request,
    Response,
    ServiceError,
    TestReport,
    frame,
    retry_class,
)
from cogworks.domain_services.operations import EXTRACT_INTERFACES, SIMULATE, VALIDATE, Operation
from cogworks.domain_services.origins import HasBase, HasPath, HasRemote
from cogworks.domain_services.parts import in_parts, joined
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import (
    MAX_MESSAGE_BYTES,
    ServiceFailed,
    ServiceGone,
    ServiceRefused,
    ServiceSlow,
    Transport,
)
from cogworks.errors import TryAgainLater
from cogworks.leaving import masked
from cogworks.retrying import Again, End, Policy, doubling, retried

Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)
Read = TypeVar("Read")


class Configured(NamedTuple):
    """What holds of one service whatever it is asked: what the repository says to it, and what it must not say."""

    settings: RepositorySettings = RepositorySettings()  # frozen
    test_command: Sequence[str] = ()
    """Words of the command that tests are run with; none: the service's own way."""
    root: str = ""
    """The folder that the service is for; empty: the whole repository."""
    secrets: Sequence[str] = ()
    """Of this process: nothing that the service says holds them."""


class ServiceClient:
    """One domain service for the length of a `with` block; reached at the first question, let go with the block.

    Every question raises ServiceFailed when the service cannot be used, and TryAgainLater when it says itself that
    the same request may succeed later.
    """

    def __init__(
        self,
        open_transport: Callable[[], Transport],
        *,
        name: str,
        caller: Caller | None = None,
        limits: Limits | None = None,
        sleep: Callable[[float], None] = time.sleep,
        left_s: Callable[[], float | None] = lambda: None,
        is_far: bool = False,
        configured: Configured | None = None,
    ) -> None:
        """Args:
        open_transport: the way to the service; called again after the connection was lost. May raise as `exchange`.
        left_s: what is left of the caller's time; the service is let go with it. None: no limit.
        is_far: whether the service clones the repository, because it does not see our files.
        configured: what the repository says of its environment, tests and folders.
        """
        self.name = name
        self._open_transport = open_transport
        self._caller = caller or Caller()
        self._limits = limits or Limits()
        self._sleep = sleep
        self._left_s = left_s
        self._is_far = is_far
        self._configured = configured or Configured()
        self._hidden = partial(masked, secrets=tuple(self._configured.secrets), is_code=True)
        self._transport: Transport | None = None
        self._handshake: Handshake | None = None
        self._breaker = Breaker(limit=self._limits.breaker_failures)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the service; the next question reaches for it again."""
        if self._transport is not None:
            self._transport.close()
        self._transport = self._handshake = None

    def handshake(self) -> Handshake:
        """Who the service is and what it can do; asked once, and again after the connection was lost."""
        if self._handshake is None:
            self._handshake = self._result_of(request_of("handshake", self._caller), read_handshake)
        return self._handshake

    warnings: Sequence[str] = ()
    """One service alone is never left out."""

    def offers(self, method: str) -> bool:
        """Whether the service announces an operation."""
        return method in self.handshake().capabilities

    def call(
        self,
        operation: Operation[Params, Result],
        workspace: HasPath,
        params: Params,
        *,
        contracts: Sequence[InterfaceContract] = (),
    ) -> Answer[Result] | NotOffered:
        """Ask for one operation; NotOffered when the service does not announce it."""
        self._refuse_when_open(operation.method)
        if not self.offers(operation.method):
            return NotOffered(
                service=self.name, method=operation.method, offered=self.handshake().capabilities
            )
        if (command := self._configured.test_command) and isinstance(params, SimulateParams):
            self._refuse_unless_kept(operation.method)
        params = as_configured(params, command=command, limit_s=self._limits.of(operation.method))
        repository = self._repository(workspace, operation.method)
        request = request_of(operation.method, self._caller, repository, params).model_copy(
            update={"interface_contracts": tuple(contracts) if operation.takes_contracts else ()}
        )
        return self._result_of(
            request, lambda response: read_answer(response, operation, request, service=self.name)
        )

    def validate(self, workspace: HasPath, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What the service finds in these files, repository-relative paths."""
        return self._required(VALIDATE, workspace, ValidateParams(artifacts=tuple(paths))).diagnostics

    def simulate(
        self,
        workspace: HasPath,
        tests: Sequence[str] = (),
        *,
        timeout_s: float | None = None,
        test_timeout_s: float | None = None,
    ) -> TestReport:
        """Run the given test files or ids (none: the whole suite), in as many requests as it takes, in `timeout_s` at most.

        Args:
            test_timeout_s: of one test, with how long the slowest took in the report; None: the usual limit, and nothing told.
        """
        limit_s = self._limits.of("simulate")
        is_cut = timeout_s is None or timeout_s > limit_s
        ends_s = time.monotonic() + (timeout_s or 0.0)

        def part(wanted: Sequence[str], parts: Parts) -> TestReport:
            within_s = within(limit_s, None if timeout_s is None else ends_s - time.monotonic())
            how = parts if is_cut else "never"
            params = SimulateParams.paced(test_timeout_s, tests=wanted, parts=how, timeout_s=within_s)
            return self._ran(workspace, params)

        return joined(tuple(in_parts(part, tests)))

    def simulate_part(self, workspace: HasPath, tests: Sequence[str], parts: Parts) -> TestReport:
        """As `simulate`, in one request: what there was no time for is named in `left`, and each file has its time."""
        limit_s = self._limits.of("simulate")
        params = SimulateParams(tests=tuple(tests), parts=parts, timeout_s=limit_s, timings=True)
        return self._ran(workspace, params)

    def _ran(self, workspace: HasPath, params: SimulateParams) -> TestReport:
        return self._required(SIMULATE, workspace, params).result

    def simulate_groups(
        self,
        workspace: HasPath,
        groups: Sequence[Sequence[str]],
        *,
        timeout_s: float,
        test_timeout_s: float | None = None,
    ) -> TestReport | None:
        """As `simulate`, one group after another until a test fails; None when the service does not do that."""
        if not (self.offers(SIMULATE.method) and self.handshake().test_groups):
            return None
        params = SimulateParams.paced(
            test_timeout_s,
            tests=tuple(test for group in groups for test in group),
            groups=groups,
            timeout_s=within(self._limits.of("simulate"), timeout_s),
        )
        return self._ran(workspace, params)

    def interfaces(self, workspace: HasPath, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        """The names, types and signatures that files offer."""
        answer = self.call(EXTRACT_INTERFACES, workspace, Artifacts(artifacts=tuple(paths)))
        return answer if isinstance(answer, NotOffered) else answer.result

    def _repository(self, workspace: HasPath, method: str) -> Repository:
        base = workspace.base() if isinstance(workspace, HasBase) else None
        if not self._is_far:
            return self._described(path=str(workspace.path), base=base)
        url = workspace.remote_url if isinstance(workspace, HasRemote) else ""
        if urlsplit(url).scheme not in ("http", "https"):
            raise self._unseen(workspace, "comes from no server", method)
        oid = workspace.pushed() if isinstance(workspace, HasRemote) else None
        if oid is None:
            raise self._unseen(workspace, "has changes that are not pushed", method)
        return self._described(path=url, ref=oid, base=base)

    def _described(self, *, path: str, base: str | None, ref: str | None = None) -> Repository:
        configured = self._configured
        return Repository(path=path, ref=ref, base=base, settings=configured.settings, root=configured.root)

    def _unseen(self, workspace: HasPath, reason: str, method: str) -> ServiceFailed:
        return self._failed(
            f"service {self.name!r} is on another machine and clones what is pushed, but {workspace.path} {reason}. "
            "Use a service of this machine for changes on their way, or say `shares_files = true` in "
            "`.cogworks/services.toml` where it sees the same files.",
            method,
        )

    def _refuse_unless_kept(self, method: str) -> None:
        """A service that does not know the field would run the tests in its own way and say nothing."""
        if not self.handshake().test_commands:
            raise self._failed(
                f"service {self.name!r} runs tests in its own way and cannot keep `{shlex.join(self._configured.test_command)}`; leave "
                "the test command out and configure the tests in the repository, or use a service that announces "
                "`test_commands`.",
                method,
                ErrorCode.INVALID_REQUEST,
            )

    def _required(
        self, operation: Operation[Params, Result], workspace: HasPath, params: Params
    ) -> Answer[Result]:
        answer = self.call(operation, workspace, params)
        if isinstance(answer, NotOffered):
            raise self._failed(str(answer), operation.method, ErrorCode.UNSUPPORTED_METHOD)
        return answer

    def _result_of(self, request: Request, read: Callable[[Response], Read | Unusable]) -> Read:
        """The result of a request, asked for as often as makes sense."""
        self._refuse_when_open(request.method)
        if len(frame(request)) > MAX_MESSAGE_BYTES:
            raise self._failed(
                f"the request for {request.method} is longer than {MAX_MESSAGE_BYTES} bytes; ask about fewer files.",
                request.method,
                ErrorCode.INVALID_REQUEST,
            )
        policy = Policy(self._limits.attempts - 1, pause=doubling(self._limits.pause_s))
        return retried(lambda: self._tried(request, read, policy), sleep=self._sleep)

    def _tried(self, request: Request, read: Callable[[Response], Read | Unusable], policy: Policy) -> Read:
        answer = self._answer(request)
        if isinstance(answer, Response) and answer.error is not None:
            reason = self._retryable(request, answer.error)
            raise self._again(request, policy, reason, announced=True)
        result = read(answer) if isinstance(answer, Response) else answer
        if isinstance(result, Unusable):
            raise self._again(request, policy, result.reason, is_final=result.is_final)
        if request.method != "handshake":
            # A service that greets well and then fails is no better than one that does not greet.
            self._breaker = self._breaker.answered()
        return result

    def _again(
        self,
        request: Request,
        policy: Policy,
        reason: str,
        *,
        announced: bool = False,
        is_final: bool = False,
    ) -> Again:
        # The next try reaches for the service anew.
        self.close()

        def error(end: End) -> Exception:
            return self._given_up(request, reason, times=end.failures, announced=announced)

        return Again(policy, error, repeats=0 if is_final else None)

    def _refuse_when_open(self, method: str) -> None:
        if self._breaker.is_open:
            raise self._failed(
                f"service {self.name!r} is not asked for {method} any more: {self._breaker.failures} calls failed one "
                f"after another; last: {self._breaker.last}. Repair the service and run the step again.",
                method,
            )

    def _given_up(
        self, request: Request, reason: str, *, times: int, announced: bool
    ) -> ServiceFailed | TryAgainLater:
        self._breaker = self._breaker.failed(reason)
        often = "once" if times == 1 else f"{times} times"
        text = f"service {self.name!r} failed at {request.method} {often}; last: {reason.rstrip('. ')}."
        if announced:
            return TryAgainLater(f"{text} The service expects it to work later.")
        return self._failed(f"{text} Check the service with its own log or version.", request.method)

    def _answer(self, request: Request) -> Response | Unusable:
        try:
            transport = self._transport = self._transport or self._open_transport()
            if self._handshake is None and request.method != "handshake":
                # The connection was lost since: the service that answers now may be another version.
                greeting = self._exchange(transport, request_of("handshake", self._caller))
                handshake = read_handshake(greeting) if isinstance(greeting, Response) else greeting
                if isinstance(handshake, Unusable):
                    return handshake
                self._handshake = handshake
            return self._exchange(transport, request)
        except ServiceGone as error:
            return Unusable(reason=self._hidden(str(error)))
        except ServiceRefused as error:
            raise self._failed(
                f"service {self.name!r} does not let us in: {error}", request.method
            ) from error
        except ServiceSlow as error:
            raise self._stuck(request, error) from error

    def _exchange(self, transport: Transport, request: Request) -> Response | Unusable:
        limit_s = within(self._limits.wait_s(request.method), self._left_s())
        line = transport.exchange(request.method, frame(request), limit_s=limit_s)
        return read_response(line, request, hidden=self._hidden)

    def _stuck(self, request: Request, error: ServiceSlow) -> ServiceFailed:
        """Not asked again: a service that hangs would hang as long once more."""
        self.close()
        self._breaker = self._breaker.failed(str(error))
        return self._failed(
            f"service {self.name!r} is stuck at {request.method}: {error}. If cogworks started it, it was ended with "
            "all its processes.",
            request.method,
            ErrorCode.TIMEOUT,
        )

    def _retryable(self, request: Request, error: ServiceError) -> str:
        if retry_class(error.code) == "never" or not error.recoverable:
            self._breaker = self._breaker.answered()
            origin = f"service {self.name!r} refused {request.method}: {error.code.value}"
            raise self._failed(error.message, request.method, error.code, origin=origin)
        return f"{error.code.value}: {error.message}"

    def _failed(
        self, text: str, method: str, code: ErrorCode | None = None, *, origin: str = ""
    ) -> ServiceFailed:
        return ServiceFailed(text, service=self.name, method=method, code=code, origin=origin)


class ProcessService(ServiceClient):
    """A client of a service that is started by the first question and ended with the block."""

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
        """The command gets `--socket <path>` added; of the environment of this process only PATH is passed on."""
        start_s = (limits or Limits()).start_s
        super().__init__(
            lambda: ServiceProcess(command, environment=environment, start_s=within(start_s, left_s())),
            name=name,
            caller=caller,
            limits=limits,
            sleep=sleep,
            left_s=left_s,
        )
