"""Whether a work item could go on in a checkout, and what has to be done where it could not."""

from collections.abc import Iterator

from cogworks.checkup.findings import Checkup
from cogworks.codegen.suite import none_passes, nothing_ran, refusal_of
from cogworks.domain_services.messages import TestReport
from cogworks.vocabulary import Value

_NODE = "code_generation: "
"""How the baseline check of an item begins what it says; here no node is at work."""


class ToDo(Value):
    """One thing that keeps a work item from going on."""

    what: str
    remedy: str = ""
    """Empty where `what` says it."""


def things_to_do(found: Checkup) -> tuple[ToDo, ...]:
    """What somebody has to do before a work item could go on; none: it could."""
    return tuple(_each(found))


def advice(found: Checkup) -> tuple[str, ...]:
    """What could be done about tests that fail and keep no work item from going on, in the words of the services."""
    report = found.report
    stops = report is None or bool(
        refusal_of(report, wanted=found.baseline) or none_passes(report, wanted=found.baseline)
    )
    if stops or report is None:
        return ()
    return tuple(each for each in report.remedies if each not in found.notes)


def _each(found: Checkup) -> Iterator[ToDo]:
    for problem in found.problems:
        yield ToDo(what=problem)
    if found.packs is not None and found.packs.status == "failed":
        yield ToDo(what=found.packs.found)
    if found.languages.status == "failed":
        yield ToDo(what=found.languages.found, remedy=found.languages.remedy)
    for each in found.services:
        if each.problem:
            place = f"{each.root}: " if each.root else ""
            yield ToDo(what=f"{place}{each.problem}")
    if found.suite is not None and found.suite.problem:
        yield ToDo(what=found.suite.problem)
    if (report := found.report) is not None:
        yield from _of_the_suite(report, found)


def _of_the_suite(report: TestReport, found: Checkup) -> Iterator[ToDo]:
    """In the words of the check that an item makes before its first model call."""
    if (refused := refusal_of(report, wanted=found.baseline)) is not None:
        what, _, remedy = refused.reason.removeprefix(_NODE).partition("\n")
        yield ToDo(what=what, remedy=remedy)
    elif found.baseline != "none" and (why := nothing_ran(report)):
        yield ToDo(what=why)
    elif why := none_passes(report, wanted=found.baseline):
        what, _, remedy = why.partition("\n")
        yield ToDo(what=what, remedy=remedy)
