"""What a service is asked, whether its answer may be believed, and what it says."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

from pydantic import ValidationError

from cogworks.domain_services.checking import Normalised
from cogworks.domain_services.exploring import Coverage
from cogworks.domain_services.messages import (
    API_VERSION,
    Caller,
    Category,
    ConstraintResult,
    Diagnostic,
    Handshake,
    Message,
    Metadata,
    ReportedDiagnostic,
    Repository,
    Request,
    Response,
    TestReport,
    compatible,
)
from cogworks.domain_services.operations import Operation
from cogworks.vocabulary import Severity, Value

Result = TypeVar("Result", bound=Message)
Params = TypeVar("Params", bound=Message)
_CATEGORIES = frozenset(get_args(Category))


class Unusable(Value):
    """An answer that breaks the protocol."""

    reason: str
    is_final: bool = False
    """Whether asking again is of no use."""


class NotOffered(Value):
    """The service does not have this operation; what depends on it is done without, and says so by this name."""

    service: str
    method: str
    offered: tuple[str, ...]

    @property
    def in_short(self) -> str:
        """For readers of what was left out who are not about to change it."""
        return f"service {self.service!r} does not offer {self.method!r}"

    def __str__(self) -> str:
        return (
            f"{self.in_short}, only {', '.join(self.offered) or 'nothing'}. "
            "What needs it is left out; a service that offers it can be added to `.cogworks/services.toml`."
        )


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """What a service answered, checked."""

    service: str
    verdict: Literal["success", "failure"]
    """`failure`: at least one diagnostic blocks."""
    result: Result
    diagnostics: tuple[Diagnostic, ...]
    constraint_results: tuple[ConstraintResult, ...]
    metadata: Metadata


def read_response(
    line: bytes, request: Request, *, hidden: Callable[[str], str] = str
) -> Response | Unusable:
    """The response to a request from one line of the wire.

    Args:
        hidden: a text without what is secret: what a service says goes to people, models and the ledger.
    """
    if not line.endswith(b"\n"):
        return Unusable(reason=f"the answer breaks off after {len(line)} bytes")
    try:
        response = Response.model_validate_json(line, strict=True)
    except ValidationError as error:
        return Unusable(reason=f"the answer does not fit the schema: {listed(error)}")
    if response.request_id != request.request_id:
        return Unusable(
            reason=f"the answer is to request {response.request_id!r}, not to {request.request_id!r}"
        )
    contradiction = _contradiction(response)
    return _without_secrets(response, hidden) if contradiction is None else Unusable(reason=contradiction)


_EXACT = frozenset(
    [
        "artifact",
        "artifacts",
        "caller",
        "content",
        "external",
        "file",
        "files",
        "hung",
        "id",
        "left",
        "module",
        "modules",
        "name",
        "parent",
        "path",
        "paths",
        "request_id",
        "source",
        "symbol",
        "target",
        "test",
        "tests",
        "uses",
    ]
)
"""Fields by whose words something is found again, or written: these have to stay as they are."""
_TOOLS = frozenset({"versions", "tool_versions"})
"""Tables whose keys are words for people as well."""


def _without_secrets(response: Response, hidden: Callable[[str], str]) -> Response:
    def redacted(value: Any, key: str = "") -> Any:
        match value:
            case str():
                return value if key in _EXACT else hidden(value)
            case dict():
                names = hidden if key in _TOOLS else str
                return {names(name): redacted(each, name) for name, each in value.items()}
            case list() | tuple():
                return [redacted(each, key) for each in value]
            case Message():
                fields = {name: getattr(value, name) for name in type(value).model_fields}
                return type(value).model_validate(redacted(fields))
            case _:
                return value

    fields = {name: getattr(response, name) for name in Response.model_fields}
    return Response.model_validate(redacted(fields))


def read_handshake(response: Response) -> Handshake | Unusable:
    """Who the service is; Unusable when its API version does not serve ours."""
    if response.error is not None:
        return Unusable(
            reason=f"the handshake is refused: {response.error.code.value}: {response.error.message}"
        )
    handshake = _fitted(response, Handshake, "handshake")
    if isinstance(handshake, Handshake) and not compatible(API_VERSION, handshake.api_version):
        return Unusable(
            reason=f"service {handshake.name!r} speaks API {handshake.api_version}, cogworks needs {API_VERSION}; "
            "install matching versions",
            is_final=True,
        )
    return handshake


def read_answer(
    response: Response, operation: Operation[Params, Result], request: Request, *, service: str
) -> Answer[Result] | Unusable:
    """The answer to an operation, unless it is suspicious: it claims more than it shows."""
    result = _fitted(
        response, operation.result, _NAMES.get(operation.method, f"result of {operation.method}")
    )
    if isinstance(result, Unusable):
        return result
    if (suspicion := _suspicion(response, operation, request, result)) is not None:
        return Unusable(reason=suspicion)
    return Answer(
        service=service,
        verdict="success" if response.status == "success" else "failure",
        result=result,
        diagnostics=tuple(_diagnostic(diagnostic) for diagnostic in response.diagnostics),
        constraint_results=response.constraint_results,
        metadata=response.metadata,
    )


def request_of(
    method: str, caller: Caller, repository: Repository | None = None, params: Message | None = None
) -> Request:
    """A question with an id of its own, by which its answer is recognised."""
    return Request(
        request_id=str(uuid.uuid4()),
        method=method,
        caller=caller,
        repository=repository,
        params={} if params is None else fields_of(params),
    )


def fields_of(message: Message) -> dict[str, object]:
    """A message as the `params` or `result` of another."""
    return message.model_dump(mode="json")


def listed(error: ValidationError) -> str:
    """The first problems of a message in one line."""
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'message'}: {item['msg']}" for item in error.errors()[:5]
    )


_NAMES = {"simulate": "test report"}


def _fitted(response: Response, model: type[Result], name: str) -> Result | Unusable:
    try:
        # From JSON once more: only then are arrays taken for tuples while "1" is not taken for 1.
        return model.model_validate_json(json.dumps(response.result), strict=True)
    except ValidationError as error:
        return Unusable(reason=f"the {name} does not fit the schema: {listed(error)}")


def _contradiction(response: Response) -> str | None:
    blocking = sum(diagnostic.severity is Severity.BLOCKING for diagnostic in response.diagnostics)
    if response.status == "success" and blocking:
        return f"the service reports success with {blocking} blocking diagnostic(s)"
    if response.status == "failure" and not blocking:
        return "the service reports failure, but none of its diagnostics blocks"
    if response.status == "error" and response.error is None:
        return "the service reports an error and does not say which"
    if response.status != "error" and response.error is not None:
        return f"the service reports {response.status} together with error {response.error.code.value}"
    return None


def _suspicion(
    response: Response, operation: Operation[Params, Result], request: Request, result: Message
) -> str | None:
    artifacts = request.params.get("artifacts") or []
    counts = response.metadata.counts
    if (
        operation.counts_artifacts
        and artifacts
        and counts.get("artifacts", 0) + counts.get("skipped", 0) < len(artifacts)
    ):
        looked = counts.get("artifacts", 0) or "none"
        return f"the service was asked about {len(artifacts)} artifact(s) and looked at {looked}"
    if request.interface_contracts:
        answered = {each.contract for each in response.constraint_results}
        missing = [each.id for each in request.interface_contracts if each.id not in answered]
        if missing:
            return f"the service says nothing about interface contract(s) {', '.join(missing)}"
    reader = _SUSPICIONS.get(operation.method)
    return None if reader is None else reader(response, request, result)


def _of_report(response: Response, _: Request, result: Message) -> str | None:
    report = result.report if isinstance(result, Coverage) else result
    if response.status == "success" and isinstance(report, TestReport) and not report.passed:
        return "the service reports success, but its test report does not pass"
    return None


def _of_normalised(response: Response, request: Request, result: Message) -> str | None:
    if not isinstance(result, Normalised) or response.status != "success":
        return None
    artifacts = set(request.params.get("artifacts", ()))
    strange = sorted({file.artifact for file in result.files} - artifacts)
    return f"the service formatted files it was not asked about: {', '.join(strange)}" if strange else None


_SUSPICIONS: dict[str, Callable[[Response, Request, Message], str | None]] = {
    "simulate": _of_report,
    "coverage": _of_report,
    "normalise": _of_normalised,
}


def _diagnostic(reported: ReportedDiagnostic) -> Diagnostic:
    known = reported.category in _CATEGORIES
    return Diagnostic(
        artifact=reported.artifact,
        line=reported.location.line,
        severity=reported.severity if known else Severity.INFORMATIONAL,
        category=reported.category,
        message=reported.message,
    )
