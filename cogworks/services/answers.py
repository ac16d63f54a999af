"""The forms in which every bundled service answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from cogworks.codebase.changes import path_problem
from cogworks.domain_services.messages import (
    Diagnostic,
    ErrorCode,
    Metadata,
    Request,
    Response,
    ServiceError,
    reported,
)
from cogworks.vocabulary import Severity


def answered(
    request: Request,
    diagnostics: Sequence[Diagnostic],
    result: Mapping[str, Any],
    *,
    counts: Mapping[str, int],
    versions: Mapping[str, str],
) -> Response:
    """A success, or a failure where one of the diagnostics blocks.

    Args:
        versions: tool -> version of what was used.
    """
    blocks = any(diagnostic.severity is Severity.BLOCKING for diagnostic in diagnostics)
    return Response(
        request_id=request.request_id,
        status="failure" if blocks else "success",
        result=dict(result),
        diagnostics=tuple(reported(diagnostic) for diagnostic in diagnostics),
        metadata=Metadata(tool_versions=dict(versions), counts=dict(counts)),
    )


def refused(
    request_id: str,
    code: ErrorCode,
    message: str,
    *,
    recoverable: bool = False,
    details: Mapping[str, str] | None = None,
) -> Response:
    """The request could not be carried out."""
    error = ServiceError(code=code, message=message, recoverable=recoverable, details=dict(details or {}))
    return Response(request_id=request_id, status="error", error=error)


def outside(request: Request, paths: Sequence[str]) -> Response | None:
    """The refusal of paths that are not plain paths of the repository; None: all are."""
    problems = [f"{path!r}: {problem}" for path in paths if (problem := path_problem(path)) is not None]
    return refused(request.request_id, ErrorCode.INVALID_REQUEST, "; ".join(problems)) if problems else None


def blocking(artifact: str, category: str, message: str) -> Diagnostic:
    """A diagnostic that makes the answer a failure."""
    return Diagnostic(artifact=artifact, severity=Severity.BLOCKING, category=category, message=message)


def listed(error: ValidationError) -> str:
    """The first problems of a message, in one line."""
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'message'}: {item['msg']}" for item in error.errors()[:5]
    )
