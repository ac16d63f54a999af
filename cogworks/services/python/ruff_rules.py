"""What ruff's findings mean here: how much each matters, and in which category it belongs."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cogworks.domain_services.messages import Diagnostic
from cogworks.vocabulary import Severity

BUGS = "E9,F"
"""Selected where a repository has no settings of its own: what cannot work, and what looks forgotten."""
SYNTAX = "invalid-syntax"
_UNREADABLE = "E902"
# Each of them raises as soon as the line is reached, whatever the project thinks of style.
_BLOCKING = frozenset({SYNTAX, "E999", "F701", "F702", "F704", "F706", "F707", "F821", "F822", "F823"})
_UNDEFINED = frozenset({"F821", "F822", "F823"})
_SYNTAX = frozenset({SYNTAX, "E999", "F701", "F702", "F704", "F706", "F707"})

Judging = Callable[[str], Severity]


def severity_of(code: str) -> Severity:
    """Undefined names and syntax block; everything else is a warning."""
    return Severity.BLOCKING if code in _BLOCKING else Severity.WARNING


def category_of(code: str) -> str:
    """The category of a rule, by its code."""
    if code in _SYNTAX:
        return "syntax_error"
    if code in _UNDEFINED:
        return "type_error"
    letters = code.rstrip("0123456789")
    return {"S": "safety_concern", "PERF": "performance_concern", "ASYNC": "performance_concern"}.get(
        letters, "style_violation"
    )


def findings_in(
    output: bytes, root: Path, *, severity: Judging = severity_of
) -> tuple[Diagnostic, ...] | None:
    """The findings in ruff's JSON; None when it is none."""
    try:
        records = json.loads(output)
        return tuple(_finding(record, root, severity) for record in records if record["code"] != _UNREADABLE)
    except (ValueError, TypeError, KeyError):
        return None


def unread_in(output: bytes, root: Path) -> tuple[str, ...]:
    """The files that ruff could not read, e.g. because they are not in UTF-8."""
    records = json.loads(output)
    return tuple(_artifact(record, root) for record in records if record["code"] == _UNREADABLE)


def _finding(record: Mapping[str, Any], root: Path, severity: Judging) -> Diagnostic:
    code = record["code"] or SYNTAX
    return Diagnostic(
        artifact=_artifact(record, root),
        line=record["location"]["row"],
        severity=severity(code),
        category=category_of(code),
        message=f"{code}: {record['message']}",
    )


def _artifact(record: Mapping[str, Any], root: Path) -> str:
    return Path(record["filename"]).relative_to(root).as_posix()
