"""Whether a service's answer may be believed, and what it says."""

from typing import get_args

from pydantic import ValidationError

from cogworks.domain_services.messages import (
    API_VERSION,
    Category,
    Diagnostic,
    Handshake,
    Message,
    ReportedDiagnostic,
    Request,
    Response,
    TestReport,
    compatible,
)
from cogworks.vocabulary import Severity, Value

_CATEGORIES = frozenset(get_args(Category))


class Unusable(Value):
    """An answer that breaks the protocol; asking again may help."""

    reason: str


def read_response(line: bytes, request: Request) -> Response | Unusable:
    """The response to a request from one line of the wire."""
    if not line.endswith(b"\n"):
        return Unusable(reason=f"the answer breaks off after {len(line)} bytes")
    try:
        response = Response.model_validate_json(line)
    except ValidationError as error:
        return Unusable(reason=f"the answer does not fit the schema: {_listed(error)}")
    if response.request_id != request.request_id:
        return Unusable(
            reason=f"the answer is to request {response.request_id!r}, not to {request.request_id!r}"
        )
    contradiction = _contradiction(response)
    return response if contradiction is None else Unusable(reason=contradiction)


def read_handshake(response: Response) -> Handshake | Unusable:
    """Who the service is; Unusable when its API version does not serve ours."""
    try:
        handshake = Handshake.model_validate(response.result)
    except ValidationError as error:
        return Unusable(reason=f"the handshake does not fit the schema: {_listed(error)}")
    if not compatible(API_VERSION, handshake.api_version):
        return Unusable(
            reason=f"service {handshake.name!r} speaks API {handshake.api_version}, cogworks needs {API_VERSION}; "
            "install matching versions"
        )
    return handshake


def read_diagnostics(response: Response, asked: int) -> tuple[Diagnostic, ...] | Unusable:
    """What `validate` found in `asked` artifacts."""
    if (
        asked
        and response.metadata.counts.get("artifacts", 0) + response.metadata.counts.get("skipped", 0) == 0
    ):
        return Unusable(reason=f"the service was asked about {asked} artifact(s) and looked at none")
    return tuple(_diagnostic(found) for found in response.diagnostics)


def read_report(response: Response) -> TestReport | Unusable:
    """What the tests did."""
    try:
        report = TestReport.model_validate(response.result)
    except ValidationError as error:
        return Unusable(reason=f"the test report does not fit the schema: {_listed(error)}")
    if response.status == "success" and not report.passed:
        return Unusable(reason="the service reports success, but its test report does not pass")
    return report


def fields_of(message: Message) -> dict[str, object]:
    """A message as the `params` or `result` of another."""
    return message.model_dump(mode="json")


def _contradiction(response: Response) -> str | None:
    blocking = sum(found.severity is Severity.BLOCKING for found in response.diagnostics)
    if response.status == "success" and blocking:
        return f"the service reports success with {blocking} blocking diagnostic(s)"
    if response.status == "error" and response.error is None:
        return "the service reports an error and does not say which"
    return None


def _diagnostic(found: ReportedDiagnostic) -> Diagnostic:
    known = found.category in _CATEGORIES
    return Diagnostic(
        artifact=found.artifact,
        line=found.location.line,
        severity=found.severity if known else Severity.INFORMATIONAL,
        category=found.category,
        message=found.message,
    )


def _listed(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'message'}: {item['msg']}" for item in error.errors()[:5]
    )
