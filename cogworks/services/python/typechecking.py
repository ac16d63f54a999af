"""Runs the type checker that a repository has configured; its plugins are code, so it runs in isolation."""

import configparser
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import ToolRun
from cogworks.domain_services.messages import Caller, Diagnostic
from cogworks.services.python.code.repository import is_test_file
from cogworks.services.python.linting import installed_version
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import Checked, left_out, skipped
from cogworks.services.python.settings_files import PYPROJECT, read_toml, tool_table
from cogworks.services.python.workroom import ToolCall, workroom
from cogworks.services.sandbox.isolation import refusal
from cogworks.vocabulary import Severity, Value

_MYPY_FILES = ("mypy.ini", ".mypy.ini", PYPROJECT, "setup.cfg")
_PYRIGHT_FILE = "pyrightconfig.json"
_TARGETS = ("files", "packages", "modules")
# Without the module nothing is known of what comes from it, so errors may be ours and not the code's.
_LACKS_MODULE = frozenset({"import-not-found", "import-untyped", "import"})
_SEVERITIES = {"error": Severity.BLOCKING}


class TypeChecker(Value):
    """A type checker that the repository asks for."""

    name: str
    place: str
    """The file that says so."""
    problem: str = ""
    """Why its settings cannot be used."""
    has_targets: bool = False
    """Whether the settings say what is to be checked."""
    has_plugins: bool = False
    """Whether the settings name code that the checker runs."""


class Reported(Value):
    """What a run of mypy said."""

    findings: tuple[Diagnostic, ...]
    lacking: tuple[str, ...]
    """The messages about modules that it did not find."""


def configured_checker(root: Path) -> TypeChecker | None:
    """The type checker of a repository: mypy by the first of its files that configures it, else pyright."""
    for place in _MYPY_FILES:
        if not (root / place).is_file():
            continue
        own = _mypy_table(root, place)
        if isinstance(own, str):
            # Nobody knows which one a file asks for that cannot be read.
            return TypeChecker(name="type checker", place=place, problem=own)
        if own is not None:
            return TypeChecker(
                name="mypy",
                place=place,
                has_targets=any(own.get(name) for name in _TARGETS),
                has_plugins=bool(own.get("plugins")),
            )
    if (root / _PYRIGHT_FILE).is_file():
        return TypeChecker(name="pyright", place=_PYRIGHT_FILE)
    tables = read_toml(root, PYPROJECT)
    if not isinstance(tables, str) and tool_table(tables, "pyright") is not None:
        return TypeChecker(name="pyright", place=PYPROJECT)
    return None


def read_mypy(output: bytes, paths: Sequence[str]) -> Reported | None:
    """What mypy said of the asked files, one JSON object a line; None when it is something else."""
    try:
        records = [json.loads(line) for line in output.splitlines() if line.strip()]
        lacking = [record["message"] for record in records if record["code"] in _LACKS_MODULE]
        asked_paths = frozenset(paths)
        findings = tuple(
            _finding(record, is_certain=not lacking) for record in records if record["file"] in asked_paths
        )
    except (ValueError, TypeError, KeyError):
        return None
    return Reported(findings=findings, lacking=tuple(dict.fromkeys(lacking)))


def reason_in(output: bytes, complaint: str) -> str:
    """Why mypy gave up, from what it printed."""
    try:
        records = [json.loads(line) for line in output.splitlines() if line.strip()]
        lines = [f"{record['file']}:{record['line']}: {record['message']}" for record in records[:3]]
    except (ValueError, TypeError, KeyError):
        lines = []
    return "; ".join([*lines, *complaint.splitlines()[-3:]]) or "it said nothing"


def _finding(record: Mapping[str, Any], *, is_certain: bool) -> Diagnostic:
    severity = _SEVERITIES.get(record["severity"], Severity.INFORMATIONAL)
    if severity is Severity.BLOCKING and (not is_certain or record["code"] in _LACKS_MODULE):
        severity = Severity.WARNING
    code = f" [{record['code']}]" if record["code"] else ""
    return Diagnostic(
        artifact=record["file"],
        line=record["line"] if record["line"] > 0 else None,
        severity=severity,
        category="type_error",
        message=f"{record['message']}{code}",
    )


