"""Which tests a repair is about: those that are named, or all that fail."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from cogworks.domain_services.messages import EVERYTHING, ErrorCode, TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import UsageError
from cogworks.repair.instance import Instance
from cogworks.repair.transact.gates import Limits
from cogworks.repair.unloaded import MAX_NAMED, unloaded_of

_QUOTED = re.compile(r"[\"'`]([\w-]{1,100})")
"""The first part of what a reason names, `shop` of `No module named 'shop.cart'`."""


class RunsTests(Protocol):
    """Who runs tests, none: the whole suite; of `transaction.Checks` what is wanted here."""

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport: ...


class NothingFails(Exception):
    """The whole suite passes, so that nothing is to be repaired."""


def with_failing(
    instance: Instance,
    checks: RunsTests,
    say: Callable[[str], None],
    *,
    is_own: Callable[[str], bool] = lambda _: False,
) -> Instance:
    """The task with every test that fails now; the suite runs once for it.

    Args:
        is_own: whether a name is that of a file or folder of the repository: what is missing of its own can be repaired.

    Raises:
        NothingFails: all tests pass.
        UsageError: no test ran, none could be loaded and the service knows what is missing, they did not come to an end, or the test command cannot be kept.
    """
    limit_s = Limits().baseline_s
    report = asked_once(checks, (), limit_s)
    from cogworks.codegen.suitability import failing_in  # noqa: PLC0415 - loaded by now, for the tests took their time

    if report.timed_out:
        hung = f" ({', '.join(report.hung)})" if report.hung else ""
        raise UsageError(
            f"the tests did not end within {limit_s:.0f} s{hung}, so nobody knows which of them fail. Name the "
            "failing tests with `--test ID`, or stop those that hang earlier with `--test-timeout SECONDS`."
        )
    failing = failing_in(report)
    if not report.cases and report.remedies and not _names_any(report, is_own):
        raise UsageError(_nothing_loads(report))
    if not report.cases and (not failing or EVERYTHING in failing):
        why = f": {report.collection_errors[-1]}" if report.collection_errors else ""
        raise UsageError(f"no test ran{why}. Give the command that runs your tests with `--test-cmd`.")
    if not failing:
        raise NothingFails(f"{len(report.cases)} test(s) ran and none fails. There is nothing to repair.")
    more = len(failing) - MAX_NAMED
    named = ", ".join(failing[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    say(f"{len(failing)} of {len(report.cases)} test(s) to repair: {named}")
    return instance.model_copy(update={"failing_tests": failing})


def asked_once(checks: RunsTests, tests: tuple[str, ...], limit_s: float) -> TestReport:
    """Whether a command of the user's takes ids and reports them is found out before anything is paid for."""
    try:
        return checks.run(tests, timeout_s=limit_s)
    except ServiceFailed as error:
        if error.code is not ErrorCode.INVALID_REQUEST:
            raise
        raise UsageError(f"`--test-cmd` cannot be kept: {error}") from error


def _names_any(report: TestReport, is_own: Callable[[str], bool]) -> bool:
    reasons = (each.reason for each in unloaded_of(report.collection_errors))
    return any(is_own(name) for reason in reasons for name in _QUOTED.findall(reason))


def _nothing_loads(report: TestReport) -> str:
    """No change of the code would be proven by anything, so that a model would be paid for nothing."""
    found = unloaded_of(report.collection_errors)
    why = f": {found[0].name} ends with {found[0].why}" if found else ""
    return (
        f"no test could be loaded{why}. {' '.join(report.remedies)} If an import is itself the mistake, name a test that "
        "it keeps from being loaded with `--test ID`."
    )
