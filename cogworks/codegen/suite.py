"""The repository's tests as a node runs them, and which of a slow suite go first."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from cogworks.codegen.handoff import holds_tests
from cogworks.domain_services.checking import Artifacts, DependencyGraph, Parts
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.operations import DEPENDENCY_GRAPH
from cogworks.domain_services.reasons import doctest_reason, marked_reason
from cogworks.domain_services.transport import ServiceFailed
from cogworks.leaving import in_code
from cogworks.nodes.contract import Failed, NodePorts, Workspace
from cogworks.repair.proof import Guard
from cogworks.repair.transact.measure import file_of, with_hidden_tests
from cogworks.repair.unloaded import MAX_NAMED, Unloaded, causes, library_remedies, unloaded_of

_PORT = re.compile(r"(\b127(?:\.\d{1,3}){3}|\blocalhost|\[::1\]):\d{1,5}\b")


def run_suite(ports: NodePorts, workspace: Workspace, tests: Sequence[str] = (), *, who: str) -> TestReport:
    """Run tests of the working copy, in as many runs as it takes.

    Args:
        tests: files or ids; none: the whole suite.
        who: begins every line that is said.
    """
    return _isolation_reported(ports, ports.service.simulate(workspace, tests), who)


def run_part(
    ports: NodePorts, workspace: Workspace, tests: Sequence[str], parts: Parts, *, who: str
) -> TestReport:
    """As `run_suite`, one run: what there was no time for is named in the report's `left`."""
    return _isolation_reported(ports, ports.service.simulate_part(workspace, tests, parts), who)


def _isolation_reported(ports: NodePorts, report: TestReport, who: str) -> TestReport:
    for text in _together(report.blocked):
        ports.say_once(f"{who}: the isolation around the tests met this: {text}")
    if report.unprotected:
        ports.say_once(
            f"{who}: WARNING: isolation is incomplete here, so the tests can: {'; '.join(report.unprotected)}. "
            "`cogworks doctor` says what to install."
        )
    return report


def _together(blocked: Sequence[str]) -> list[str]:
    """What isolation refused, once for all tests that met the same; ports differ from run to run."""
    alike: dict[str, list[str]] = {}
    for text in blocked:
        test, _, what = text.partition(": ")
        alike.setdefault(_PORT.sub(r"\1", what), []).append(test)
    return [
        f"{tests[0]}{f' and {len(tests) - 1} more' if len(tests) > 1 else ''}: {what}"
        for what, tests in alike.items()
    ]


Scope = Sequence[str] | None
"""What a suite is made of: None, every test there is; else these files, and nothing is run where there are none."""


def run_scope(ports: NodePorts, workspace: Workspace, scope: Scope, *, who: str) -> TestReport:
    """Run the suite, as far as it is wanted; `who` is that of `run_suite`."""
    if scope is None:
        return run_suite(ports, workspace, who=who)
    return run_suite(ports, workspace, scope, who=who) if scope else TestReport(cases=())


def scope_in_words(scope: Scope) -> str:
    """What is run, for a line that says so."""
    return "the test suite" if scope is None else f"the {len(scope)} handed-over test file(s) alone"


def unrun(paths: Collection[str], report: TestReport) -> tuple[str, ...]:
    """Those of the files, which hold tests by their names, that no runner here looks at.

    Only where that is certain. A runner may report the tests of a file of its kind under another file: the built one, or
    none.
    """
    ran = {
        PurePosixPath(file_of(name))
        for name in (*(case.id for case in report.cases), *report.collection_errors)
    }
    if not ran or any(not path.suffix for path in ran):
        return ()
    suffixes, stems = {path.suffix for path in ran}, {path.stem for path in ran}
    return tuple(
        path
        for path in sorted(paths)
        if holds_tests(path)
        and PurePosixPath(path).suffix not in suffixes
        and PurePosixPath(path).stem not in stems
    )


