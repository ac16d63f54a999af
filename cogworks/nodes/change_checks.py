"""What judges a change in the node's working copy; remembers what was printed, for whoever has to hear of it."""

from collections.abc import Mapping, Sequence

from cogworks.coding.verdicts import Observed
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.nodes.contract import NodeShell, Workspace
from cogworks.nodes.suite import Scope, run_scope, run_suite, scope_in_words
from cogworks.repair.violations import Reading


class ChangeChecks:
    """The domain service's view of the working copy; obeys `cogworks.repair.transaction.Checks`."""

    def __init__(self, shell: NodeShell, workspace: Workspace, *, who: str) -> None:
        self._shell = shell
        self._workspace = workspace
        self._who = who
        self._scope: Scope = None
        self._reports: list[TestReport] = []
        self._findings: Sequence[Diagnostic] = ()
        self.whole: TestReport | None = None
        """The last run of the whole suite since `forget`."""

    def forget(self, scope: Scope = None) -> None:
        """Begin anew, for the next transaction, whose suite is made of `scope`."""
        self._scope = scope
        self._reports, self._findings, self.whole = [], (), None

    @property
    def observed(self) -> Observed:
        return Observed(tuple(self._reports), self._findings)

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        self._findings = self._shell.service.validate(self._workspace, paths) if paths else ()
        return self._findings

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        """Like every run of the node's tests this one ends at the service's own limit, or with its action."""
        del timeout_s
        what = f"{len(tests)} of the tests" if tests else scope_in_words(self._scope)
        self._shell.say(f"{self._who}: running {what}")
        if tests:
            report = run_suite(self._shell, self._workspace, tests, who=self._who)
        else:
            report = run_scope(self._shell, self._workspace, self._scope, who=self._who)
        self._reports.append(report)
        if not tests:
            self.whole = report
        return report

    def read(self, images: Mapping[str, str | None]) -> Reading:
        """Nothing: syntax is the static gate's, and public names change as the approved interfaces say."""
        del images
        return Reading()
