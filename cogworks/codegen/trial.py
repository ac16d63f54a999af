"""A change in the working copy: brought into the project's formatting, judged by what it makes worse, and reported to its proposer."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cogworks.codebase.changes import FileChange
from cogworks.cycle.feedback import Setback, Trial, judge_diagnostics, judge_setback
from cogworks.cycle.results import TestFacts
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport, hides_any, is_hidden
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.measure import (
    BAD,
    Measurement,
    StaticError,
    Worse,
    faults_beyond,
    file_of,
    is_of,
    new_faults,
)
from cogworks.repair.transact.outcomes import Result
from cogworks.vocabulary import Severity

if TYPE_CHECKING:
    # Whoever repairs a checkout makes no visit and need not load what one does.
    from cogworks.nodes.contract import DomainService, Workspace

Said = TypeVar("Said")


class FilesBefore:
    """What the domain service says of files as they were before any change; each file is asked about once."""

    def __init__(self, service: "DomainService", workspace: "Workspace") -> None:
        self.service = service
        self.workspace = workspace
        self._untidy: dict[str, bool] = {}
        self._findings: dict[str, tuple[Diagnostic, ...]] = {}

    def untidy(self, paths: Sequence[str]) -> frozenset[str]:
        """The files that were not in the project's formatting; the working copy must be as it was found."""
        unknown = [path for path in paths if path not in self._untidy]
        if unknown:
            changed = self.service.normalised(self.workspace, unknown)
            self._untidy |= {path: path in changed for path in unknown}
        return frozenset(path for path in paths if self._untidy[path])

    def learn_findings(self, paths: Sequence[str]) -> None:
        """Ask what is wrong with files; the working copy must be as it was found."""
        unknown = [path for path in paths if path not in self._findings]
        there = [path for path in unknown if self.workspace.read(path) is not None]
        diagnostics = self.service.validate(self.workspace, there) if there else ()
        for path in unknown:
            self._findings[path] = tuple(each for each in diagnostics if each.artifact == path)

    def knows(self, paths: Sequence[str]) -> bool:
        """Whether the findings of all these files are known."""
        return all(path in self._findings for path in paths)

    def new_among(self, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The blocking findings that were not there before, as far as was asked."""
        before = [each for findings in self._findings.values() for each in findings]
        return new_faults(before, diagnostics)


class KnownFaults:
    """What the static checks said of files before a visit touched them."""

    def __init__(self, service: "DomainService", workspace: "Workspace") -> None:
        self._service = service
        self._workspace = workspace
        self._of: dict[str, frozenset[StaticError]] = {}

    def learn(self, paths: Iterable[str], before: Measurement) -> None:
        """Files are about to be touched; of those that were before, the first word stands."""
        for path in paths:
            self._of.setdefault(path, frozenset(error for error in before.static if error.path == path))

    def judged(self, paths: Sequence[str]) -> Trial:
        """What the checks find in files now, as far as it was not there before."""
        diagnostics = self._service.validate(self._workspace, paths) if paths else ()
        return judge_diagnostics(
            faults_beyond(frozenset[StaticError]().union(*self._of.values()), diagnostics)
        )


class ChangeOnTrial:
    """Changes that are written, and can be taken back to look at the files as they were."""

    def __init__(self, changes: Sequence[FileChange], files: FilesBefore) -> None:
        """Args:
        changes: are in the working copy.
        """
        self._changes = list(changes)
        self._workspace = files.workspace
        self._service = files.service
        self._files = files
        self.paths = sorted(change.path for change in changes if change.action != "delete")
        """The files that are there after the change."""

    @property
    def changes(self) -> Sequence[FileChange]:
        """As they are written now."""
        return self._changes

    def tidy(self) -> tuple[str, ...]:
        """Bring the files into the project's formatting; which ones that changed.

        A file that was not in it before stays as it was written: a reviewer would not find the change in the noise.
        """
        texts = dict(self._service.normalised(self._workspace, self.paths)) if self.paths else {}
        modified = [each.path for each in self._changes if each.action == "modify" and each.path in texts]
        if modified:
            for path in self._without_change(lambda: self._files.untidy(modified)):
                del texts[path]
        tidied = [
            FileChange(path=path, action="modify", content=texts[path])
            for path in self.paths
            if path in texts
        ]
        if not tidied or self._workspace.apply(tidied) is not None:
            return ()
        self._changes = [
            each.model_copy(update={"content": texts[each.path]}) if each.path in texts else each
            for each in self._changes
        ]
        return tuple(each.path for each in tidied)

    def new_findings(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the files and was not before; who only finds old faults in them is not to blame."""
        diagnostics = self._service.validate(self._workspace, self.paths)
        blamed = sorted({each.artifact for each in diagnostics if each.severity is Severity.BLOCKING})
        if not self._files.knows(blamed):
            self._without_change(lambda: self._files.learn_findings(blamed))
        return self._files.new_among(diagnostics)

    def _without_change(self, ask: Callable[[], Said]) -> Said:
        self._workspace.roll_back()
        answer = ask()
        # It was written once and can be written again.
        self._workspace.apply(self._changes)
        return answer


_NOT_PASSED = frozenset({"failed", "error"})
_NONE_COLLECTED = 5
_INTERRUPTED = 2


def facts_of(report: TestReport, *, before: TestReport | None = None) -> TestFacts:
    """The run as the cycle judges it. The exit status is the one pytest would have given.

    Args:
        before: the suite as it was found; what failed then may go on failing.
    """
    known = _ids(before.cases, _NOT_PASSED) if before else set()
    passed_before = _ids(before.cases, {"passed"}) if before else set()
    bad = [case for case in report.cases if case.outcome in _NOT_PASSED and case.id not in known]
    uncollected = [
        error for error in report.collection_errors if before is None or error not in before.collection_errors
    ]
    ran = [case for case in report.cases if case.outcome != "skipped"]
    failing = tuple(case.id for case in bad)
    return TestFacts(
        exit_status=_exit_status(report, ran=len(ran), bad=len(bad), uncollected=len(uncollected)),
        collected=len(report.cases),
        passed=len(_ids(report.cases, {"passed"})),
        failed=sum(1 for case in bad if case.outcome == "failed"),
        errors=sum(1 for case in bad if case.outcome == "error"),
        skipped=len(report.cases) - len(ran),
        known_failures=len(_ids(ran, _NOT_PASSED) & known),
        failing=failing,
        newly_failing=tuple(test for test in failing if test in passed_before),
        collection_errors=tuple(uncollected),
    )


def _exit_status(report: TestReport, *, ran: int, bad: int, uncollected: int) -> int:
    if uncollected or report.timed_out:
        return _INTERRUPTED
    if not ran:
        return _NONE_COLLECTED
    return 1 if bad else 0


def _ids(cases: Iterable[TestCase], outcomes: Iterable[str]) -> set[str]:
    wanted = frozenset(outcomes)
    return {case.id for case in cases if case.outcome in wanted}


class Observed(NamedTuple):
    """What the checks of one transaction said."""

    reports: Sequence[TestReport]
    """In the order of the runs."""
    findings: Sequence[Diagnostic]
    """Of the last look at the files."""


def trial_of(result: Result, observed: Observed, selection: Selection) -> Trial:
    """The verdict on a change in words that the next proposal can act on."""
    if result.is_kept:
        return Trial()
    trial = Trial(category=result.code, problems=result.reasons or (result.code,))
    if result.violations:
        codes = ", ".join(sorted({each.code for each in result.violations}))
        return Trial(category=f"rules {codes}", problems=tuple(each.text for each in result.violations))
    if result.code == "gate_static" and result.before is not None:
        verdict = judge_diagnostics(faults_beyond(result.before.static, observed.findings))
        return trial if verdict.is_kept else verdict
    if result.worse is None or result.after is None:
        return trial
    setback = setback_of(result.worse, result.after, observed.reports, wanted=selection.landmark)
    verdict = judge_setback(setback.model_copy(update={"unproven": _silent(result.unproven, setback)}))
    return trial if verdict.is_kept else verdict


def setback_of(
    regression: Worse, after: Measurement, reports: Sequence[TestReport], *, wanted: Collection[str] = ()
) -> Setback:
    """What became worse, with the messages of the first run that shows it.

    Args:
        wanted: tests and files that have to pass, whether they did before or not.
    """
    is_cut = bool(reports) and reports[-1].timed_out
    bad = {*regression.failing, *_of(after.failing, wanted)}
    places = {
        *regression.uncollected,
        *(each for each in after.uncollected if hides_any(each, wanted)),
    }
    errors = [text for report in reports for text in report.collection_errors if file_of(text) in places]
    return Setback(
        broken=tuple(_first_cases(reports, bad)),
        # A suite that was cut short says nothing about the tests it never reached.
        vanished=() if is_cut else regression.vanished,
        uncollected=tuple(dict.fromkeys(errors)),
        unsteady=tuple(sorted(_of(after.flaky, wanted))),
        timed_out=is_cut,
        blocked=tuple(dict.fromkeys(text for report in reports for text in report.blocked)),
    )


def steadied(report: TestReport, reruns: Sequence[TestReport], flaky: Collection[str]) -> TestReport:
    """The run, its flaky tests with the outcome of a rerun in which they passed."""
    passed = {case.id: case for rerun in reruns for case in rerun.cases if case.outcome == "passed"}
    cases = (passed.get(case.id, case) if case.id in flaky else case for case in report.cases)
    return report.model_copy(update={"cases": tuple(cases)})


def without_own(measurement: Measurement, own: Collection[str]) -> Measurement:
    """The measurement without the tests in files that only this work brought in: it may rename and drop those."""
    return measurement.model_copy(
        update={
            "passing": frozenset(test for test in measurement.passing if file_of(test) not in own),
            "failing": frozenset(test for test in measurement.failing if file_of(test) not in own),
        }
    )


def _first_cases(reports: Sequence[TestReport], wanted: Collection[str]) -> list[TestCase]:
    cases_by_id: dict[str, TestCase] = {}
    for report in reports:
        for case in report.cases:
            if case.id in wanted and case.outcome in BAD:
                cases_by_id.setdefault(case.id, case)
    return list(cases_by_id.values())


def _of(tests: Collection[str], wanted: Collection[str]) -> set[str]:
    return {test for test in tests if any(is_of(test, each) for each in wanted)}


def _silent(unproven: Sequence[str], setback: Setback) -> tuple[str, ...]:
    """Those of which nothing else says why they prove nothing."""
    explained = {*(case.id for case in setback.broken), *setback.unsteady}
    return tuple(
        each
        for each in unproven
        if not (setback.timed_out or _of(explained, [each]) or is_hidden(each, setback.uncollected))
    )