def _mypy_table(root: Path, place: str) -> Mapping[str, Any] | str | None:
    if place == PYPROJECT:
        tables = read_toml(root, place)
        return tables if isinstance(tables, str) else tool_table(tables, "mypy")
    file = read_file(root, place)
    if file is None:
        return "it is no regular file of the repository"
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(file.data.decode())
    except (ValueError, configparser.Error) as error:
        return f"it cannot be read: {error}"
    return dict(parser["mypy"]) if parser.has_section("mypy") else None


TYPES_LIMIT_S = 200.0
_MYPY = (sys.executable, "-I", "-m", "mypy", "--output=json", "--no-incremental", "--cache-dir=/dev/null")
_LIST = ".cogworks-files"


def check_types(root: Path, paths: Sequence[str], machine: Machine, *, caller: Caller) -> tuple[Checked, ...]:
    """What the repository's own type checker says of files; why nothing, where it did not run.

    A type error blocks, unless the checker lacked a module: then it cannot know. Where the settings do not say what is
    checked, tests are not.
    """
    checker = configured_checker(root)
    if checker is None:
        return (skipped("type checker", "the repository configures none"),)
    if (reason := _reason_to_skip(checker, machine, caller)) is not None:
        return (skipped(checker.name, reason, place=checker.place),)
    checked = paths if checker.has_targets else [path for path in paths if not is_test_file(path)]
    if not checked:
        return (skipped(checker.name, f"{checker.place} does not say that tests are checked"),)
    return (_mypy(root, checked, checker, machine),)


def _reason_to_skip(checker: TypeChecker, machine: Machine, caller: Caller) -> str | None:
    if checker.problem:
        return checker.problem
    if checker.name != "mypy":
        return f"{checker.name} is configured, and this service runs only mypy"
    if installed_version("mypy") is None:
        return "mypy is configured and not installed beside cogworks"
    return refusal(machine.isolation, needs_walls=caller.needs_walls)


def _mypy(root: Path, paths: Sequence[str], checker: TypeChecker, machine: Machine) -> Checked:
    targets = [] if checker.has_targets else [f"@{_LIST}"]
    with workroom() as room:
        try:
            room.put_all_of(root)
        except OSError as error:
            return skipped("mypy", f"the repository cannot be copied: {error}", place=checker.place)
        # Behind `./` no file name is taken for an option.
        room.put(_LIST, "".join(f"./{path}\n" for path in paths).encode())
        command = [*_MYPY, f"--config-file={checker.place}", *targets]
        result = room.run(ToolCall(command, timeout_s=TYPES_LIMIT_S), machine)
    reported = read_mypy(result.output, paths) if result.code in (0, 1) else None
    if reported is None:
        return skipped("mypy", reason_in(result.output, result.complaint), place=checker.place)
    return Checked(
        run=ToolRun(tool="mypy"),
        version=installed_version("mypy") or "",
        findings=(*reported.findings, *_doubts(reported.lacking, checker, machine)),
    )


def _doubts(lacking: Sequence[str], checker: TypeChecker, machine: Machine) -> list[Diagnostic]:
    """What makes the findings less than certain, or the run less than safe."""
    doubts = []
    if lacking:
        text = f"mypy lacked modules, so none of its errors blocks: {'; '.join(lacking[:5])}"
        doubts.append(left_out(checker.place, text))
    if checker.has_plugins and machine.isolation.unprotected:
        text = f"nothing kept the plugins of mypy from this: {'; '.join(machine.isolation.unprotected)}"
        doubts.append(
            Diagnostic(
                artifact=checker.place, severity=Severity.WARNING, category="safety_concern", message=text
            )
        )
    return doubts
