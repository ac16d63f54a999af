"""What `cogworks doctor PATH` shows: rows for people, one object for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from cogworks.checkup.findings import Checkup, ServiceCheckup, SuiteRun, counted, failing, reasons, refusals
from cogworks.checkup.outlook import advice, configuration_of, outlook, things_to_do
from cogworks.cli.tables import show_line
from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.parts import slowest
from cogworks.repair.unloaded import causes, unloaded_of

_LABEL = 14
_MOST_NAMED = 10
_MOST_ID_CHARS = 200
_TABLE_OF_SERVICES = "[[services]]"
Row = tuple[str, Sequence[str]]


def show(checkup: Checkup) -> None:
    """Print it for people."""
    for label, lines in rows(checkup):
        for number, line in enumerate(lines):
            show_line(f"{label if number == 0 else '':<{_LABEL}} {line}".rstrip())
    if block := configuration_of(checkup.services):
        file = "services.toml" if _TABLE_OF_SERVICES in block else "config.toml"
        show_line(f"\nWhat was guessed, for .cogworks/{file}:\n\n{block}", nl=False)
    if checkup.proposal:
        show_line(
            "\nThe repository has several projects and none at its root. For "
            f".cogworks/services.toml:\n\n{checkup.proposal}",
            nl=False,
        )


def rows(checkup: Checkup) -> Iterator[Row]:
    """Label and lines."""
    yield "folder", [checkup.folder, checkup.state]
    yield "languages", [checkup.languages.found]
    for each in checkup.services:
        yield from _of_service(each)
    if checkup.packs is not None and checkup.packs.status != "failed":
        yield "context packs", checkup.packs.found.splitlines()
    if checkup.suite is not None:
        yield from _of_suite(checkup.suite)
    elif checkup.baseline == "none":
        yield "tests", ['not run, because `[tests] baseline = "none"` is configured']
    if notes := (*checkup.notes, *advice(checkup)):
        yield "notes", notes
    yield (
        "would",
        [
            f"A work item here would {line}." if n == 0 else f"It would {line}."
            for n, line in enumerate(outlook(checkup))
        ],
    )
    things = things_to_do(checkup)
    for thing in things:
        yield "TO DO", [*thing.what.splitlines(), *(f"-> {line}" for line in thing.remedy.splitlines())]
    if not things:
        yield "verdict", [f"Ready: a work item can start here. This check took {checkup.seconds:g} s."]


def _of_service(each: ServiceCheckup) -> Iterator[Row]:
    name = f"{each.service} ({each.root}/)" if each.root else each.service
    yield "service", [name]
    prepared = each.prepared
    if prepared is None:
        return
    yield "environment", [prepared.described, _making(prepared)]
    if prepared.choices:
        yield "chosen", [_choice(each.what, each.source, each.why) for each in prepared.choices]
    if prepared.command or prepared.runner:
        yield (
            "test command",
            [" ".join(prepared.command) or "the service's own", f"runner: {prepared.runner or 'not told'}"],
        )


def _making(prepared: Prepared) -> str:
    """What it took, and when."""
    if prepared.is_reused and not prepared.seconds:
        return "nothing to install"
    how = "was there before" if prepared.is_reused else "made now"
    size = f", {prepared.disk_bytes / 1024**2:,.0f} MiB" if prepared.disk_bytes else ""
    return f"{how}; making it took {prepared.seconds:.1f} s{size}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _choice(what: str, source: str, why: str) -> str:
    reason = f": {why}" if why else ""
    return f"{what} ({source or 'by default'}{reason})"


def _of_suite(suite: SuiteRun) -> Iterator[Row]:
    if (report := suite.report) is None:
        return
    numbers = counted(report)
    counts = f"{numbers.passed} passed, {numbers.failed} failed, {numbers.skipped} skipped, {numbers.not_loaded} not loaded"
    parts = f", in {suite.runs} parts" if suite.runs > 1 else ""
    yield "tests", [f"{counts} in {suite.seconds:.1f} s{parts}", *report.commands]
    if slow := slowest(report):
        yield "slowest", [f"{file}: {took_s:.1f} s" for file, took_s in slow]
    if bad := failing(report):
        yield "failing now", _first([_shortened(case.id) for case in bad])
        if all_reasons := reasons(report):
            yield "they say", _first([f"{reason} ({_times(count)})" for reason, count in all_reasons])
    if missing := unloaded_of(report.collection_errors):
        yield "not loaded", _first([f"{places}: {why}" for places, why in causes(missing)])
    if refused := refusals(report):
        yield "refused", _first(refused)
    if report.unprotected:
        yield "not isolated", _first(report.unprotected)


def _shortened(test: str) -> str:
    """An id may hold a whole document as the value of a parameter."""
    return test if len(test) <= _MOST_ID_CHARS else f"{test[:_MOST_ID_CHARS]}…"


def _first(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _MOST_NAMED
    return [*lines[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def as_object(checkup: Checkup) -> dict[str, Any]:
    """Everything, for `--json`."""
    report, things = checkup.report, things_to_do(checkup)
    return {
        "outcome": "failed" if things else "succeeded",
        "folder": checkup.folder,
        "state": checkup.state,
        "uncommitted": checkup.uncommitted,
        "languages": checkup.languages.found,
        "context_packs": checkup.packs.model_dump(mode="json") if checkup.packs else None,
        "services": [each.model_dump(mode="json") for each in checkup.services],
        "tests": None if report is None else _tests(report, checkup.suite or SuiteRun()),
        "baseline": checkup.baseline,
        "would": list(outlook(checkup)),
        "to_do": [each.model_dump(mode="json") for each in things],
        "notes": [*checkup.notes, *advice(checkup)],
        "configuration": configuration_of(checkup.services),
        "services_toml": checkup.proposal,
        "duration_s": checkup.seconds,
    }


def _tests(report: TestReport, suite: SuiteRun) -> dict[str, Any]:
    return {
        **counted(report).model_dump(),
        "seconds": suite.seconds,
        "parts": suite.runs,
        "slowest": dict(slowest(report)),
        "commands": list(report.commands),
        "failing": [case.id for case in failing(report)],
        "reasons": dict(reasons(report)),
        "unloaded": [
            each.model_dump(mode="json", include={"place", "reason", "at"})
            for each in unloaded_of(report.collection_errors)
        ],
        "timed_out": report.timed_out,
        "blocked": list(report.blocked),
        "unprotected": list(report.unprotected),
        "versions": report.versions,
    }
