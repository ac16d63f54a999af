"""The operations `coverage` and `trace`: the lines each test executes, and one test's execution step by step with values."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cogworks.codebase.changes import path_problem
from cogworks.domain_services.exploring import (
    Coverage,
    CoverageParams,
    Lines,
    Steps,
    TestCoverage,
    Trace,
    TraceEvent,
    TraceParams,
)
from cogworks.domain_services.messages import ErrorCode, Request, Response, TestCase, TestReport
from cogworks.services.python.imports import is_test_file
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import outside, refused, response_of
from cogworks.services.python.runners import is_foreign, reports_by_order
from cogworks.services.python.simulating import (
    equipped,
    left_out,
    outcome_counts,
    refused_run,
    test_diagnostics,
    wanted,
)
from cogworks.services.python.testrun import Observed, observe_tests
from cogworks.services.python.translating import in_other_words
from cogworks.services.python.wanted import Plugin, Wanted


def trace(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = TraceParams.model_validate(request.params)
    if (no := outside(request, params.artifacts)) is not None:
        return no
    if (no := refused_run(request, (params.test,), {}, machine.isolation)) is not None:
        return no
    asked = Wanted(
        tests=(params.test,), timeout_s=params.timeout_s, test_timeout_s=0, plugins=(_tracer(params),)
    )
    asked = equipped(asked, request, folder, machine, in_pytest=True)
    if reports_by_order(asked.command):
        # Steps are followed in pytest, which runs these tests as well.
        asked = asked._replace(command=())
    run = observe_tests(folder, asked, isolation=machine.isolation, search_path=machine.search_path)
    case = _case(params.test, run.report)
    if case is None:
        text = f"{params.test!r} is {len(run.report.cases)} tests; name one, as a report does"
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
    events = tuple(_events([record for record in run.records if record["kind"] == "step"]))
    is_whole = any(record["kind"] == "steps-end" and record["is_whole"] for record in run.records)
    result = Trace(case=case, events=events, truncated=bool(events) and not is_whole)
    return response_of(
        request,
        test_diagnostics(run.report) + left_out(asked.interpreter),
        result.model_dump(mode="json"),
        counts={**outcome_counts(run.report), "events": len(events)},
    )


def steps_in(records: Sequence[Mapping[str, Any]], test: str) -> Steps | None:
    """What was noted of a test that was run once more; None where it was not, or did not fail as before."""
    places = [at for at, each in enumerate(records) if each["kind"] == "steps-begin" and each["id"] == test]
    if not places:
        return None
    own_records = records[places[-1] :]
    if not any(each["kind"] == "steps-told" and each["is_same"] is True for each in own_records):
        return None
    events = tuple(_events([each for each in own_records if each["kind"] == "step"]))
    is_whole = any(each["kind"] == "steps-end" and each["is_whole"] is True for each in own_records)
    return Steps(test=test, events=events, truncated=not is_whole)


def _tracer(params: TraceParams) -> Plugin:
    wish = {
        "artifacts": params.artifacts,
        "lines": params.lines,
        "max_events": params.max_events,
        "max_value_chars": params.max_value_chars,
    }
    return Plugin("cogworks_steps", (f"--cogworks-steps={json.dumps(wish)}",))


def _case(test: str, report: TestReport) -> TestCase | None:
    """The one test's result; an error when it did not run, None when several did."""
    if len(report.cases) > 1:
        return None
    if report.cases:
        return report.cases[0]
    reason = "the time limit was reached before the test began" if report.timed_out else "no such test"
    return TestCase(id=test, outcome="error", message="\n".join(report.collection_errors) or reason)


def _events(records: Sequence[Mapping[str, Any]]) -> Iterator[TraceEvent]:
    for record in records:
        symbol = _symbol(record["artifact"], record["symbol"])
        # The test can write records of its own making.
        with suppress(ValidationError):
            yield TraceEvent.model_validate({**record, "kind": record["event"], "symbol": symbol})


