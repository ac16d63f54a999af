"""The form in which the service of commands answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from cogworks.domain_services.messages import Diagnostic, Metadata, Request, Response, reported
from cogworks.vocabulary import Severity


def answered(
    request: Request,
    diagnostics: Sequence[Diagnostic],
    result: Mapping[str, Any],
    *,
    counts: Mapping[str, int],
    tools: Mapping[str, str] | None = None,
) -> Response:
    """A success, or a failure where one of the diagnostics blocks."""
    blocks = any(diagnostic.severity is Severity.BLOCKING for diagnostic in diagnostics)
    return Response(
        request_id=request.request_id,
        status="failure" if blocks else "success",
        result=dict(result),
        diagnostics=tuple(reported(diagnostic) for diagnostic in diagnostics),
        metadata=Metadata(tool_versions=dict(tools or {}), counts=dict(counts)),
    )
