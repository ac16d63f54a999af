"""The forms in which the Python service answers."""

import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.answers import answered, blocking, listed, outside, refused

__all__ = ["blocking", "found", "listed", "outside", "refused"]


def found(
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
