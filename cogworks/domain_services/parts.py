"""Requests that would take too long or answer too much, made in parts that are one answer again."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TypeVar

from cogworks.domain_services.checking import Parts
from cogworks.domain_services.messages import Message, TestCase, TestReport, commands_of, versions_of

Ask = Callable[[Sequence[str], Parts], TestReport]
"""Runs these tests (none: the whole suite) for one request, and says in `left` what another one has to ask for."""
_MOST_SLOW = 5
_SLOW_S = 1.0
NO_PROGRESS = (
    "The service named tests to ask for again and ran none of those that it was asked for; the run was ended."
)


def in_parts(ask: Ask, tests: Sequence[str] = (), *, is_rest: bool = False) -> Iterator[TestReport]:
    """The report of each part in turn; nothing is left after the last, or it ran out of time all the same.

    Args:
        is_rest: whether the tests are what an earlier part had left.
    """
    left = tuple(tests)
    while True:
        report = ask(left, "rest" if is_rest else "if_long")
        if is_rest and not set(report.left) < set(left):
            # A service that names the same again would do so for ever.
            remedies = (*report.remedies, NO_PROGRESS)
            report = report.model_copy(update={"left": (), "timed_out": True, "remedies": remedies})
        yield report
        if report.timed_out or not report.left:
            return
        left, is_rest = report.left, True


def joined(reports: Sequence[TestReport]) -> TestReport:
    """The parts of one run as one report, the last one's `left` included; at least one."""
    whole = reduce(_with, reports)
    if len(reports) == 1:
        return whole
    more = f"… in {len(reports)} runs, each of what the one before it had left"
    return whole.model_copy(update={"commands": (*reports[0].commands, more)})


def _with(one: TestReport, more: TestReport) -> TestReport:
    # A file that is skipped as a whole may be reported by every part.
    cases: dict[str, TestCase] = {case.id: case for case in (*one.cases, *more.cases)}
    return TestReport(
        cases=tuple(cases.values()),
        collection_errors=_once(one.collection_errors, more.collection_errors),
        timed_out=one.timed_out or more.timed_out,
        blocked=(*one.blocked, *more.blocked),
        unprotected=_once(one.unprotected, more.unprotected),
        commands=one.commands,
        versions={**one.versions, **more.versions},
        remedies=_once(one.remedies, more.remedies),
        left=more.left,
        seconds={**one.seconds, **more.seconds},
        slowest_s=max(one.slowest_s, more.slowest_s),
        hung=_once(one.hung, more.hung),
    )


def beside(reports: Sequence[TestReport]) -> TestReport:
    """What several services say of one request, as one report."""
    return TestReport(
        cases=tuple(case for report in reports for case in report.cases),
        collection_errors=tuple(text for report in reports for text in report.collection_errors),
        timed_out=any(report.timed_out for report in reports),
        blocked=tuple(text for report in reports for text in report.blocked),
        unprotected=_once(*(report.unprotected for report in reports)),
        commands=commands_of(reports),
        versions=versions_of(reports),
        remedies=_once(*(report.remedies for report in reports)),
        left=tuple(test for report in reports for test in report.left),
        seconds={file: took for report in reports for file, took in report.seconds.items()},
        slowest_s=max((report.slowest_s for report in reports), default=0.0),
        hung=tuple(test for report in reports for test in report.hung),
    )


def slowest(report: TestReport) -> tuple[tuple[str, float], ...]:
    """The files that took longest, with their seconds; none that takes no time worth naming."""
    ordered = sorted(report.seconds.items(), key=lambda each: (-each[1], each[0]))
    return tuple(each for each in ordered[:_MOST_SLOW] if each[1] >= _SLOW_S)


def _once(*texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for each in texts for text in each))


Params = TypeVar("Params", bound=Message)
PAGE_BYTES = 1_500_000
"""Of source text. What is said of it takes two to five times the room, and a message has 16 MiB."""
PAGE_FILES = 2_000


def in_pages(params: Params, top: Path) -> Iterator[Params]:
    """The same question, about some of its `artifacts` each; a question about everything stays one.

    Args:
        top: the folder that the artifacts lie in.
    """
    for paths in pages(getattr(params, "artifacts", ()), top):
        yield params.model_copy(update={"artifacts": paths}) if paths else params


def pages(paths: Sequence[str], top: Path) -> Iterator[tuple[str, ...]]:
    """The paths in their order, cut where there would be too much to read; one empty page where there are none."""
    page: list[str] = []
    page_bytes = 0
    for path in paths:
        size = _size(top / path)
        if page and (page_bytes + size > PAGE_BYTES or len(page) == PAGE_FILES):
            yield tuple(page)
            page, page_bytes = [], 0
        page.append(path)
        page_bytes += size
    if page or not paths:
        yield tuple(page)


def _size(place: Path) -> int:
    try:
        return place.lstat().st_size
    except (OSError, ValueError):
        # The service says what is wrong with it.
        return 0
