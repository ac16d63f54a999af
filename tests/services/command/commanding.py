"""Asks the service of commands in this process, with real toolchains behind the strongest isolation of this machine."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import Response, TestReport
from cogworks.services.command.answering import CommandService
from cogworks.services.command.ground import Commands, Machine
from cogworks.services.command.toolchains import toolchain_of
from cogworks.services.sandbox.isolation import Isolation
from tests.services.asking import HERE


def ask(
    method: str,
    folder: Path,
    *,
    commands: Commands | None = None,
    root: str = "",
    settings: dict[str, Any] | None = None,
    kept: Path | None = None,
    caller: dict[str, Any] | None = None,
    base: str | None = None,
    path: str = os.environ["PATH"],
    environment_of_service: Mapping[str, str] | None = None,
    home: Path | None = None,
    isolation: Isolation = HERE,
    passing: Path | None = None,
    **params: Any,
) -> Response:
    """The service's answer."""
    repository: dict[str, Any] = {"path": str(folder), "root": root, "settings": settings or {}, "base": base}
    request = {
        "request_id": "1",
        "method": method,
        "caller": caller or {},
        "repository": repository,
        "params": params,
    }
    machine = Machine(
        path,
        isolation,
        commands or Commands(),
        kept,
        settings=environment_of_service or {},
        home=home,
        passing=passing,
    )
    return CommandService(machine).answer(json.dumps(request).encode())


def report_of(folder: Path, **asked: Any) -> TestReport:
    """What `simulate` says."""
    response = ask("simulate", folder, **asked)
    assert response.error is None, response.error
    return TestReport.model_validate(response.result)


def outcomes(report: TestReport) -> dict[str, str]:
    """Test -> outcome."""
    return {case.id: case.outcome for case in report.cases}


def needs(*programs: str) -> pytest.MarkDecorator:
    """Passes over a test where a program is not on this machine."""
    missing = [
        each
        for each in programs
        if shutil.which(each) is None or toolchain_of([each], os.environ["PATH"]).missing
    ]
    return pytest.mark.skipif(bool(missing), reason=f"not on this machine: {', '.join(missing)}")


def needs_files(*places: str) -> pytest.MarkDecorator:
    """Passes over a test where packages of the system are not on this machine."""
    missing = [each for each in places if not Path(each).exists()]
    return pytest.mark.skipif(bool(missing), reason=f"not on this machine: {', '.join(missing)}")
