"""Tools that a repository declares in `.cogworks/tools/*.toml`: a command that is told its input and says its output as JSON."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import Field

from cogworks.canonical import canonical
from cogworks.errors import CogworksError, ConfigurationError
from cogworks.tools.policy import read_declaration
from cogworks.tools.registry import (
    MAX_TIMEOUT_S,
    PROFILE_NAME,
    TOOL_NAME,
    Call,
    Effects,
    Handler,
    ToolFailed,
    ToolRegistry,
)
from cogworks.vocabulary import Value

TOOL_FOLDER = ".cogworks/tools"
TRY_AGAIN = 75
"""The exit code by which a command says that it may work later."""
_MAX_SAID_CHARS = 2_000


class Ran(Protocol):
    """What became of a command."""

    @property
    def exit_code(self) -> int | None:
        """None: it was killed at its time limit, with everything it had started."""

    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...


Run = Callable[[Sequence[str], str, float], Ran]
"""Runs a command in the repository: its words, its standard input, its time in seconds. Raises when it cannot be started."""


class ToolFile(Value):
    """`.cogworks/tools/<file>.toml`"""

    name: str = Field(pattern=TOOL_NAME)
    profiles: tuple[str, ...] = Field(min_length=1)
    description: str = Field(min_length=1)
    command: tuple[str, ...] = Field(min_length=1)
    capabilities: tuple[str, ...] = ()
    effects: Effects
    idempotent: bool = False
    requires_approval: bool = False
    cost: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    latency: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    timeout_s: float = Field(default=60.0, gt=0, le=MAX_TIMEOUT_S)
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    scope_schema: dict[str, Any]
    """What a policy has to say about the tool's reach; an empty table: nothing."""


class Refused(Value):
    """A file that declares no tool that can be used, and why."""

    file: str
    reason: str


class Loaded(Value):
    """What the files of a repository declare."""

    tools: tuple[ToolFile, ...]
    refused: tuple[Refused, ...] = ()


def load(files: Mapping[str, str], registry: ToolRegistry, run: Run) -> Loaded:
    """Register the tools of a repository; a file that is wrong is left out, and the others count.

    Args:
        files: path -> text of each file.
    """
    loaded: list[ToolFile] = []
    refused: list[Refused] = []
    for path, text in sorted(files.items()):
        try:
            declared = read_declaration(text, ToolFile, source=path)
            _require_profiles(declared, path)
            _register(declared, registry, run)
        except (CogworksError, ValueError) as error:
            refused.append(Refused(file=path, reason=str(error)))
        else:
            loaded.append(declared)
    return Loaded(tools=tuple(loaded), refused=tuple(refused))


def _require_profiles(declared: ToolFile, path: str) -> None:
    wrong = [name for name in declared.profiles if re.fullmatch(PROFILE_NAME, name) is None]
    if wrong:
        raise ConfigurationError(path, [f"`profiles` holds {name!r}" for name in wrong])


def _register(declared: ToolFile, registry: ToolRegistry, run: Run) -> None:
    fields = declared.model_dump(exclude={"name", "profiles", "command"})
    for profile in declared.profiles:
        registry.register(profile, declared.name, handler=_handler(declared, run), **fields)


def _handler(declared: ToolFile, run: Run) -> Handler:
    def call_command(parameters: dict[str, Any], call: Call) -> Mapping[str, Any]:
        request = {"input": parameters, "scope": dict(call.scope), "metadata": dict(call.metadata)}
        try:
            ran = run(declared.command, canonical(request), call.timeout_s)
        except CogworksError as error:
            raise ToolFailed("cannot_start", str(error)) from error
        return _output(ran, call.timeout_s)

    return call_command


def _output(ran: Ran, timeout_s: float) -> Mapping[str, Any]:
    if ran.exit_code is None:
        raise ToolFailed("timeout", f"killed after {timeout_s:g} s, with everything it had started")
    if ran.exit_code != 0:
        code = "unavailable" if ran.exit_code == TRY_AGAIN else "exit_code"
        message = ran.stderr.strip()[-_MAX_SAID_CHARS:] or "it said nothing"
        raise ToolFailed(code, f"ended with {ran.exit_code}: {message}")
    try:
        output = json.loads(ran.stdout)
    except (ValueError, RecursionError):
        raise ToolFailed("output_validation_failed", "its standard output is not one JSON value") from None
    if not isinstance(output, dict):
        raise ToolFailed("output_validation_failed", "its standard output is not a JSON object")
    return output
