"""The conformance suite: every check in order, none of them fatal to the others."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from cogworks.domain_services.conformance import method_checks, protocol_checks
from cogworks.domain_services.conformance.examination import CheckResult, Conformance, Exam, Finding, Skipped
from cogworks.domain_services.operations import OPERATIONS
from cogworks.domain_services.transport import ServiceGone, ServiceRefused, ServiceSlow

Check = Callable[[Exam], Iterator[Finding]]

_PROTOCOL: tuple[tuple[str, str, Check], ...] = (
    ("unknown-method", "methods that are not announced are refused", protocol_checks.unknown_methods),
    ("malformed-request", "what is no request is refused and survived", protocol_checks.malformed_requests),
    ("wrong-version", "a caller of another API version is told so", protocol_checks.wrong_version),
    ("wrong-parameters", "parameters of the wrong type are refused", protocol_checks.wrong_parameters),
    ("missing-repository", "a repository that is not there is an error", protocol_checks.missing_repository),
    ("oversized-request", "a request beyond the limit is survived", protocol_checks.oversized_request),
    ("order", "requests on one connection are answered in order", protocol_checks.answers_in_order),
    ("callers", "callers do not hold up or hear each other", protocol_checks.several_callers),
    ("left-caller", "an answer nobody waits for reaches nobody", protocol_checks.caller_that_left),
    ("socket-mode", "only its user may connect", protocol_checks.socket_permissions),
)
_JUDGEMENT: tuple[tuple[str, str, Check], ...] = (
    ("contracts", "interface contracts are answered", method_checks.contracts_answered),
    ("broken-file", "a broken file is found", method_checks.broken_file_found),
    ("failing-test", "a failing test is found", method_checks.failing_test_found),
    ("test-command", "the user's test command is what runs tests", method_checks.command_kept),
    ("test-groups", "no test runs after a group in which one failed", method_checks.groups_kept),
    ("profile", "the profile's methods are announced", method_checks.profile_met),
    ("shutdown", "it ends when it is asked to", protocol_checks.shutdown),
)


def examine(
    exam: Exam, *, before_methods: Callable[[Exam], None] = lambda _: None, only: Collection[str] = ()
) -> Conformance:
    """Run the checks.

    Args:
        before_methods: is called once the handshake is known, and may choose the sample by it.
        only: names of checks, besides the handshake; none: all of them.
    """
    results = [_run(exam, "handshake", "who the service is and what it can do", protocol_checks.handshake)]
    before_methods(exam)
    checks = (*_PROTOCOL, *_methods(exam), *_JUDGEMENT)
    results += [_run(exam, *check) for check in checks if not only or check[0] in only]
    return Conformance(service=exam.subject.service.name, results=tuple(results))


def _methods(exam: Exam) -> Sequence[tuple[str, str, Check]]:
    announced = exam.handshake.capabilities if exam.handshake else ()
    # In the order of the registry: `trace` needs a test id that `simulate` reported.
    return [
        (f"method:{method}", operation.purpose, partial(method_checks.method_on_sample, method=method))
        for method, operation in OPERATIONS.items()
        if method in announced and method != "handshake"
    ]


def _run(exam: Exam, name: str, title: str, check: Check) -> CheckResult:
    try:
        findings = tuple(check(exam))
    except Skipped as why:
        return CheckResult(check=name, title=title, status="skipped", reason=str(why))
    except (ServiceGone, ServiceSlow, ServiceRefused, OSError) as error:
        findings = (
            Finding(found=f"it cannot be reached: {error}", remedy="Look into its log; start it by hand."),
        )
    return CheckResult(check=name, title=title, status="failed" if findings else "passed", findings=findings)
