"""Asks the Python service in this process, with real tools behind the strongest isolation of this machine."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cogworks.domain_services.answers import fields_of
from cogworks.domain_services.messages import (
    Diagnostic,
    ErrorCode,
    Message,
    Repository,
    Request,
    Response,
    frame,
)
from cogworks.services.python.answering import PythonService
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.isolation import Isolation
from cogworks.services.sandbox.probing import strongest

HERE = strongest(os.environ["PATH"])
NO_ENVIRONMENTS = Path(os.devnull)
"""Where no environment can be made: for repositories that ask for nothing but pytest."""
MACHINE = Machine(os.environ["PATH"], HERE, Environments(NO_ENVIRONMENTS, settings={}))
"""Its Python loads no plugin of pytest that nobody asked for: those that our own tests want take longer to load than pytest."""
WITHOUT_ENVIRONMENTS = MACHINE._replace(environments=None)
"""Whatever a repository asks for, the service's own Python runs it, with what is beside it."""

CART = (
    "class Cart:\n"  # 1
    "    def __init__(self):\n"
    "        self.prices = []\n"
    "\n"
    "    def add(self, price):\n"  # 5
    "        if price < 0:\n"
    "            raise ValueError(price)\n"
    "        self.prices.append(price)\n"
    "\n"
    "\n"  # 10
)
"""The beginning of a module; nine lines and an empty one."""


def laid_out(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A repository with these files."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def ask(
    method: str,
    folder: Path,
    *,
    isolation: Isolation = HERE,
    needs_walls: bool = False,
    machine: Machine = MACHINE,
    **params: object,
) -> Response:
    """The service's answer."""
    return asked_for(method, folder, params, isolation=isolation, needs_walls=needs_walls, machine=machine)


def asked_for(
    method: str,
    folder: Path,
    params: Mapping[str, object],
    *,
    isolation: Isolation = HERE,
    needs_walls: bool = False,
    machine: Machine = MACHINE,
) -> Response:
    """The service's answer, where what is asked is a table."""
    request = {
        "request_id": "1",
        "method": method,
        "repository": {"path": str(folder)},
        "caller": {"needs_walls": needs_walls},
        "params": params,
    }
    return PythonService(machine._replace(isolation=isolation)).answer(json.dumps(request).encode())


def lines(response: Response) -> list[str]:
    """Each diagnostic in one line: place, severity, category, message."""
    return [
        f"{each.artifact}:{each.location.line or '-'} {each.severity.value} {each.category} {each.message}"
        for each in response.diagnostics
    ]


def diagnostic(place: str, severity: str, category: str, message: str) -> Diagnostic:
    """A diagnostic, its place written as `a.py:3`."""
    artifact, _, line = place.partition(":")
    return Diagnostic.model_validate(
        {
            "artifact": artifact,
            "line": int(line) if line else None,
            "severity": severity,
            "category": category,
            "message": message,
        }
    )


class Copy:
    """A directory as the client wants it."""

    def __init__(self, path: Path) -> None:
        self.path = path


def repository(folder: Path, files: Mapping[str, str]) -> Copy:
    """These files in a directory, as the client wants it."""
    return Copy(laid_out(folder, files))


def answered(method: str, copy: Copy, params: Message) -> Response:
    """What the service says to a request."""
    request = Request(
        request_id="1", method=method, repository=Repository(path=str(copy.path)), params=fields_of(params)
    )
    return PythonService(MACHINE).answer(frame(request))


def result_of(method: str, copy: Copy, params: Message) -> dict[str, Any]:
    """The result of an operation that could be carried out."""
    response = answered(method, copy, params)
    assert response.error is None, response.error
    return response.result


def refusal_of(method: str, copy: Copy, params: Message) -> tuple[ErrorCode, str]:
    """Why an operation was not carried out."""
    response = answered(method, copy, params)
    assert response.error is not None
    return response.error.code, response.error.message
