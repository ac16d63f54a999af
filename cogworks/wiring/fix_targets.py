"""Which tests a repair is about: those that are named, or all that fail."""

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from cogworks.domain_services.messages import EVERYTHING, ErrorCode, TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import UsageError
from cogworks.repair.instance import Instance
from cogworks.repair.transact.gates import Limits
from cogworks.repair.unloaded import MAX_NAMED, unloaded_of

_QUOTED = re.compile(r"[\"'`]([\w-]{1,100})")
"""The first part of what a reason names, `shop` of `No module named 'shop.cart'`."""

_LINTED = re.compile(
    r"::(?:ruff(?:::format)?|mypy(?:-status)?|flake-?8|black|isort|pylint|pycodestyle|pydocstyle)$",
    re.IGNORECASE,
)
"""What plugins of pytest call the checks of a file by a linter, e.g. `shop/cart.py::ruff` of pytest-ruff."""


class RunsTests(Protocol):
    """Who runs tests, none: the whole suite; of `transaction.Checks` what is needed here."""

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport: ...


class NothingFails(Exception):
    """The whole suite passes, so that nothing is to be repaired."""


def with_failing(
    instance: Instance,
    checks: RunsTests,
    say: Callable[[str], None],
    *,
    is_own: Callable[[str], bool] = lambda _: False,
    uncommitted: Collection[str] = (),
    unserved: Callable[[], str] = str,
) -> Instance:
    """The task with the tests that fail now; the suite runs once for it.

    Of what fails, checks of linters that run as tests are left out, unless nothing else fails: which of them fail depends on the
    linter's version.

    Args:
        is_own: whether a name is that of a file or folder of the repository: what is missing of its own can be repaired.
        uncommitted: paths with work that is not committed; failing tests there are pointed out among others.
        unserved: why no service knows the language of the repository and what to do; empty: one does. Asked only where no test ran.

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
        if because := unserved():
            raise UsageError(f"no test ran in this repository: {because}")
        raise UsageError(f"no test ran{why}. Give the command that runs your tests with `--test-cmd`.")
    if not failing:
        raise NothingFails(f"{len(report.cases)} test(s) ran and none fails. There is nothing to repair.")
    tests = tuple(each for each in failing if not _LINTED.search(each)) or failing
    say(f"{len(tests)} of {len(report.cases)} test(s) to repair: {_named(tests)}")
    if linted := [each for each in failing if each not in tests]:
        say(f"{len(linted)} check(s) of a linter fail and are left alone: {_named(linted)}")
    places = [each.place for each in unloaded_of(report.collection_errors)]
    if unloaded := [each for each in places if each not in (*failing, EVERYTHING)]:
        say(f"tests in {len(unloaded)} place(s) cannot be loaded and are left alone: {_named(unloaded)}")
    if own := _in_own_tests(tests, uncommitted):
        say(f"{len(own)} of them in uncommitted file(s) of tests; for those alone: {_as_options(own)}")
    return instance.model_copy(update={"failing_tests": tests})


def _in_own_tests(failing: Sequence[str], uncommitted: Collection[str]) -> list[str]:
    """Those in uncommitted files of tests, where others fail as well: these may be what somebody is after."""
    from cogworks.sight.kinds import is_test  # noqa: PLC0415 - loaded by now, for the tests took their time

    there = {path for path in uncommitted if is_test(path)}
    own = [each for each in failing if each.partition("::")[0] in there]
    return own if len(own) < len(failing) else []


def _named(tests: Sequence[str]) -> str:
    more = len(tests) - MAX_NAMED
    return ", ".join(tests[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _as_options(tests: Sequence[str]) -> str:
    more = " …" if len(tests) > MAX_NAMED else ""
    return " ".join(f"--test {shlex.quote(each)}" for each in tests[:MAX_NAMED]) + more


def asked_once(checks: RunsTests, tests: tuple[str, ...], limit_s: float) -> TestReport:
    """Whether a command of the user's takes ids and reports them is tried before anything is paid for."""
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
    unloaded = unloaded_of(report.collection_errors)
    why = f": {unloaded[0].name} ends with {unloaded[0].why}" if unloaded else ""
    return (
        f"no test could be loaded{why}. {' '.join(report.remedies)} If an import is itself the mistake, name a test that "
        "it keeps from being loaded with `--test ID`."
    )
