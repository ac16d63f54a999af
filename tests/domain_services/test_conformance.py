"""The conformance suite says of each broken service what is wrong with it, and nothing of one in order."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.conformance.examination import Conformance, Exam, Sample, Subject
from cogworks.domain_services.conformance.suite import examine
from cogworks.domain_services.opening import open_transport
from cogworks.domain_services.operations import PROFILES
from cogworks.domain_services.transport import ServiceGone, ServiceSlow

SCRIPT = Path(__file__).parent / "broken" / "service.py"


@contextmanager
def exam(behaviour: str, folder: Path, *, limit_s: float = 5.0, profile: str = "") -> Iterator[Exam]:
    """An examination of the scripted service, with a sample it can judge."""
    (folder / "a.txt").write_text("good\n")
    (folder / "broken.txt").write_text("bad\n")
    (folder / "journal").touch()
    command = (sys.executable, "-S", "-E", str(SCRIPT), behaviour, str(folder / "journal"))
    service = ServiceConfig(name="scripted", command=command)
    sample = Sample(folder=folder, artifacts=("a.txt",), broken="broken.txt", failing_test="a.txt::fails")
    with closing(Subject(service, lambda: open_transport(service, os.environ))) as subject:
        yield Exam(
            subject=subject, limit_s=limit_s, sample=sample, profile=PROFILES[profile] if profile else None
        )


def findings_of(report: Conformance, check: str) -> str:
    return "\n".join(
        f"{finding.found} -> {finding.remedy}"
        for result in report.results
        if result.check == check
        for finding in result.findings
    )


def test_nothing_is_found_in_a_service_that_is_in_order(tmp_path: Path) -> None:
    with exam("good", tmp_path) as good:
        report = examine(good)

    assert [(result.check, result.findings) for result in report.results if result.status == "failed"] == []
    assert [result.check for result in report.results if result.status == "skipped"] == [
        "test-command",
        "test-groups",
        "profile",
    ]


CASES = [
    ("hangs-at-handshake", "handshake", "handshake: no answer within"),
    ("wrong-version", "handshake", "speaks API 2.0, cogworks needs 1.0"),
    ("odd-handshake", "handshake", "does not fit the schema"),
    (
        "deaf-to-commands",
        "test-command",
        "by the command `true`, which runs no test, is answered with status",
    ),
    (
        "ungrouped",
        "test-groups",
        "in groups ran 'a.txt::works' after 'a.txt::fails' of an earlier group failed",
    ),
    ("fickle", "handshake", "two answers in a row differ"),
    ("not-starting", "handshake", "no licence"),
    (
        "knows-everything",
        "unknown-method",
        "no_such_method (not announced) is answered with status `success`",
    ),
    ("free-text", "unknown-method", "'sorry: unsupported_method' is not one of"),
    ("dies-of-nonsense", "malformed-request", "it does not survive words instead of JSON"),
    ("any-version", "wrong-version", "API version 99.0) is answered with status `success`"),
    ("any-parameters", "wrong-parameters", "(wrong parameters) is answered with"),
    ("any-repository", "missing-repository", "not there) is answered with status `success`"),
    ("out-of-order", "order", "two requests on one connection: the answer is to request"),
    ("one-at-a-time", "callers", "4 callers beside a silent one: handshake: no answer within"),
    ("late-reply", "left-caller", "after a caller left: handshake: the answer is followed by"),
    ("open-door", "socket-mode", "mode 0777"),
    ("hang", "method:validate", "no answer within 0.4 s"),
    ("crash", "method:validate", "validate: the connection"),
    ("close", "method:validate", "closed without an answer"),
    ("break-off", "method:validate", "the answer is not JSON"),
    ("wrong-id", "method:validate", "the answer is to request 'other'"),
    ("contradiction", "method:validate", "success with 1 blocking diagnostic"),
    ("unfounded-failure", "method:validate", "none of its diagnostics blocks"),
    ("looked-at-nothing", "method:validate", "asked about 1 artifact(s) and looked at none"),
    ("oversized", "method:validate", "longer than 16777216 bytes"),
    ("not-utf-8", "method:validate", "not JSON in UTF-8"),
    ("not-json", "method:validate", "not JSON in UTF-8"),
    ("schema", "method:validate", "'splendid' is not one of"),
    ("wrong-type", "method:validate", "metadata.duration_ms: '12' is not of type 'integer'"),
    ("bare-error", "method:validate", "does not say which"),
    ("error-and-success", "method:validate", "success together with error tool_failed"),
    ("two-answers", "method:validate", "the answer is followed by"),
    ("error", "method:validate", "is announced, but answers tool_failed: no compiler"),
    ("partial", "method:simulate", "is announced, but answers unsupported_method"),
    ("bad-report", "method:simulate", "'outcome' is a required property"),
    ("no-tests", "method:simulate", "reports success, but its test report does not pass"),
    ("ignores-contracts", "contracts", "says nothing about interface contract(s) CONFORMANCE-1"),
    ("blind", "broken-file", "'broken.txt' is answered with status `success`"),
    ("blind", "failing-test", "'a.txt::fails' is answered with status `success`"),
    ("immortal", "shutdown", "does not end within 3 s of SIGTERM"),
    ("leaves-a-child", "shutdown", "a process it started outlives it"),
]
LIMITS_S = {"hang": 0.4, "late-reply": 1.0}
HANDSHAKE_LIMIT_S = {"hangs-at-handshake": 0.3}
LATER_HANDSHAKE_LIMIT_S = {"one-at-a-time": 0.5}
"""Where the service has to start first, which on a busy machine takes longer."""


@pytest.mark.parametrize(("behaviour", "check", "words"), CASES)
def test_a_broken_service_is_told_what_is_wrong(
    behaviour: str, check: str, words: str, tmp_path: Path
) -> None:
    def known(exam: Exam) -> None:
        exam.handshake_limit_s = LATER_HANDSHAKE_LIMIT_S.get(behaviour, exam.handshake_limit_s)

    with exam(behaviour, tmp_path, limit_s=LIMITS_S.get(behaviour, 5.0)) as broken:
        broken.handshake_limit_s = HANDSHAKE_LIMIT_S.get(behaviour, broken.handshake_limit_s)
        report = examine(broken, only=[check], before_methods=known)

    assert not report.is_conformant
    assert words in findings_of(report, check)
    assert report.failed == tuple(dict.fromkeys((check,)))


class Impatient:
    """A service of which the first caller hears nothing in time; the others do not either, unless it is let go first."""

    def __init__(self) -> None:
        self.first = threading.Lock()
        self.closed = threading.Event()

    def exchange(self, method: str, line: bytes, /, *, limit_s: float) -> bytes:
        if not self.first.acquire(blocking=False) and self.closed.wait(limit_s):
            raise ServiceGone("let go")
        raise ServiceSlow("no answer")

    def close(self) -> None:
        self.closed.set()


def test_a_caller_who_gives_up_ends_no_other_s_conversation() -> None:
    service = Impatient()
    subject = Subject(ServiceConfig(name="scripted", socket="/s"), lambda: service)

    heard = subject.ask_together("handshake", [b"{}\n"] * 4, limit_s=0.3)

    assert [each.kind for each in heard] == ["silent"] * 4
    assert service.closed.is_set()


def test_a_profile_that_is_not_met_is_named(tmp_path: Path) -> None:
    with exam("good", tmp_path, profile="firmware") as good:
        report = examine(good, only=["profile"])

    assert findings_of(report, "profile") == (
        "the profile requires extract_interfaces, which is not announced -> "
        "Implement extract_interfaces, or choose a smaller profile."
    )
