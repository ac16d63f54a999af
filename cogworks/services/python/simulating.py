"""The operation `simulate`: run tests, one result for each."""

import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.codebase.changes import path_problem
from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import (
    Diagnostic,
    ErrorCode,
    RepositorySettings,
    Request,
    Response,
    TestCase,
    TestReport,
)
from cogworks.domain_services.testwords import pytest_begins
from cogworks.services.python.choosing import (
    asked_recipe,
    equipped_with,
    interpreter_for,
    needs_pytest,
)
from cogworks.services.python.imports import modules_behind
from cogworks.services.python.machine import Machine
from cogworks.services.python.needs import needs
from cogworks.services.python.parting import undivided
from cogworks.services.python.pythons import Interpreter
from cogworks.services.python.recipe.result import Recipe, places
from cogworks.services.python.remedies import is_module_of, remedies, unprepared
from cogworks.services.python.responses import blocking, refused, response_of
from cogworks.services.python.runners import NotKept, is_foreign
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.translating import in_other_words
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.isolation import Isolation, refusal
from cogworks.vocabulary import Severity

_MANY = 10
"""Failing tests."""
_RESERVED = ("PATH", "HOME", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")
"""Variables by which the run itself finds its way."""


def simulate(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = SimulateParams.model_validate(request.params)
    if (no := refused_run(request, params.tests, params.environment, machine.isolation)) is not None:
        return no
    asked = in_other_words(wanted(params), request, folder, machine.search_path)
    run = equipped(asked, request, folder, machine)
    run = run._replace(parts=params.parts != "never" and can_be_parted(run))
    report = _run(request, folder, run, machine)
    if report.timed_out and params.parts != "never" and not run.parts:
        report = report.model_copy(update={"remedies": (undivided(shlex.join(run.command)),)})
    at_setup = [case.message for case in report.cases if case.outcome == "error"]
    if report.collection_errors or at_setup:
        hints = _remedies(report, at_setup, request, folder, run)
        report = report.model_copy(update={"remedies": (*report.remedies, *hints)})
    if _most_fail(report) and machine.environments is not None:
        settings = request.repository.settings if request.repository else RepositorySettings()
        hints = unprepared(asked_recipe(request, folder, machine).before, settings.setup)
        report = report.model_copy(update={"remedies": (*report.remedies, *hints)})
    if missing := needs(report):
        report = report.model_copy(update={"remedies": (*report.remedies, *missing)})
    diagnostics = test_diagnostics(report) + left_out(run.interpreter)
    result, counts = report.model_dump(mode="json"), outcome_counts(report)
    return response_of(request, diagnostics, result, counts=counts, tools=report.versions)


def _most_fail(report: TestReport) -> bool:
    """Whether so much is wrong that one cause is likely; a single test fails for reasons of its own."""
    bad = [case for case in report.cases if case.outcome in ("failed", "error")]
    return bool(report.collection_errors) or (len(bad) >= _MANY and 2 * len(bad) > len(report.cases))


def can_be_parted(run: Wanted) -> bool:
    """Whether each file of a run can be run alone, with the same results."""
    return run.seed is None and not run.groups and not is_foreign(run.command)


def _remedies(
    report: TestReport, at_setup: Sequence[str], request: Request, folder: Path, run: Wanted
) -> tuple[str, ...]:
    return remedies(
        report.collection_errors,
        at_setup=at_setup,
        behind_try=modules_behind((*report.collection_errors, *at_setup), folder),
        is_own=lambda name: is_module_of(folder, name),
        left_out=run.interpreter.notes,
        packages=request.repository.settings.packages if request.repository else (),
    )


def refused_run(
    request: Request, tests: Sequence[str], environment: Mapping[str, str], isolation: Isolation
) -> Response | None:
    """Why these tests are not run at all; None: they may be."""
    problems = [f"{test!r}: {problem}" for test in tests if (problem := _test_problem(test)) is not None]
    problems += [
        f"environment: {name!r} is set by the service itself" for name in environment if name in _RESERVED
    ]
    if problems:
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, "; ".join(problems))
    if (reason := refusal(isolation, needs_walls=request.caller.needs_walls)) is not None:
        return refused(request.request_id, ErrorCode.TOOL_NOT_FOUND, reason)
    return None


def wanted(params: SimulateParams) -> Wanted:
    """The run that is asked for."""
    return Wanted(
        tests=params.tests,
        timeout_s=params.timeout_s,
        test_timeout_s=params.test_timeout_s,
        seed=params.seed,
        environment=params.environment,
        command=params.command,
        groups=params.groups,
        timings=params.timings,
    )


def equipped(
    asked: Wanted, request: Request, folder: Path, machine: Machine, *, in_pytest: bool = False
) -> Wanted:
    """The run with the Python of the repository's environment, which is made if it is not there.

    Args:
        in_pytest: whether pytest has to be there, whatever the command is.

    Raises:
        NotBuilt: it cannot be made.
    """
    started_s = time.monotonic()
    if machine.environments is None:
        root = request.repository.root if request.repository else ""
        interpreter = interpreter_for(request, folder, machine, limit_s=asked.timeout_s)
        return asked._replace(interpreter=interpreter, root=root)
    recipe = asked_recipe(request, folder, machine)
    run = asked if asked.command else _in_its_own_way(asked, recipe, folder)
    with_pytest = in_pytest or needs_pytest(recipe, run.command)
    interpreter = equipped_with(
        recipe, request, folder, machine, limit_s=asked.timeout_s, with_pytest=with_pytest
    )
    # What making an environment took is no longer there for the tests.
    left_s = max(asked.timeout_s - (time.monotonic() - started_s), min(asked.timeout_s, 1.0))
    root = request.repository.root if request.repository else ""
    return run._replace(timeout_s=left_s, interpreter=interpreter, root=root)


def _in_its_own_way(run: Wanted, recipe: Recipe, folder: Path) -> Wanted:
    """The run as the repository's own tools start it, where what they start is known here."""
    if recipe.command and is_foreign(recipe.command):
        return run
    if recipe.command and pytest_begins(recipe.command) is None:
        return run._replace(command=recipe.command)
    return run._replace(command=recipe.command, tests=run.tests or places(recipe, folder))


def _run(request: Request, folder: Path, run: Wanted, machine: Machine) -> TestReport:
    try:
        return run_tests(folder, run, isolation=machine.isolation, search_path=machine.search_path)
    except NotKept as error:
        params = SimulateParams.model_validate(request.params)
        if params.command:
            raise
        # The options were found, not configured: what they say of this machine may be wrong.
        equipped_run = equipped(run, request, folder, machine, in_pytest=True)
        plain = equipped_run._replace(command=(), tests=params.tests)
        report = run_tests(folder, plain, isolation=machine.isolation, search_path=machine.search_path)
        note = f"`{shlex.join(run.command)}`, which the repository's own tools run, was left for plain pytest: {error}"
        return report.model_copy(update={"remedies": (note, *report.remedies)})


def outcome_counts(report: TestReport) -> dict[str, int]:
    """How many tests came out how."""
    counts = dict.fromkeys(("passed", "failed", "error", "skipped"), 0)
    for case in report.cases:
        counts[case.outcome] += 1
    return counts


def test_diagnostics(report: TestReport) -> list[Diagnostic]:
    """The report's bad news as diagnostics, so that the status of the response follows from them alone."""
    bad = [_test_failure(case) for case in report.cases if case.outcome in ("failed", "error")]
    for text in report.collection_errors:
        artifact, _, message = text.partition(": ")
        bad.append(blocking(artifact, "test_failure", message.splitlines()[-1] if message else text))
    if report.timed_out:
        bad.append(blocking(".", "test_failure", "the run was ended at its time limit"))
    if report.left:
        bad.append(
            blocking(".", "completeness", f"no time for {len(report.left)} file(s); ask for them again")
        )
    if not bad and not report.passed:
        bad.append(blocking(".", "completeness", "no test ran"))
    return bad + _wall_diagnostics(report)


def _wall_diagnostics(report: TestReport) -> list[Diagnostic]:
    """What the isolation blocked, and what it could not keep the tests from."""
    texts = list(report.blocked)
    if report.unprotected:
        texts.append(f"nothing kept the tests from this: {'; '.join(report.unprotected)}")
    return [
        Diagnostic(artifact=".", severity=Severity.WARNING, category="safety_concern", message=text)
        for text in texts
    ]


def left_out(interpreter: Interpreter) -> list[Diagnostic]:
    """What of the manifest the tests had to do without."""
    return [
        Diagnostic(
            artifact=text.split(maxsplit=1)[0].rstrip(",:"),
            severity=Severity.WARNING,
            category="dependency_error",
            message=text,
        )
        for text in interpreter.notes
    ]


def _test_failure(case: TestCase) -> Diagnostic:
    lines = case.message.splitlines() or [case.outcome]
    return blocking(case.id.split("::")[0], "test_failure", f"{case.id}: {lines[-1]}")


def _test_problem(test: str) -> str | None:
    """Why a test id may not be handed to pytest: it could be taken for an option, or leads out of the copy."""
    path = test.split("::", maxsplit=1)[0].rstrip("/")
    return "an id does not begin with '-'" if test.startswith("-") else path_problem(path)
