"""What the Python service answers to each method of the Extension API."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError

from cogworks import __version__
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
from cogworks.services.python.besides import beside
from cogworks.services.python.cloning import Clones, NoRepository
from cogworks.services.python.covering import coverage, trace
from cogworks.services.python.depending import validate_deps
from cogworks.services.python.equipping import prepare
from cogworks.services.python.machine import Machine
from cogworks.services.python.normalising import normalise
from cogworks.services.python.operations import (
    call_graph,
    dependency_graph,
    extract_interfaces,
    index,
    instrument,
    signatures,
)
from cogworks.services.python.pythons import NotBuilt
from cogworks.services.python.responses import listed, refused
from cogworks.services.python.reviewing import review_rules
from cogworks.services.python.roots import answered_in_root
from cogworks.services.python.runners import NotKept
from cogworks.services.python.simulating import simulate
from cogworks.services.python.validating import validate

METHODS: Mapping[str, Callable[[Request, Path, Machine], Response]] = MappingProxyType(
    {
        "validate": validate,
        "normalise": normalise,
        "review_rules": review_rules,
        "simulate": simulate,
        "extract_interfaces": extract_interfaces,
        "dependency_graph": dependency_graph,
        "index": index,
        "call_graph": call_graph,
        "signatures": signatures,
        "validate_deps": validate_deps,
        "coverage": coverage,
        "trace": trace,
        "instrument": instrument,
        "beside": beside,
        "prepare": prepare,
    }
)
"""Who answers what; each is handed the request, the repository's directory and the machine, and may raise `OSError`,
`NotBuilt` and the `ValidationError` of its parameters."""


class PythonService:
    """Checks and tests Python repositories on this machine; holds nothing between two requests but what files say."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def answer(self, line: bytes) -> Response:
        """The response to one line of the wire, whatever it holds."""
        try:
            request = Request.model_validate_json(line)
        except ValidationError as error:
            text = f"the request does not fit the schema: {listed(error)}"
            return refused("", ErrorCode.INVALID_REQUEST, text)
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
            return Response(
                request_id=request.request_id,
                status="success",
                result=self._handshake().model_dump(mode="json"),
            )
        if request.method not in METHODS:
            text = f"{request.method!r} is none of {', '.join(METHODS)}"
            return refused(request.request_id, ErrorCode.UNSUPPORTED_METHOD, text)
        if request.repository is None:
            text = "repository is missing; give the path of a directory or a clone URL with a ref"
            return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
        try:
            with ExitStack() as stack:
                clones = self._machine.clones or stack.enter_context(Clones())
                folder = stack.enter_context(clones.folder_of(request.repository))
                method = METHODS[request.method]
                return answered_in_root(
                    request, folder, lambda narrowed, root: method(narrowed, root, self._machine)
                )
        except ValidationError as error:
            return refused(request.request_id, ErrorCode.INVALID_REQUEST, f"params: {listed(error)}")
        except NotKept as error:
            return refused(request.request_id, ErrorCode.INVALID_REQUEST, str(error))
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
        isolation = self._machine.isolation
        return Handshake(
            name="python",
            service_version=__version__,
            api_version=API_VERSION,
            domain="python",
            capabilities=tuple(METHODS),
            artifact_types=("python",),
            artifact_patterns=("*.py", "*.pyi"),
            status="ready" if isolation.is_complete else "degraded",
            isolation=isolation.layers,
            test_commands=True,
            test_groups=True,
            environments=_environments(self._machine),
        )


def _environments(machine: Machine) -> str:
    return machine.environments.described(machine.search_path) if machine.environments else ""


def _not_checked(request: Request) -> tuple[ConstraintResult, ...]:
    """Said aloud, so that nobody takes silence for agreement: plain Python carries no values of interface parameters."""
    return tuple(
        ConstraintResult(
            contract=contract.id, status="not_checked", message="Python code carries no such values"
        )
        for contract in request.interface_contracts
    )