def _symbol(artifact: str, name: str) -> str:
    """Dotted from the module on, which has its name from below the repository or its `src`."""
    module = artifact.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return f"{module}.{name.replace('<locals>.', '')}".removesuffix(".<module>")


_STRETCHES: TypeAdapter[dict[str, tuple[Lines, ...]]] = TypeAdapter(dict[str, tuple[Lines, ...]])
_RAN = frozenset({"passed", "failed", "error"})


def coverage(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = CoverageParams.model_validate(request.params)
    if (no := outside(request, params.artifacts)) is not None:
        return no
    if (no := refused_run(request, params.tests, params.environment, machine.isolation)) is not None:
        return no
    asked = in_other_words(wanted(params), request, folder, machine.search_path)
    # Another runner's process is none that our measurement could be put into; what pytest executes is the same.
    command = () if is_foreign(asked.command) else asked.command
    asked = asked._replace(plugins=(_coverer(), *_retelling(params)), command=command)
    asked = equipped(asked, request, folder, machine)
    run = observe_tests(folder, asked, isolation=machine.isolation, search_path=machine.search_path)
    if lacking := [record["text"] for record in run.records if record["kind"] == "unmeasured"]:
        text = f"coverage: lines cannot be measured in this project's environment: {lacking[0]}"
        return refused(request.request_id, ErrorCode.TOOL_NOT_FOUND, text)
    result = Coverage(
        report=run.report,
        tests=_tests(run, _wanted_artifact(params.artifacts, folder)),
        steps=steps_in(run.records, params.steps_of) if params.steps_of else None,
    )
    return response_of(
        request,
        test_diagnostics(run.report) + left_out(asked.interpreter),
        result.model_dump(mode="json"),
        counts=outcome_counts(run.report),
        tools={"coverage": version("coverage")},
    )


def _coverer() -> Plugin:
    """By its path alone: nothing else of this service's packages comes into the tests' sight."""
    spec = find_spec("coverage")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("coverage: the package is missing from the service's own installation")
    package = Path(spec.origin).parent
    return Plugin("cogworks_lines", (f"--cogworks-lines={package.parent}",), (package,))


def _retelling(params: CoverageParams) -> tuple[Plugin, ...]:
    if not params.steps_of:
        return ()
    wish = {
        "test": params.steps_of,
        "artifacts": params.artifacts,
        "lines": (),
        "max_events": params.max_events,
        "max_value_chars": params.max_value_chars,
    }
    return (Plugin("cogworks_retold", (f"--cogworks-retold={json.dumps(wish)}",)),)


def _tests(run: Observed, is_wanted: Callable[[str], bool]) -> tuple[TestCoverage, ...]:
    """One for each test that ran, in the report's order; without lines where its process died."""
    lines = {record["id"]: record["lines"] for record in run.records if record["kind"] == "lines"}
    return tuple(
        TestCoverage(test=case.id, lines=_of_interest(lines.get(case.id, {}), is_wanted))
        for case in run.report.cases
        if case.outcome in _RAN
    )


def _of_interest(lines: Mapping[str, Any], is_wanted: Callable[[str], bool]) -> dict[str, tuple[Lines, ...]]:
    """The lines of wanted artifacts; none where a test wrote something else in their place."""
    try:
        stretches = _STRETCHES.validate_python(lines)
    except ValidationError:
        return {}
    return {artifact: stretches[artifact] for artifact in sorted(stretches) if is_wanted(artifact)}


def _wanted_artifact(artifacts: tuple[str, ...], folder: Path) -> Callable[[str], bool]:
    asked = frozenset(artifacts)

    @cache
    def is_wanted(artifact: str) -> bool:
        if asked:
            return artifact in asked
        # What a test wrote into its copy is no file of the repository.
        return path_problem(artifact) is None and (folder / artifact).is_file() and not is_test_file(artifact)

    return is_wanted