class SuiteRuns:
    """What the whole suite of a visit came to: as it was found, as it ran last, and on each state of the files between."""

    def __init__(self, ports: NodePorts, workspace: Workspace, *, who: str) -> None:
        self._ports = ports
        self._workspace = workspace
        self._who = who
        self._on: dict[str, TestReport] = {}
        self.baseline: TestReport | None = None
        """None until it ran."""
        self.latest: TestReport | None = None
        self.longest_s = 0.0
        """Of a run of all of it."""

    def run(self, tree: str, scope: Scope = None) -> TestReport:
        """The report on the files as they are; the same files are not run again.

        Args:
            tree: a name for these files.
        """
        report = self._on.get(tree)
        if report is None:
            how = "" if self.baseline else " as it is"
            self._ports.say(f"{self._who}: running {scope_in_words(scope)}{how}")
            began_s = self._ports.now()
            report = run_scope(self._ports, self._workspace, scope, who=self._who)
            if scope is None:
                self.longest_s = max(self.longest_s, self._ports.now() - began_s)
            self.remember(report, tree)
        self.baseline = self.baseline or report
        self.latest = report
        return report

    def remember(self, report: TestReport, tree: str) -> None:
        """Somebody else ran the suite on these files."""
        # What ran out of time may come to an end the next time.
        if not report.timed_out:
            self._on[tree] = report

    def forget(self, tests: Collection[str]) -> None:
        """These were in the suite as it was found, and are stated in another way now."""
        if self.baseline is not None and tests:
            cases = tuple(case for case in self.baseline.cases if case.id not in tests)
            self.baseline = self.baseline.model_copy(update={"cases": cases})

    def baseline_with_tests_of(self, now: TestReport) -> TestReport:
        """The suite as it was found, with the tests that a later run knows and nobody could load then."""
        return with_hidden_tests(self.baseline or TestReport(cases=()), now)


_WITHOUT = (
    'Or declare that no test guards anything here: `baseline = "none"` under `[tests]` in '
    "`.cogworks/config.toml`. Then only the tests that come with a change count."
)
_ALL_SKIPPED = (
    "All {} tests were skipped, so nothing can show whether a change makes anything worse: {}. Give "
    "them what they need."
)
_ALL_FAIL = (
    "None of {} tests passes before any change, so nothing can show whether a change makes anything "
    "worse. Most often they say: {}."
)
_MANY = 5
"""Fewer failing tests may well be what the item is about."""
_MOST_REASONS = 3
NO_TESTS = (
    "No test was found, so nothing can show whether a change makes anything worse. If there are tests, "
    'name their command: `command = "…"` under `[tests]` in `.cogworks/config.toml`. If there are '
    'none, set `baseline = "none"` there. Then only the tests that come with a change count.'
)
_ELSEWHERE = (
    'Or let the work go on without these tests: `baseline = "allow-failing"` under `[tests]` in '
    "`.cogworks/config.toml`. Every proof then begins with what it could not run."
)


class Judged(NamedTuple):
    """What the suite as it was found can show of a change."""

    unloaded: tuple[Unloaded, ...] = ()
    """What of it cannot be loaded; tests that wait for what is still to be written are no part of it."""
    guard: Guard = "suite"


WHOLE = Judged()
"""Everything can be loaded, and some of it passes."""


@dataclass(frozen=True)
class Baseline:
    """`[tests] baseline`, for one visit."""

    wanted: str
    """`require`, `allow-failing` or `none`."""
    workspace: Workspace
    own: Collection[str]
    """Files that only this sub-work-item brought in; what is wrong with them is its own business."""

    def scope(self, tests: Sequence[str]) -> Scope:
        """What the suite is made of: everything, or of what was handed over the files that hold tests."""
        if self.wanted != "none":
            return None
        # Own tests that nobody handed over came with the code of an earlier visit.
        own = (
            path for path in sorted(self.own) if holds_tests(path) and self.workspace.read(path) is not None
        )
        return tuple(dict.fromkeys((*tests, *own)))

    def judged(self, report: TestReport) -> Judged:
        """What the suite as it was found can show."""
        passed = (c for c in report.cases if c.outcome == "passed" and file_of(c.id) not in self.own)
        guard: Guard = "off" if self.wanted == "none" else "suite" if any(passed) else "empty"
        return Judged(_unloaded(report, self.own), guard)

    def refusal(self, report: TestReport) -> Failed | None:
        """Why nobody is asked for a change; None where the suite as it was found is what is wanted."""
        return refusal_of(report, wanted=self.wanted, own=self.own)


def refusal_of(
    report: TestReport, *, wanted: str, own: Collection[str] = (), who: str = "code_generation"
) -> Failed | None:
    """Why nobody is asked for a change where a suite was found like this; None where it is what is wanted.

    Args:
        wanted, own: as `Baseline` has them.
        who: begins the reason.
    """
    if report.timed_out:
        return _too_slow(report, who)
    unloaded = _unloaded(report, own) if wanted == "require" else ()
    remedies = (*report.remedies, *library_remedies(report.collection_errors))
    if not unloaded:
        return None
    # Where nothing else passes, nothing would be left that guards anything.
    passes = any(case.outcome == "passed" for case in report.cases)
    return _not_loaded(unloaded, remedies, _ELSEWHERE if passes else _WITHOUT, who)


