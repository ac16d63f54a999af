"""What the service of commands answers to each method of the Extension API."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError

from cogworks import __version__
from cogworks.domain_services.languages import LANGUAGES, patterns_of
from cogworks.domain_services.messages import (
    API_VERSION,
    ConstraintResult,
    ErrorCode,
    Handshake,
    Request,
    Response,
    compatible,
    frame,
)
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES
from cogworks.services.answers import listed, refused
from cogworks.services.command.covering import coverage, covers
from cogworks.services.command.grammars import operations as grammars
from cogworks.services.command.ground import Commands, Machine, NotReady
from cogworks.services.command.preparing import prepare
from cogworks.services.command.simulating import simulate
from cogworks.services.command.validating import normalise, validate
from cogworks.services.python.cloning import Clones, NoRepository
from cogworks.services.python.pythons import NotBuilt

METHODS: Mapping[str, Callable[[Request, Path, Machine], Response]] = MappingProxyType(
    {
        **grammars.METHODS,
        # Says what grammars know as well.
        "validate": validate,
        "normalise": normalise,
        "simulate": simulate,
        "prepare": prepare,
    }
)
"""Who answers what; each is handed the request, the repository's directory and the machine, and may raise `OSError`,
`NotReady` and the `ValidationError` of its parameters."""
MEASURING: Mapping[str, Callable[[Request, Path, Machine], Response]] = MappingProxyType(
    {"coverage": coverage}
)
"""The same for what not every language has."""


def methods_of(commands: Commands) -> Mapping[str, Callable[[Request, Path, Machine], Response]]:
    """What a service with these commands answers, and announces."""
    return {**METHODS, **MEASURING} if covers(commands) else METHODS


class CommandService:
    """Checks and tests repositories by commands on this machine; holds nothing between two requests but what files say."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._methods = methods_of(machine.commands)

    def answer(self, line: bytes) -> Response:
        """The response to one line of the wire, whatever it holds."""
        try:
            request = Request.model_validate_json(line)
        except ValidationError as error:
            return refused(
                "", ErrorCode.INVALID_REQUEST, f"the request does not fit the schema: {listed(error)}"
            )
        if not compatible(request.api_version, API_VERSION):
            text = f"this service speaks API {API_VERSION}, the request {request.api_version}"
            return refused(request.request_id, ErrorCode.API_VERSION_MISMATCH, text)
        started = time.monotonic()
        response = self._dispatch(request)
        if response.error is None and request.interface_contracts:
            response = response.model_copy(update={"constraint_results": _not_checked(request)})
        if (size := len(frame(response))) > MAX_MESSAGE_BYTES:
            text = f"the answer has {size} bytes, a message at most {MAX_MESSAGE_BYTES}; ask about fewer tests or files"
            response = refused(request.request_id, ErrorCode.TOOL_FAILED, text)
        duration_ms = round((time.monotonic() - started) * 1000)
        metadata = response.metadata.model_copy(update={"duration_ms": duration_ms})
        return response.model_copy(update={"metadata": metadata})

    def _dispatch(self, request: Request) -> Response:
        if request.method == "handshake":
            result = self._handshake().model_dump(mode="json")
            return Response(request_id=request.request_id, status="success", result=result)
        if request.method not in self._methods:
            text = f"{request.method!r} is none of {', '.join(self._methods)}"
            return refused(request.request_id, ErrorCode.UNSUPPORTED_METHOD, text)
        if request.repository is None:
            text = "repository is missing; give the path of a directory or a clone URL with a ref"
            return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
        try:
            with ExitStack() as stack:
                clones = self._machine.clones or stack.enter_context(Clones())
                folder = stack.enter_context(clones.folder_of(request.repository))
                return self._methods[request.method](request, folder, self._machine)
        except ValidationError as error:
            return refused(request.request_id, ErrorCode.INVALID_REQUEST, f"params: {listed(error)}")
        except NotReady as error:
            return refused(request.request_id, error.code, str(error))
        except NotBuilt as error:
            return refused(request.request_id, error.code, str(error), recoverable=error.is_recoverable)
        except NoRepository as error:
            return refused(
                request.request_id,
                error.code,
                str(error),
                recoverable=error.is_passing,
                details=error.details,
            )
        except OSError as error:
            return refused(request.request_id, ErrorCode.TOOL_FAILED, str(error), recoverable=True)

    def _handshake(self) -> Handshake:
        isolation, language = self._machine.isolation, self._machine.commands.language
        return Handshake(
            name=f"command ({language})" if language else "command",
            service_version=__version__,
            api_version=API_VERSION,
            domain="commands",
            capabilities=tuple(self._methods),
            artifact_types=(language,) if language else tuple(LANGUAGES),
            artifact_patterns=patterns_of(language),
            status="ready" if isolation.is_complete else "degraded",
            isolation=isolation.layers,
            test_commands=True,
            environments="the programs of this machine, and what a setup installed; in isolation and without a network",
        )


def _not_checked(request: Request) -> tuple[ConstraintResult, ...]:
    """Said aloud, so that nobody takes silence for agreement."""
    return tuple(
        ConstraintResult(
            contract=each.id, status="not_checked", message="commands say nothing of such values"
        )
        for each in request.interface_contracts
    )
