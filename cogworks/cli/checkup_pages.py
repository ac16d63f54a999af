"""What `cogworks doctor PATH` shows: rows for people, one object for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from cogworks.checkup.findings import Checkup, ServiceCheckup, SuiteRun, counted, failing, reasons
from cogworks.checkup.outlook import advice, configuration_of, outlook, things_to_do
from cogworks.cli.tables import show_line
from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.parts import slowest
from cogworks.repair.unloaded import unloaded_of

_LABEL = 14
_MOST_NAMED = 10
_TABLE_OF_SERVICES = "[[services]]"
Row = tuple[str, Sequence[str]]


def show(found: Checkup) -> None:
    """Print it for people."""
    for label, lines in rows(found):
        for number, line in enumerate(lines):
            show_line(f"{label if number == 0 else '':<{_LABEL}} {line}".rstrip())
    if block := configuration_of(found.services):
        file = "services.toml" if _TABLE_OF_SERVICES in block else "config.toml"
        show_line(f"\nWhat was guessed, for .cogworks/{file}:\n\n{block}", nl=False)
    if found.proposal:
        show_line(
            "\nThe repository has several projects and none at its root. For "
            f".cogworks/services.toml:\n\n{found.proposal}",
            nl=False,
        )


def rows(found: Checkup) -> Iterator[Row]:
    """Label and lines."""
    yield "folder", [found.folder, found.state]
    yield "languages", [found.languages.found]
    for each in found.services:
        yield from _of_service(each)
    if found.packs is not None and found.packs.status != "failed":
        yield "context packs", found.packs.found.splitlines()
    if found.suite is not None:
        yield from _of_suite(found.suite)
    elif found.baseline == "none":
        yield "tests", ['not run, because `[tests] baseline = "none"` is configured']
    if notes := (*found.notes, *advice(found)):
        yield "notes", notes
    yield (
        "would",
        [
            f"A work item here would {line}." if n == 0 else f"It would {line}."
            for n, line in enumerate(outlook(found))
        ],
    )
    things = things_to_do(found)
    for thing in things:
        yield "TO DO", [*thing.what.splitlines(), *(f"-> {line}" for line in thing.remedy.splitlines())]
    if not things:
        yield "verdict", [f"Ready: a work item can start here. This check took {found.seconds:g} s."]


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
    told = f"{numbers.passed} passed, {numbers.failed} failed, {numbers.skipped} skipped, {numbers.not_loaded} not loaded"
    parts = f", in {suite.runs} parts" if suite.runs > 1 else ""
    yield "tests", [f"{told} in {suite.seconds:.1f} s{parts}", *report.commands]
    if slow := slowest(report):
        yield "slowest", [f"{file}: {took_s:.1f} s" for file, took_s in slow]
    if bad := failing(report):
        yield "failing now", _first([case.id for case in bad])
        if said := reasons(report):
            yield "they say", _first([f"{reason} ({_times(count)})" for reason, count in said])
    if missing := unloaded_of(report.collection_errors):
        yield "not loaded", _first([f"{each.name}: {each.why}" for each in missing])
    if report.blocked:
        yield "walls kept", _first(report.blocked)
    if report.unprotected:
        yield "not kept", _first(report.unprotected)


def _first(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _MOST_NAMED
    return [*lines[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]


def as_object(found: Checkup) -> dict[str, Any]:
    """Everything, for `--json`."""
    report, things = found.report, things_to_do(found)
    return {
        "outcome": "failed" if things else "succeeded",
        "folder": found.folder,
        "state": found.state,
        "uncommitted": found.uncommitted,
        "languages": found.languages.found,
        "context_packs": found.packs.model_dump(mode="json") if found.packs else None,
        "services": [each.model_dump(mode="json") for each in found.services],
        "tests": None if report is None else _tests(report, found.suite or SuiteRun()),
        "baseline": found.baseline,
        "would": list(outlook(found)),
        "to_do": [each.model_dump(mode="json") for each in things],
        "notes": [*found.notes, *advice(found)],
        "configuration": configuration_of(found.services),
        "services_toml": found.proposal,
        "duration_s": found.seconds,
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
