"""The forms in which the Python service answers, and what one tool contributes to an answer."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from cogworks.domain_services.checking import ToolRun, ToolRuns
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.answers import answered, blocking, listed, outside, refused
from cogworks.vocabulary import Severity, Value

__all__ = ["blocking", "listed", "outside", "refused", "response_of"]


def response_of(
    request: Request,
    diagnostics: Sequence[Diagnostic],
    result: Mapping[str, Any],
    *,
    counts: Mapping[str, int],
    tools: Mapping[str, str] | None = None,
) -> Response:
    """A success, or a failure where one of the diagnostics blocks.

    Args:
        tools: name -> version of what was used, besides Python and pytest.
    """
    versions = {"python": platform.python_version(), "pytest": _pytest_version(), **(tools or {})}
    return answered(request, diagnostics, result, counts=counts, versions=versions)


@cache
def _pytest_version() -> str:
    # Read from the files of the package, and wanted in every answer.
    return version("pytest")


MAX_FINDINGS = 1_000
"""So many findings one answer lists, the worst first; the rest is counted."""
_ORDER = {Severity.BLOCKING: 0, Severity.WARNING: 1, Severity.INFORMATIONAL: 2}


class Checked(Value):
    """The contribution of one tool."""

    run: ToolRun
    version: str = ""
    """Empty: it did not run."""
    findings: tuple[Diagnostic, ...] = ()


def skipped(tool: str, reason: str, *, place: str = "", also: Sequence[Diagnostic] = ()) -> Checked:
    """A tool that did not run.

    Args:
        place: the file that asks for the tool; a warning there says that it was left out. Empty: nothing asks for it.
        also: what is known all the same.
    """
    warnings = (left_out(place, f"{tool} was left out: {reason}"),) if place else ()
    return Checked(run=ToolRun(tool=tool, status="skipped", reason=reason), findings=(*warnings, *also))


def left_out(place: str, text: str) -> Diagnostic:
    """A warning that something was not checked."""
    return Diagnostic(artifact=place, severity=Severity.WARNING, category="completeness", message=text)


def tool_runs(parts: Iterable[Checked]) -> ToolRuns:
    """Which tools ran, and which did not and why."""
    return ToolRuns(tools=tuple(part.run for part in parts))


def versions(parts: Iterable[Checked]) -> dict[str, str]:
    """Name -> version of the tools that ran."""
    return {part.run.tool: part.version for part in parts if part.version}


def sorted_findings(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings in the order of their places, each once; where there are too many, the worst of them."""
    findings = sorted(
        set(diagnostics), key=lambda each: (each.artifact, each.line or 0, each.category, each.message)
    )
    if len(findings) <= MAX_FINDINGS:
        return tuple(findings)
    worst = sorted(findings, key=lambda each: _ORDER[each.severity])
    more = len(findings) - MAX_FINDINGS
    kept = set(worst[:MAX_FINDINGS])
    note = left_out(
        worst[MAX_FINDINGS].artifact, f"{more} more finding(s), of this and other files, are not listed"
    )
    return (*(each for each in findings if each in kept), note)
