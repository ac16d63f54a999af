"""Runs ruff over files of a repository, with its own settings where it has some, and says what its findings mean."""

import json
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from cogworks.domain_services.checking import ToolRun
from cogworks.domain_services.messages import Diagnostic
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import Checked, left_out, skipped
from cogworks.services.python.settings_files import by_settings
from cogworks.services.python.workroom import ToolCall, Workroom, workroom
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


# Whatever the settings say: nothing is mended, and nothing written but the report.
_CHECK = ("check", "--no-cache", "--no-fix", "--no-fix-only", "--output-format=json", "--quiet")
_LIST = "files.txt"


@cache
def ruff_program() -> tuple[str, ...]:
    """Ruff as it is installed beside cogworks: itself where it lies with this interpreter's programs, else by its package."""
    program = Path(sysconfig.get_path("scripts"), "ruff")
    if program.is_relative_to(sys.prefix) and os.access(program, os.X_OK):
        return (str(program),)
    # Without what stands in its directory: a `ruff.py` of the repository is not ruff.
    return (sys.executable, "-I", "-m", "ruff")


class RuffRun(NamedTuple):
    """One run of ruff."""

    options: Sequence[str]
    severity: Judging = severity_of


class RuffFailed(Exception):
    """Ruff could not do its work; the text says why."""


@cache
def installed_version(name: str) -> str | None:
    """The version of a package beside cogworks; None when it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def lint(root: Path, paths: Sequence[str], machine: Machine) -> tuple[Checked, ...]:
    """What ruff says of files, each by the settings nearest above it, else by a few rules of our own.

    Settings that cannot be used are named and replaced by those rules.
    """
    ruff_version = installed_version("ruff")
    if ruff_version is None:
        return (skipped("ruff", "it is not installed beside cogworks"),)
    plain: list[str] = []
    findings: list[Diagnostic] = []
    unusable: list[Checked] = []
    with workroom() as room:
        for settings, group in by_settings(root, paths).items():
            if settings is None:
                plain += group
                continue
            try:
                if settings.problem:
                    raise RuffFailed(settings.problem)
                findings += ruff_findings(room, root, group, RuffRun(["--force-exclude"]), machine)
            except RuffFailed as error:
                unusable.append(skipped(f"ruff with {settings.path}", str(error), place=settings.path))
                plain += group
        try:
            run = RuffRun(["--isolated", f"--select={BUGS}"])
            findings += ruff_findings(room, root, plain, run, machine) if plain else ()
        except RuffFailed as error:
            return (skipped("ruff", str(error), place="."), *unusable)
    ran = Checked(run=ToolRun(tool="ruff"), version=ruff_version, findings=tuple(findings))
    return (ran, *unusable)


def ruff_findings(
    room: Workroom, root: Path, paths: Sequence[str], run: RuffRun, machine: Machine
) -> tuple[Diagnostic, ...]:
    """The findings of one run over files that ruff only reads.

    Raises:
        RuffFailed: see there.
    """
    room.put(_LIST, "".join(f"{root / path}\n" for path in paths).encode())
    result = room.run(
        ToolCall((*ruff_program(), *_CHECK, *run.options, f"@{_LIST}"), readable=(root,)), machine
    )
    findings = findings_in(result.output, root, severity=run.severity) if result.code in (0, 1) else None
    if findings is None:
        raise RuffFailed(result.complaint or f"it ended with {result.code}")
    unread = [
        left_out(path, "ruff was left out: it cannot read the file, which may not be in UTF-8")
        for path in unread_in(result.output, root)
    ]
    return (*findings, *unread)
