"""A local program as the model: the request as JSON on its standard input, the reply as JSON on its standard output.

Only the operator names it, in `COGWORKS_LLM_COMMAND`: it runs outside the isolation, so no repository may choose it.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from pydantic import TypeAdapter, ValidationError, field_validator

from cogworks.errors import (
    CogworksError,
    ConfigurationError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
    UsageError,
)
from cogworks.leaving import masked
from cogworks.llm.opening import Opening, Readiness
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.llm.providers.refusals import Count
from cogworks.llm.waiting import Waits
from cogworks.settings.config import Environment
from cogworks.settings.sections import LlmConfig
from cogworks.vocabulary import Value

MAX_OUTPUT_BYTES = 16_000_000
LIMIT_S = 1800.0
PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
)
"""What the program gets of our environment besides the variables that the operator names."""

_TAIL_LINES = 5
_POLL_S = 0.02
_BYTES_PER_TOKEN = 3
_SETTING = "COGWORKS_LLM_COMMAND"
_COUNT = TypeAdapter(Count)


class _Answer(Value):
    text: str
    stop_reason: str = "end_turn"
    model: str = ""
    usage: Usage | None = None

    @field_validator("usage")
    @classmethod
    def _counts(cls, usage: Usage | None) -> Usage | None:
        for count in usage.model_dump().values() if usage else ():
            _COUNT.validate_python(count)
        return usage


class CommandProvider:
    """Starts the program once for each request; see `Provider` for what it raises."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        left_s: Callable[[], float | None] = lambda: None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> None:
        """Args:
        environment: all that the program sees.
        left_s: what is left of the caller's time; None: no limit of the caller.
        """
        self._command = tuple(command)
        self._environment = dict(environment)
        self._left_s = left_s
        self._max_bytes = max_bytes

    def complete(self, request: ModelRequest) -> ModelReply:
        """One run of the program, in an empty folder; it is killed with everything it started."""
        document = {
            "version": 1,
            "model": request.model,
            "system": request.system,
            "messages": [message.model_dump() for message in request.messages],
            "schema": request.output_schema,
            "max_output_tokens": request.max_output_tokens,
        }
        sent = json.dumps(document).encode()
        left_s = self._left_s()
        limit_s = LIMIT_S if left_s is None else max(0.0, min(LIMIT_S, left_s))
        with (
            tempfile.TemporaryDirectory(prefix="cogworks-model-") as folder,
            tempfile.TemporaryFile() as input_file,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            input_file.write(sent)
            input_file.seek(0)
            try:
                process = subprocess.Popen(
                    self._command, cwd=folder, env=self._environment, stdin=input_file, stdout=out, stderr=err,
                    start_new_session=True,
                )  # fmt: skip
            except (OSError, ValueError) as error:
                problem = f"{self._command[0]!r} cannot be started: {error}; name a program of this machine"
                raise ConfigurationError(_SETTING, [problem]) from error
            code = self._ended(process, (out, err), limit_s)
            if code != 0:
                raise _failure(code, _tail(err))
            out.seek(0)
            return _reply(out.read(), request, sent, _tail(err))

    def _ended(self, process: "subprocess.Popen[bytes]", written: Sequence[BinaryIO], limit_s: float) -> int:
        ends = time.monotonic() + limit_s
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(_POLL_S)
                    self._refuse_too_much(written)
                    return code
                self._refuse_too_much(written)
                if time.monotonic() >= ends:
                    raise TryAgainLater(
                        f"the program of `{_SETTING}` did not answer within {limit_s:.0f} s and was killed. "
                        "Run the same step again later.",
                        is_timeout=True,
                    )
        finally:
            # Also after a good end and at Ctrl-C: what it started must not outlive it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _refuse_too_much(self, written: Sequence[BinaryIO]) -> None:
        if any(os.fstat(file.fileno()).st_size > self._max_bytes for file in written):
            raise InvalidReply(
                f"the program of `{_SETTING}` wrote more than {self._max_bytes} bytes and was killed. "
                "It has to write one JSON object and nothing else."
            )


def _failure(code: int, stderr: str) -> CogworksError:
    what = f"the program of `{_SETTING}` ended with exit code {code}: {stderr}"
    if code == os.EX_TEMPFAIL or code < 0:
        return TryAgainLater(f"{what}. Nothing was answered; run the same step again later.")
    if code == os.EX_NOPERM:
        return PermissionRefused(f"{what}. Log in with that program, then run the same step again.")
    if code in {os.EX_USAGE, os.EX_CONFIG, 126, 127}:
        return ConfigurationError(_SETTING, [what])
    return NodeFailed(f"{what}. The same request would fail again; exit code 75 asks for another try.")


def _reply(body: bytes, request: ModelRequest, sent: bytes, stderr: str) -> ModelReply:
    try:
        answer = _Answer.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "output"
        raise InvalidReply(
            f"the program of `{_SETTING}` did not write the JSON object that is wanted ({place}: {first['msg']}). "
            f'Wanted is {{"text": "…"}}, with `usage`, `model` and `stop_reason` where they are known. It said: {stderr}'
        ) from None
    usage = answer.usage or Usage(
        input_tokens=_tokens(sent), output_tokens=_tokens(answer.text.encode("utf-8", "replace"))
    )
    return ModelReply(
        text=answer.text, stop_reason=answer.stop_reason, usage=usage, model=answer.model or request.model
    )


def _tokens(text: bytes) -> int:
    return -(-len(text) // _BYTES_PER_TOKEN)


def _tail(file: BinaryIO) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4000))
    lines = [line for line in masked(file.read().decode(errors="replace")).splitlines() if line.strip()]
    return " / ".join(lines[-_TAIL_LINES:]) or "nothing on standard error"


class _Opening(Opening):
    @contextmanager
    def open(self, llm: LlmConfig, environment: Environment, waits: Waits) -> Iterator[CommandProvider]:
        del llm
        program = program_of(environment)
        yield CommandProvider(program, environment=_seen(environment.variables), left_s=waits.left_s)

    def readiness(self, environment: Environment) -> Readiness:
        program_of(environment)
        return Readiness(found=f"the program of `{_SETTING}`; no key is needed")


OPENING = _Opening()


def program_of(environment: Environment) -> tuple[str, ...]:
    """The program that the operator names, wherever it is started, and its arguments.

    Raises:
        ConfigurationError: the variable cannot be split into words.
        UsageError: it names none, or none that this machine has.
    """
    try:
        words = shlex.split(environment.variables.get(_SETTING, ""))
    except ValueError as error:
        problem = f"`{_SETTING}` cannot be split into words ({error}); close its quotes as for a shell"
        raise ConfigurationError("the environment", [problem]) from error
    if not words:
        raise UsageError(
            f"the provider `command` needs a program. Name it in `{_SETTING}`; a repository cannot."
        )
    name, *arguments = words
    path = shutil.which(name, path=_seen(environment.variables).get("PATH", os.defpath))
    if path is None:
        raise UsageError(
            f"`{_SETTING}` names the program `{name}`, which is not on this machine or cannot be executed. "
            "Install it, or write where it is."
        )
    return (os.path.abspath(path), *arguments)  # noqa: PTH100 - a link's own name may be what the program goes by


def _seen(variables: Mapping[str, str]) -> dict[str, str]:
    """What the program sees of the variables of our environment: what every program needs, and those that the operator names."""
    named = variables.get("COGWORKS_LLM_COMMAND_ENV", "").replace(",", " ").split()
    return {name: variables[name] for name in (*PASSED_ON, *named) if name in variables}