def nothing_ran(report: TestReport) -> str:
    """Why a suite of which nothing ran can show nothing, with the remedy; empty where something ran or could not be loaded."""
    if not has_no_tests(report):
        return ""
    if not report.cases:
        return NO_TESTS
    reasons = Counter(case.message.strip().splitlines()[0] for case in report.cases if case.message.strip())
    most = "; ".join(
        f"{in_code(reason)} ({times} times)" for reason, times in reasons.most_common(_MOST_REASONS)
    )
    return f"{_ALL_SKIPPED.format(len(report.cases), most or 'they do not say why')} {_WITHOUT}"


def none_passes(report: TestReport, *, wanted: str) -> str:
    """Why a suite of many tests that all fail can show nothing, with the remedies; empty where it is none or that is allowed."""
    outcomes = Counter(case.outcome for case in report.cases)
    failing = outcomes["failed"] + outcomes["error"]
    if wanted != "require" or outcomes["passed"] or failing < _MANY:
        return ""
    last = Counter(
        marked_reason(case.message)
        or doctest_reason(case.message)
        or case.message.strip().splitlines()[-1].strip()
        for case in report.cases
        if case.message.strip()
    )
    most = "; ".join(
        f"{in_code(reason)} ({times} times)" for reason, times in last.most_common(_MOST_REASONS)
    )
    remedies = report.remedies or ("Mend it on the base branch.",)
    return "\n".join([_ALL_FAIL.format(failing, most or "nothing"), *remedies, _ELSEWHERE])


def has_no_tests(report: TestReport) -> bool:
    """Whether nothing was there to run: no test that was not skipped, and nothing that could not be loaded."""
    return not report.collection_errors and all(case.outcome == "skipped" for case in report.cases)


def _unloaded(report: TestReport, own: Collection[str]) -> tuple[Unloaded, ...]:
    return tuple(each for each in unloaded_of(report.collection_errors) if each.place not in own)


def _too_slow(report: TestReport, who: str) -> Failed:
    remedy = "\n".join(report.remedies) or (
        "Make it faster or raise `timeout_s` under `[tests]` in `.cogworks/config.toml`."
    )
    return Failed(
        reason=f"{who}: the test suite did not finish in time before anything was changed. {remedy} "
        "Then remove the trigger label and set it again.",
        category="service_failed",
    )


def _not_loaded(unloaded: Sequence[Unloaded], remedies: Sequence[str], otherwise: str, who: str) -> Failed:
    known = causes(unloaded)
    more = f"; and {len(known) - MAX_NAMED} more reasons" if len(known) > MAX_NAMED else ""
    listed = "; ".join(f"{places} cannot be loaded: {why}" for places, why in known[:MAX_NAMED])
    explanation = (
        "This is so before any change. Tests that cannot be loaded guard nothing, so the model was not asked."
    )
    lines = [
        f"{who}: {listed}{more}. {explanation}",
        *(remedies or ("Mend it on the base branch.",)),
        f"Then remove the trigger label and set it again. {otherwise}",
    ]
    return Failed(reason="\n".join(lines), category="escalated")


SLOW_S = 60.0
"""A suite that takes less is run at once."""
MOST_NEAR = 20
"""Where more files of tests are near, the whole suite says it as soon."""


def near_tests(
    ports: NodePorts, workspace: Workspace, changed: Collection[str], tests: Collection[str]
) -> tuple[str, ...]:
    """Those of the test files that use a changed file; none where nobody can tell, or where they are many.

    Args:
        tests: files in which a test passes without the change.
    """
    try:
        answers = ports.service.call(
            DEPENDENCY_GRAPH, workspace, Artifacts(artifacts=tuple(workspace.files()))
        )
    except ServiceFailed:
        # The whole suite follows anyway.
        return ()
    graphs = [answer.result for answer in answers] if isinstance(answers, tuple) else []
    users = _users(graphs)
    near = sorted((reached(changed, users) & {*tests}) - {*changed})
    return tuple(near) if len(near) <= MOST_NEAR else ()


def reached(changed: Collection[str], users: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The files that use one of the changed ones, or use one that does; cycles end.

    Args:
        users: file -> the files that use it.
    """
    files: set[str] = set()
    waiting = [*changed]
    while waiting:
        fresh = {user for user in users.get(waiting.pop(), ()) if user not in files}
        files |= fresh
        waiting += fresh
    return frozenset(files)


def _users(graphs: Sequence[DependencyGraph]) -> Mapping[str, Collection[str]]:
    users: dict[str, set[str]] = {}
    for graph in graphs:
        for module, used in graph.uses.items():
            for each in used:
                if module in graph.modules and each in graph.modules:
                    users.setdefault(graph.modules[each], set()).add(graph.modules[module])
    return users
