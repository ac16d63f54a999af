"""The operation `coverage`, for Go: the lines each test executes when it runs alone."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.codebase.changes import path_problem
from cogworks.domain_services.exploring import Coverage, CoverageParams, Lines, TestCoverage
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Request, Response, TestReport
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES
from cogworks.services.answers import answered, outside, refused
from cogworks.services.command.go_tests import Job, jobs_of, line_of, runs_go_test, without_vet
from cogworks.services.command.ground import (
    Commands,
    Machine,
    ground_of,
    module_of,
    text_at,
    with_words,
)
from cogworks.services.command.reports.go_cover import parse_runs
from cogworks.services.command.rooms import Room, seconds_left
from cogworks.services.command.selecting import files_of_tests
from cogworks.services.command.simulating import refuse_silence, report_of
from cogworks.services.python.responses import left_out
from cogworks.services.python.simulating import outcome_counts, refused_run, test_diagnostics

PASSING_S = 60.0
"""So long tests that pass are measured at least, if there is time; longer where the run of all tests took longer."""
_COMPLAINT_CHARS = 300
MOST_CHARS = MAX_MESSAGE_BYTES // 2
"""Of the lines in one answer; the report is in it as well."""


def covers(commands: Commands) -> bool:
    """Whether lines can be measured by a service with these commands, as far as that is known without a repository."""
    language = commands.language or commands.root_language
    return language == "go" and (not commands.test or runs_go_test(commands.test))


def coverage(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = CoverageParams.model_validate(request.params)
    if (no := outside(request, params.artifacts)) is not None:
        return no
    if (no := refused_run(request, params.tests, params.environment, machine.isolation)) is not None:
        return no
    ground = with_words(ground_of(request, folder, machine), params.command)
    if ground.recipe.language != "go" or not runs_go_test(ground.recipe.test):
        text = f"coverage: lines are measured where `go test` runs the tests, and here `{ground.recipe.test}` does"
        return refused(request.request_id, ErrorCode.UNSUPPORTED_METHOD, text)
    ground = ground._replace(recipe=without_vet(ground.recipe))
    measuring = _Measuring(machine, params)
    report = report_of(request, ground, params, machine, then=measuring.measure)
    refuse_silence(report, params.command)
    result = Coverage(report=report, tests=measuring.coverages(report))
    return answered(
        request,
        [*test_diagnostics(report), *measuring.left_out()],
        result.model_dump(mode="json"),
        counts={**outcome_counts(report), "measured": len(result.tests)},
        versions=report.versions,
    )


class _Measuring:
    """Runs tests alone for as long as there is time and keeps what they executed."""

    def __init__(self, machine: Machine, params: CoverageParams) -> None:
        self._machine = machine
        self._params = params
        self._began_s = time.monotonic()
        self._lines: dict[str, dict[str, tuple[Lines, ...]]] = {}
        self._chars = 0
        self._wanted = 0
        self._complaint = ""

    def measure(self, room: Room, report: TestReport, deadline_s: float) -> None:
        """What the tests of a report execute, the failing ones first."""
        files = {
            case.id: file
            for case in report.cases
            if (file := room.ground.inward(case.id.split("::", 1)[0])) is not None and file.endswith(".go")
        }
        jobs = jobs_of(files, report.cases)
        self._wanted = sum(len(job.cases) for job in jobs)
        now_s = time.monotonic()
        passing_s = min(deadline_s, now_s + max(PASSING_S, now_s - self._began_s))
        names = _Names(room, self._params.artifacts)
        numbers = {case.id: number for number, case in enumerate(report.cases)}
        for job in jobs:
            left_s = seconds_left(deadline_s if job.has_failures else passing_s)
            if left_s <= 0 or self._chars > MOST_CHARS:
                return
            self._run(room, job, names, numbers, left_s)

    def _run(
        self, room: Room, job: Job, names: "_Names", numbers: Mapping[str, int], timeout_s: float
    ) -> None:
        params, recipe = self._params, room.ground.recipe
        line = line_of(job, numbers, recipe, test_timeout_s=params.test_timeout_s)
        result = room.run(line, self._machine, timeout_s=timeout_s, environment=params.environment)
        ids = {numbers[case.id]: case.id for case in job.cases}
        for run in parse_runs(result.report or b""):
            if (test := ids.get(run.number)) and (lines := names.placed(run.lines)):
                self._lines[test] = lines
                self._chars += len(str(lines))
        if result.ended.code and result.report is None:
            self._complaint = room.without_places(result.complaint).strip()[-_COMPLAINT_CHARS:]

    def coverages(self, report: TestReport) -> tuple[TestCoverage, ...]:
        """In the report's order."""
        return tuple(
            TestCoverage(test=case.id, lines=self._lines[case.id])
            for case in report.cases
            if case.id in self._lines
        )

    def left_out(self) -> list[Diagnostic]:
        """How many tests have no lines, and what Go said where it built none."""
        missing = self._wanted - len(self._lines)
        if not missing:
            return []
        text = f"coverage: of {missing} of {self._wanted} tests no line is known: there was no time for them, or they left none"
        return [left_out(".", f"{text}; {self._complaint}" if self._complaint else text)]


class _Names:
    """Tells which artifact Go means, and keeps to those that are wanted."""

    def __init__(self, room: Room, artifacts: Sequence[str]) -> None:
        self._ground = room.ground
        self._asked = frozenset(artifacts)
        self._counts: dict[str, int] = {}
        module = module_of(room.ground.place)
        # A profile names packages, a stack names places in the copy.
        self._prefixes = tuple(f"{each}/" for each in (module, str(room.place)) if each)

    def placed(self, lines: Mapping[str, Sequence[Lines]]) -> dict[str, tuple[Lines, ...]]:
        """The lines that the files of the repository have; a test may have written others into its own copy of them."""
        by_file: dict[str, tuple[Lines, ...]] = {}
        for name, stretches in lines.items():
            inner = self._inner(name)
            count = self._count(inner) if inner else 0
            if kept := tuple((first, min(last, count)) for first, last in stretches if first <= count):
                by_file[self._ground.outward(inner)] = kept
        return dict(sorted(by_file.items()))

    def _inner(self, name: str) -> str:
        """The path from the root; empty where it is no wanted file."""
        inner = next((name[len(each) :] for each in self._prefixes if name.startswith(each)), "")
        if not inner or path_problem(inner) is not None:
            return ""
        if self._asked:
            return inner if self._ground.outward(inner) in self._asked else ""
        return "" if files_of_tests((inner,)) else inner

    def _count(self, inner: str) -> int:
        if inner not in self._counts:
            text = text_at(self._ground.place, inner)
            self._counts[inner] = len(text.split("\n")) if text else 0
        return self._counts[inner]
