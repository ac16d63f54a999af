"""Which type checker a repository has configured, and what its findings mean."""

import configparser
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cogworks.codebase.confined import read_file
from cogworks.domain_services.messages import Diagnostic
from cogworks.services.python.settings_files import PYPROJECT, read_toml, tool_table
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


def read_mypy(output: bytes, asked: Sequence[str]) -> Reported | None:
    """What mypy said of the asked files, one JSON object a line; None when it is something else."""
    try:
        records = [json.loads(line) for line in output.splitlines() if line.strip()]
        lacking = [record["message"] for record in records if record["code"] in _LACKS_MODULE]
        wanted = frozenset(asked)
        findings = tuple(
            _finding(record, is_certain=not lacking) for record in records if record["file"] in wanted
        )
    except (ValueError, TypeError, KeyError):
        return None
    return Reported(findings=findings, lacking=tuple(dict.fromkeys(lacking)))


def reason_in(output: bytes, complaint: str) -> str:
    """Why mypy gave up, from whatever it said."""
    try:
        records = [json.loads(line) for line in output.splitlines() if line.strip()]
        told = [f"{record['file']}:{record['line']}: {record['message']}" for record in records[:3]]
    except (ValueError, TypeError, KeyError):
        told = []
    return "; ".join([*told, *complaint.splitlines()[-3:]]) or "it said nothing"


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
