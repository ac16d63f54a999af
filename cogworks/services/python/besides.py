"""The operation `beside`: calls with inputs beside those of tests, and mistakes that tests should notice."""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from cogworks.domain_services.exploring import Against, Beside, BesideCall, BesideParams, Mutant
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import outside, response_of
from cogworks.services.python.runners import reports_by_order
from cogworks.services.python.simulating import (
    equipped,
    left_out,
    outcome_counts,
    refused_run,
    test_diagnostics,
)
from cogworks.services.python.testrun import Observed, observe_tests
from cogworks.services.python.wanted import Plugin, Wanted

_SHARE_OF_MUTANTS = 0.6
"""Of the time; the tests themselves and the calls beside theirs want the rest."""
_MOST_REASONS, _MOST_CHARS = 3, 200
_NO_WALLS = (
    "nothing was called with inputs beside those of the tests: that is done without what the tests put in place of the outside, so in "
    "complete isolation alone, which this machine does not have; `cogworks doctor` says why"
)

_COMPARED = "in the code to compare with, {}"


def beside(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = BesideParams.model_validate(request.params)
    against = params.against or Against(files={}, tests=(), lines={})
    if (
        no := outside(request, (*params.lines, *params.mistakes_in, *against.lines, *against.files))
    ) is not None:
        return no
    if (no := refused_run(request, (*params.tests, *against.tests), {}, machine.isolation)) is not None:
        return no
    if not machine.isolation.is_complete:
        return _answer(request, Beside(notes=(_NO_WALLS,)))
    asked = Wanted(
        tests=params.tests,
        timeout_s=params.timeout_s,
        test_timeout_s=params.test_timeout_s,
        plugins=(_plugin(params),),
    )
    asked = equipped(asked, request, folder, machine, in_pytest=True)
    run, other = _observed(folder, asked, params.against, machine)
    result = Beside(
        calls=tuple(_calls(run.records)),
        against=None if other is None else tuple(_calls(other.records)),
        mutants=tuple(_mutants(run.records)),
        report=run.report,
        again=any(record["kind"] == "again" for record in run.records),
        notes=(*_untried(run), *(() if other is None else map(_COMPARED.format, _untried(other)))),
    )
    diagnostics = test_diagnostics(run.report) + left_out(asked.interpreter)
    return _answer(request, result, diagnostics, outcome_counts(run.report))


def _observed(
    folder: Path, asked: Wanted, against: Against | None, machine: Machine
) -> tuple[Observed, Observed | None]:
    """The results of the tests, and of those in the code to compare with, which run at the same time."""
    runs = [asked]
    if against is not None:
        wish = _plugin(BesideParams(tests=against.tests, lines=against.lines))
        runs.append(asked._replace(tests=against.tests, instead=against.files, plugins=(wish,)))
    if reports_by_order(asked.command):
        # Calls are followed in pytest, which runs these tests as well, but for those that `load_tests` makes of examples.
        runs = [run._replace(command=(), tests=tuple(filter(_is_of_pytest, run.tests))) for run in runs]
    observed = partial(observe_tests, folder, isolation=machine.isolation, search_path=machine.search_path)
    with ThreadPoolExecutor(len(runs)) as pool:
        run, *others = pool.map(observed, runs)
    return run, next(iter(others), None)


def _is_of_pytest(test: str) -> bool:
    """Names with dots are those of examples in documentation; of one test it does not know pytest runs none at all."""
    return "." not in test.partition("::")[2].partition("[")[0]


def _answer(
    request: Request,
    result: Beside,
    diagnostics: Sequence[Diagnostic] = (),
    counts: Mapping[str, int] = MappingProxyType({}),
) -> Response:
    tried = {"calls": len(result.calls), "mutants": len(result.mutants)}
    return response_of(request, diagnostics, result.model_dump(mode="json"), counts={**counts, **tried})


def _untried(run: Observed) -> Iterator[str]:
    if any(case.outcome in ("passed", "failed") for case in run.report.cases):
        for record in run.records:
            if record["kind"] == "untried":
                yield f"no mistake was tried on the tests: {record['text'][:_MOST_CHARS]}"
                # The test can write records of its own making.
                return
        return
    errors = [_reason(lines) for text in run.report.collection_errors if (lines := text.strip().splitlines())]
    why = "their time was over" if run.report.timed_out else "; ".join(errors[:_MOST_REASONS])
    yield f"nothing could be tried, for none of the tests ran{f': {why}' if why else ''}"


def _reason(lines: Sequence[str]) -> str:
    """pytest's last line says only that nothing ran."""
    return next((line for line in lines if line.startswith("ERROR")), lines[-1])


def _plugin(params: BesideParams) -> Plugin:
    seconds = params.timeout_s * _SHARE_OF_MUTANTS
    mistakes = {"lines": params.mistakes_in, "most": params.max_mutants, "seconds": seconds}
    wish = {"lines": params.lines, "of": params.calls_of, "mistakes": mistakes}
    return Plugin("cogworks_beside", (f"--cogworks-beside={json.dumps(wish)}",))


def _calls(records: Sequence[Mapping[str, Any]]) -> Iterator[BesideCall]:
    test = ""
    for record in records:
        if record["kind"] == "start":
            test = record["id"]
        elif record["kind"] == "beside":
            # The test can write records of its own making.
            with suppress(ValidationError):
                yield BesideCall.model_validate({**_fields(record, BesideCall), "test": test})


def _mutants(records: Sequence[Mapping[str, Any]]) -> Iterator[Mutant]:
    for record in records:
        if record["kind"] == "mutant":
            with suppress(ValidationError):
                yield Mutant.model_validate(_fields(record, Mutant))


def _fields(record: Mapping[str, Any], message: type[BesideCall | Mutant]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name in message.model_fields}
