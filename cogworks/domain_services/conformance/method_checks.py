"""Checks of what a service announces: every method on a sample, and that bad news is reported."""

from collections.abc import Iterator, Mapping
from typing import Any

from cogworks.domain_services.conformance.examination import (
    Exam,
    Finding,
    Sample,
    Skipped,
    response_of,
    result_problem,
)
from cogworks.domain_services.messages import InterfaceContract, Response
from cogworks.domain_services.operations import OPERATIONS

CONTRACT = InterfaceContract(
    id="CONFORMANCE-1", interface_type="signal", parameters={"rate": {"value": 1, "unit": "Hz"}}
)
_NO_SAMPLE = "there is no sample for this domain; give one with --repository"


def method_on_sample(exam: Exam, method: str) -> Iterator[Finding]:
    """One announced method, asked about files that are in order."""
    sample = _sample(exam)
    params = _params(exam, method, sample)
    response = _response_of(exam, method, params)
    if isinstance(response, Finding):
        yield response
        return
    if response.error is not None:
        yield Finding(
            found=f"{method} is announced, but answers {response.error.code.value}: {response.error.message}",
            remedy="Announce only what works on this machine, or repair it.",
        )
        return
    request = exam.request(method, params)
    if (problem := result_problem(response, request)) is not None:
        yield problem
    elif method == "simulate" and (cases := response.result.get("cases")):
        exam.first_test = str(cases[0]["id"])


def contracts_answered(exam: Exam) -> Iterator[Finding]:
    """Each interface contract that is sent is answered."""
    sample = _sample(exam)
    for method in exam.capabilities():
        operation = OPERATIONS.get(method)
        if operation is None or not operation.takes_contracts:
            continue
        request = exam.request(method, _params(exam, method, sample), contracts=(CONTRACT,))
        response = response_of(exam.ask(request), request)
        if isinstance(response, Response) and response.error is None:
            problem = result_problem(response, request)
            if problem is not None and "contract" in problem.found:
                yield problem


def broken_file_found(exam: Exam) -> Iterator[Finding]:
    """A file that is broken is a failure with a blocking diagnostic."""
    sample = _sample(exam)
    if "validate" not in exam.capabilities() or not sample.broken:
        raise Skipped("`validate` is not announced, or no broken file is known; give one with --broken")
    response = _response_of(exam, "validate", {"artifacts": [sample.broken]})
    yield from _wants_failure(response, f"validate of the broken file {sample.broken!r}")


def failing_test_found(exam: Exam) -> Iterator[Finding]:
    """A test that fails is a failure with a blocking diagnostic."""
    sample = _sample(exam)
    if "simulate" not in exam.capabilities() or not sample.failing_test:
        raise Skipped(
            "`simulate` is not announced, or no failing test is known; give one with --failing-test"
        )
    response = _response_of(exam, "simulate", {"tests": [sample.failing_test], "timeout_s": exam.limit_s})
    yield from _wants_failure(response, f"simulate of the failing test {sample.failing_test!r}")


def command_kept(exam: Exam) -> Iterator[Finding]:
    """A service that keeps test commands runs no tests by one that runs none."""
    sample = _sample(exam)
    if exam.handshake is None or not exam.handshake.test_commands:
        raise Skipped("`test_commands` is not announced")
    params = {**_params(exam, "simulate", sample), "command": ["true"]}
    response = _response_of(exam, "simulate", params)
    if isinstance(response, Finding):
        yield response
    elif response.error is None:
        yield Finding(
            found=f"simulate by the command `true`, which runs no test, is answered with status `{response.status}`",
            remedy="Run tests by the command that is given and refuse one that reports none, or do not announce it.",
        )


def groups_kept(exam: Exam) -> Iterator[Finding]:
    """A service that runs tests in groups stops after one in which a test failed."""
    sample = _sample(exam)
    if exam.handshake is None or not exam.handshake.test_groups:
        raise Skipped("`test_groups` is not announced")
    whole = _response_of(exam, "simulate", _params(exam, "simulate", sample))
    cases = whole.result.get("cases", ()) if isinstance(whole, Response) else ()
    passing = next((str(case["id"]) for case in cases if case.get("outcome") == "passed"), "")
    if not (sample.failing_test and passing):
        raise Skipped("no failing test is known, or none that passes; give one with --failing-test")
    tests = [sample.failing_test, passing]
    params = {"tests": tests, "groups": [[test] for test in tests], "timeout_s": exam.limit_s}
    response = _response_of(exam, "simulate", params)
    if isinstance(response, Finding):
        yield response
    elif passing in [case.get("id") for case in response.result.get("cases", ())]:
        yield Finding(
            found=f"simulate in groups ran {passing!r} after {sample.failing_test!r} of an earlier group failed",
            remedy="Leave out what comes after a group with a failure, or do not announce `test_groups`.",
        )


def profile_met(exam: Exam) -> Iterator[Finding]:
    """Everything the chosen profile requires is announced."""
    announced = exam.capabilities()
    if exam.profile is None:
        raise Skipped("no --profile was given")
    for method in exam.profile.required:
        if method not in announced:
            yield Finding(
                found=f"the profile requires {method}, which is not announced",
                remedy=f"Implement {method}, or choose a smaller profile.",
            )


def _sample(exam: Exam) -> Sample:
    exam.capabilities()
    if exam.sample is None:
        raise Skipped(_NO_SAMPLE)
    return exam.sample


def _response_of(exam: Exam, method: str, params: Mapping[str, Any]) -> Response | Finding:
    request = exam.request(method, params)
    return response_of(exam.ask(request), request)


def _wants_failure(response: Response | Finding, what: str) -> Iterator[Finding]:
    if isinstance(response, Finding):
        yield response
    elif response.status != "failure":
        yield Finding(
            found=f"{what} is answered with status `{response.status}`",
            remedy="Say `failure` with a blocking diagnostic.",
        )


def _params(exam: Exam, method: str, sample: Sample) -> dict[str, Any]:
    fields = OPERATIONS[method].params.model_fields
    params: dict[str, Any] = {}
    if "artifacts" in fields:
        params["artifacts"] = list(sample.artifacts)
    if "mistakes_in" in fields:
        params["lines"] = {path: [[1, 1]] for path in sample.artifacts[:1]}
    if "timeout_s" in fields:
        params["timeout_s"] = exam.limit_s
    if "tests" in fields and sample.failing_test:
        params["tests"] = [path for path in sample.artifacts if "test" in path]
    if "seeds" in fields:
        params["seeds"] = [f"{path}:1" for path in sample.artifacts[:1]]
    if "artifact" in fields:
        # Whether line 1 is in a definition nobody knows; that it is not, is an answer too.
        params |= {"artifact": sample.artifacts[0], "line": 1, "mode": "note"}
    if "test" in fields:
        if not exam.first_test:
            raise Skipped("no test id is known: `simulate` reported none")
        params["test"] = exam.first_test
    return params
