"""The repository's tests as a node runs them: what their walls met is said once to whoever watches."""

from collections.abc import Sequence

from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import NodeShell, Workspace
from cogworks.repair.measure import as_found


def run_suite(shell: NodeShell, workspace: Workspace, tests: Sequence[str] = (), *, who: str) -> TestReport:
    """Run tests of the working copy.

    Args:
        tests: files or ids; none: the whole suite.
        who: begins every line that is said.
    """
    report = shell.service.simulate(workspace, tests)
    for text in report.blocked:
        shell.say_once(f"{who}: the walls around the tests met this: {text}")
    if report.unprotected:
        shell.say_once(
            f"{who}: WARNING: nothing keeps the tests from this here: {'; '.join(report.unprotected)}. "
            "`cogworks doctor` says what to install."
        )
    return report


Scope = Sequence[str] | None
"""What a suite is made of: None, every test there is; else these files, and nothing is run where there are none."""


def run_scope(shell: NodeShell, workspace: Workspace, scope: Scope, *, who: str) -> TestReport:
    """Run the suite, as far as it is wanted; `who` is that of `run_suite`."""
    if scope is None:
        return run_suite(shell, workspace, who=who)
    return run_suite(shell, workspace, scope, who=who) if scope else TestReport(cases=())


def scope_in_words(scope: Scope) -> str:
    """What is run, for a line that says so."""
    return "the test suite" if scope is None else f"the {len(scope)} handed-over test file(s) alone"


class SuiteRuns:
    """What the whole suite of a visit came to: as it was found, as it ran last, and on each state of the files between."""

    def __init__(self, shell: NodeShell, workspace: Workspace, *, who: str) -> None:
        self._shell = shell
        self._workspace = workspace
        self._who = who
        self._on: dict[str, TestReport] = {}
        self.found: TestReport | None = None
        """None until it ran."""
        self.latest: TestReport | None = None

    def run(self, tree: str, scope: Scope = None) -> TestReport:
        """The report on the files as they are; the same files are not run again.

        Args:
            tree: a name for these files.
        """
        report = self._on.get(tree)
        if report is None:
            how = "" if self.found else " as it is"
            self._shell.say(f"{self._who}: running {scope_in_words(scope)}{how}")
            report = run_scope(self._shell, self._workspace, scope, who=self._who)
            self.remember(report, tree)
        self.found = self.found or report
        self.latest = report
        return report

    def remember(self, report: TestReport, tree: str) -> None:
        """Somebody else ran the suite on these files."""
        # What ran out of time may come to an end the next time.
        if not report.timed_out:
            self._on[tree] = report

    def found_as_known(self, now: TestReport) -> TestReport:
        """The suite as it was found, with the tests that a later run knows and nobody could load then."""
        return as_found(self.found or TestReport(cases=()), now)
