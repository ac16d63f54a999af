"""The repository's tests as a node runs them: what their walls met is said to whoever watches."""

from collections.abc import Sequence

from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import NodeShell, Workspace


def run_suite(shell: NodeShell, workspace: Workspace, tests: Sequence[str] = (), *, who: str) -> TestReport:
    """Run tests of the working copy.

    Args:
        tests: files or ids; none: the whole suite.
        who: begins every line that is said.
    """
    report = shell.service.simulate(workspace, tests)
    for text in report.blocked:
        shell.say(f"{who}: the walls around the tests met this: {text}")
    if report.unprotected:
        shell.say(
            f"{who}: WARNING: nothing keeps the tests from this here: {'; '.join(report.unprotected)}. "
            "`cogworks doctor` says what to install."
        )
    return report
