"""The repository's test suite as a node runs it: what its walls met is said to whoever watches."""

from cogworks.domain_services.messages import TestReport
from cogworks.nodes.contract import NodeShell, Workspace


def run_suite(shell: NodeShell, workspace: Workspace, *, who: str) -> TestReport:
    """Run all tests of the working copy.

    Args:
        who: begins every line that is said.
    """
    report = shell.service.simulate(workspace)
    for text in report.blocked:
        shell.say(f"{who}: the walls around the tests met this: {text}")
    if report.unprotected:
        shell.say(
            f"{who}: WARNING: nothing keeps the tests from this here: {'; '.join(report.unprotected)}. "
            "`cogworks doctor` says what to install."
        )
    return report
