"""What the Python service answers to each method of the Extension API."""

import platform
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cogworks import __version__
from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import SimulateParams, ValidateParams
from cogworks.domain_services.messages import (
    API_VERSION,
    ConstraintResult,
    Diagnostic,
    ErrorCode,
    Handshake,
    Metadata,
    Request,
    Response,
    ServiceError,
    TestCase,
    TestReport,
    compatible,
    reported,
)
from cogworks.services.python.syntax import is_python, missing, syntax_problems
from cogworks.services.python.testrun import Wanted, run_tests
from cogworks.services.sandbox.walls import Walls, refusal
from cogworks.vocabulary import Severity

_METHODS = ("validate", "simulate")


class PythonService:
    """Checks and tests Python repositories on this machine; holds nothing between two requests."""

    def __init__(self, *, search_path: str, walls: Walls) -> None:
        self._search_path = search_path
        self._walls = walls

    def answer(self, line: bytes) -> Response:
        """The response to one line of the wire, whatever it holds."""
        try:
            request = Request.model_validate_json(line)
        except ValidationError as error:
            return _error(
                "", ErrorCode.INVALID_REQUEST, f"the request does not fit the schema: {_listed(error)}"
            )
        if not compatible(request.api_version, API_VERSION):
            text = f"this service speaks API {API_VERSION}, the request {request.api_version}"
            return _error(request.request_id, ErrorCode.API_VERSION_MISMATCH, text)
        started = time.monotonic()
        response = self._dispatch(request)
        if response.error is None and request.interface_contracts:
            response = response.model_copy(update={"constraint_results": _not_checked(request)})
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
        if request.method not in _METHODS:
            text = f"{request.method!r} is none of {', '.join(_METHODS)}"
            return _error(request.request_id, ErrorCode.UNSUPPORTED_METHOD, text)
        if request.repository is None or not (folder := Path(request.repository.path)).is_dir():
            text = f"repository.path must be a directory of this machine, not {request.repository and request.repository.path!r}"
            return _error(request.request_id, ErrorCode.ARTIFACT_NOT_FOUND, text)
        try:
            if request.method == "validate":
                return _validate(request, folder, ValidateParams.model_validate(request.params))
            return self._simulate(request, folder, SimulateParams.model_validate(request.params))
        except ValidationError as error:
            return _error(request.request_id, ErrorCode.INVALID_REQUEST, f"params: {_listed(error)}")
        except OSError as error:
            return _error(request.request_id, ErrorCode.TOOL_FAILED, str(error), recoverable=True)

    def _handshake(self) -> Handshake:
        return Handshake(
            name="python",
            service_version=__version__,
            api_version=API_VERSION,
            domain="python",
            capabilities=_METHODS,
            artifact_types=("python",),
            artifact_patterns=("*.py", "*.pyi"),
            status="ready" if self._walls.is_complete else "degraded",
            isolation=self._walls.layers,
        )

    def _simulate(self, request: Request, folder: Path, params: SimulateParams) -> Response:
        problems = [
            f"{test!r}: {problem}" for test in params.tests if (problem := _test_problem(test)) is not None
        ]
        if problems:
            return _error(request.request_id, ErrorCode.INVALID_REQUEST, "; ".join(problems))
        if request.caller.needs_walls and (reason := refusal(self._walls)) is not None:
            return _error(request.request_id, ErrorCode.TOOL_NOT_FOUND, reason)
        wanted = Wanted(params.tests, params.timeout_s, params.test_timeout_s)
        report = run_tests(folder, wanted, walls=self._walls, search_path=self._search_path)
        counts = dict.fromkeys(("passed", "failed", "error", "skipped"), 0)
        for case in report.cases:
            counts[case.outcome] += 1
        return _found(request, _test_diagnostics(report), report.model_dump(mode="json"), counts)


def _validate(request: Request, folder: Path, params: ValidateParams) -> Response:
    problems = [
        f"{path!r}: {problem}" for path in params.artifacts if (problem := path_problem(path)) is not None
    ]
    if problems:
        return _error(request.request_id, ErrorCode.INVALID_REQUEST, "; ".join(problems))
    ours = [path for path in params.artifacts if is_python(path)]
    found: list[Diagnostic] = []
    for path in ours:
        file = read_file(folder, path)
        found += [missing(path)] if file is None else syntax_problems(path, file.data)
    return _found(request, found, {}, {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)})


def _found(
    request: Request, found: list[Diagnostic], result: dict[str, Any], counts: dict[str, int]
) -> Response:
    blocking = any(diagnostic.severity is Severity.BLOCKING for diagnostic in found)
    versions = {"python": platform.python_version(), "pytest": pytest.__version__}
    return Response(
        request_id=request.request_id,
        status="failure" if blocking else "success",
        result=result,
        diagnostics=tuple(reported(diagnostic) for diagnostic in found),
        metadata=Metadata(tool_versions=versions, counts=counts),
    )


def _test_diagnostics(report: TestReport) -> list[Diagnostic]:
    """The report's bad news as diagnostics, so that the status of the response follows from them alone."""
    found = [_test_failure(case) for case in report.cases if case.outcome in ("failed", "error")]
    for text in report.collection_errors:
        artifact, _, message = text.partition(": ")
        found.append(_blocking(artifact, "test_failure", message.splitlines()[-1] if message else text))
    if report.timed_out:
        found.append(_blocking(".", "test_failure", "the run was ended at its time limit"))
    if not found and not report.passed:
        found.append(_blocking(".", "completeness", "no test ran"))
    return found + _wall_diagnostics(report)


def _wall_diagnostics(report: TestReport) -> list[Diagnostic]:
    """What the walls met, and what they could not keep the tests from."""
    found = [
        Diagnostic(artifact=".", severity=Severity.WARNING, category="safety_concern", message=text)
        for text in report.blocked
    ]
    if report.unprotected:
        text = f"nothing kept the tests from this: {'; '.join(report.unprotected)}"
        found.append(
            Diagnostic(artifact=".", severity=Severity.WARNING, category="safety_concern", message=text)
        )
    return found


def _test_failure(case: TestCase) -> Diagnostic:
    lines = case.message.splitlines() or [case.outcome]
    return _blocking(case.id.split("::")[0], "test_failure", f"{case.id}: {lines[-1]}")


def _blocking(artifact: str, category: str, message: str) -> Diagnostic:
    return Diagnostic(artifact=artifact, severity=Severity.BLOCKING, category=category, message=message)


def _test_problem(test: str) -> str | None:
    """Why a test id may not be handed to pytest: it could be taken for an option, or leads out of the copy."""
    path = test.split("::", maxsplit=1)[0].rstrip("/")
    return "an id does not begin with '-'" if test.startswith("-") else path_problem(path)


def _not_checked(request: Request) -> tuple[ConstraintResult, ...]:
    """Said aloud, so that nobody takes silence for agreement: plain Python carries no values of interface parameters."""
    return tuple(
        ConstraintResult(
            contract=contract.id, status="not_checked", message="Python code carries no such values"
        )
        for contract in request.interface_contracts
    )


def _error(request_id: str, code: ErrorCode, message: str, *, recoverable: bool = False) -> Response:
    error = ServiceError(code=code, message=message, recoverable=recoverable)
    return Response(request_id=request_id, status="error", error=error)


def _listed(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'message'}: {item['msg']}" for item in error.errors()[:5]
    )
