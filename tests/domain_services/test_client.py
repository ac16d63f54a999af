"""How cogworks gets along with a domain service that breaks, hangs, lies or refuses."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.checking import Artifacts, ValidateParams
from cogworks.domain_services.client import Configured, ProcessService, ServiceClient
from cogworks.domain_services.exploring import TraceParams
from cogworks.domain_services.limits import Breaker, Limits
from cogworks.domain_services.messages import ConstraintResult, Diagnostic, ErrorCode, InterfaceContract
from cogworks.domain_services.operations import NORMALISE, TRACE, VALIDATE
from cogworks.domain_services.over_socket import SocketTransport
from cogworks.domain_services.process import ServiceProcess
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import TryAgainLater
from cogworks.vocabulary import Severity

SCRIPT = Path(__file__).parent / "broken" / "service.py"


class Copy:
    """A working copy, as far as a service needs one."""

    def __init__(self, path: Path) -> None:
        self.path = path


class Bench:
    """One scripted service and what it was asked."""

    def __init__(self, behaviour: str, folder: Path, limits: Limits) -> None:
        self.journal = folder / "journal"
        self.journal.touch()
        self.pauses: list[float] = []
        self.copy = Copy(folder)
        self.command = [sys.executable, "-S", "-E", str(SCRIPT), behaviour, str(self.journal)]
        self.service = ProcessService(
            self.command,
            name="scripted",
            environment=os.environ,
            limits=limits,
            sleep=self.pauses.append,
        )

    @property
    def asked(self) -> list[str]:
        return self.journal.read_text().split()


def bench(behaviour: str, folder: Path, limits: Limits | None = None) -> Bench:
    return Bench(behaviour, folder, limits or Limits(pause_s=0.25))


def test_a_good_service_is_started_once_and_shakes_hands_once(tmp_path: Path) -> None:
    good = bench("good", tmp_path)
    with good.service as service:
        assert service.validate(good.copy, ["a"]) == ()
        assert service.validate(good.copy, ["b"]) == ()
        assert service.handshake().name == "scripted"

    assert good.asked == ["handshake", "validate", "validate"]
    assert good.pauses == []


def test_a_service_that_would_run_tests_in_its_own_way_is_not_asked_to_keep_a_command(tmp_path: Path) -> None:
    own = bench("good", tmp_path)
    start = ServiceClient(
        lambda: ServiceProcess(own.command, environment=os.environ, start_s=10.0),
        name="scripted",
        configured=Configured(test_command=["make", "test", "ARGS={tests}"]),
    )
    with start as service:
        assert service.validate(own.copy, ["a"]) == ()
        with pytest.raises(
            ServiceFailed, match=r"cannot keep `make test 'ARGS=\{tests\}'`; leave the"
        ) as caught:
            service.simulate(own.copy, ["a.txt::works"])

    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert own.asked == ["handshake", "validate"]


def test_a_service_starts_where_the_temporary_directory_has_a_path_too_long_for_a_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    good = bench("good", tmp_path)

    with good.service as service:
        assert service.handshake().name == "scripted"


def test_a_service_nobody_asks_is_never_started(tmp_path: Path) -> None:
    with bench("not-starting", tmp_path).service:
        pass


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("crash", "the connection"),
        ("break-off", "the answer breaks off after"),
        ("close", "closed without an answer"),
        ("wrong-id", "the answer is to request 'other'"),
        ("contradiction", "success with 1 blocking diagnostic"),
        ("looked-at-nothing", "asked about 1 artifact(s) and looked at none"),
        ("oversized", "longer than 16777216 bytes"),
        ("not-utf-8", "does not fit the schema"),
        ("not-json", "does not fit the schema"),
        ("schema", "status: Input should be 'success', 'failure' or 'error'"),
        ("wrong-type", "metadata.duration_ms: Input should be a valid integer"),
        ("bare-error", "reports an error and does not say which"),
        ("error-and-success", "reports success together with error tool_failed"),
        ("unfounded-failure", "reports failure, but none of its diagnostics blocks"),
        ("two-answers", "the answer is followed by"),
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_again_and_then_given_up(
    behaviour: str, words: str, tmp_path: Path
) -> None:
    broken = bench(behaviour, tmp_path)
    with broken.service as service, pytest.raises(ServiceFailed) as caught:
        service.validate(broken.copy, ["a"])

    assert "service 'scripted' failed at validate 3 times" in str(caught.value)
    assert words in str(caught.value)
    assert broken.asked.count("validate") == 3
    assert broken.pauses == [0.25, 0.5]


def test_a_service_that_crashes_once_is_started_again(tmp_path: Path) -> None:
    once = bench("crash-once", tmp_path)
    with once.service as service:
        assert service.validate(once.copy, ["a"]) == ()

    assert once.pauses == [0.25]
    assert once.asked == ["handshake", "validate", "handshake", "validate"]


def test_a_hanging_service_is_ended_and_not_asked_again(tmp_path: Path) -> None:
    stuck = bench("hang", tmp_path, Limits(methods={"validate": 0.2}))
    with stuck.service as service, pytest.raises(ServiceFailed, match="stuck at validate") as caught:
        service.validate(stuck.copy, ["a"])

    assert caught.value.code is ErrorCode.TIMEOUT
    assert stuck.asked.count("validate") == 1


def test_a_recoverable_error_ends_in_try_again_later(tmp_path: Path) -> None:
    later = bench("recoverable", tmp_path)
    with later.service as service, pytest.raises(TryAgainLater, match="tool_failed: no compiler"):
        service.validate(later.copy, ["a"])

    assert later.asked.count("validate") == 3


def test_an_error_for_good_is_not_asked_again(tmp_path: Path) -> None:
    refused = bench("error", tmp_path)
    with refused.service as service, pytest.raises(ServiceFailed) as caught:
        service.validate(refused.copy, ["a"])

    assert caught.value.code is ErrorCode.TOOL_FAILED
    assert caught.value.problem == "no compiler"
    # A person reads first what is wrong; who said it by which code is for logs.
    assert str(caught.value) == f"no compiler (service '{service.name}' refused validate: tool_failed)"
    assert refused.asked.count("validate") == 1


def test_an_unknown_category_is_only_information(tmp_path: Path) -> None:
    novel = bench("unknown-category", tmp_path)
    with novel.service as service:
        found = service.validate(novel.copy, ["a"])

    expected = Diagnostic(artifact="a", severity=Severity.INFORMATIONAL, category="novelty", message="m")
    assert found == (expected,)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("wrong-version", "speaks API 2.0, cogworks needs 1.0"),
        ("odd-handshake", "the handshake does not fit the schema"),
        ("not-starting", "no licence"),
        ("no-simulate", "does not offer 'simulate', only validate"),
        ("bad-report", "the test report does not fit the schema"),
        ("no-tests", "reports success, but its test report does not pass"),
    ],
)
def test_a_service_that_does_not_fit_is_named_with_the_reason(
    behaviour: str, words: str, tmp_path: Path
) -> None:
    odd = bench(behaviour, tmp_path)
    with odd.service as service, pytest.raises(ServiceFailed) as caught:
        service.simulate(odd.copy)

    assert words in str(caught.value)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    service = ProcessService(
        ["/no/such/program"], name="lost", environment={}, limits=Limits(attempts=1), sleep=lambda _: None
    )
    with service, pytest.raises(ServiceFailed, match="/no/such/program cannot be started"):
        service.simulate(Copy(tmp_path))


def test_nothing_of_our_environment_reaches_the_service_but_path(tmp_path: Path) -> None:
    program = tmp_path / "service.py"
    program.write_text("import json, os, sys\njson.dump(dict(os.environ), open(sys.argv[1], 'w'))\n")
    environment = {
        "PATH": os.environ["PATH"],
        "GITHUB_TOKEN": "t",
        "COGWORKS_LLM_API_KEY": "k",
        "HOME": "/home/me",
    }
    seen = tmp_path / "seen"
    service = ProcessService(
        [sys.executable, str(program), str(seen)],
        name="nosy",
        environment=environment,
        limits=Limits(attempts=1),
        sleep=lambda _: None,
    )
    with service, pytest.raises(ServiceFailed):
        service.simulate(Copy(tmp_path))

    found = json.loads(seen.read_text())
    assert found["PATH"] == environment["PATH"]
    assert found["HOME"] != "/home/me"
    assert set(found) - {"LC_CTYPE"} == {"PATH", "HOME", "TMPDIR", "LC_ALL", "TZ"}


def test_a_service_that_keeps_failing_is_left_alone(tmp_path: Path) -> None:
    broken = bench("wrong-id", tmp_path, Limits(attempts=1, breaker_failures=2))
    with broken.service as service:
        for words in (
            "failed at validate once",
            "failed at validate once",
            "not asked for simulate any more: 2 calls",
        ):
            with pytest.raises(ServiceFailed, match=words):
                service.simulate(broken.copy) if "simulate" in words else service.validate(broken.copy, ["a"])

    assert broken.asked.count("validate") == 2
    assert broken.asked.count("simulate") == 0


def test_a_refusal_is_an_answer_and_no_failure(tmp_path: Path) -> None:
    refusing = bench("error", tmp_path, Limits(attempts=1, breaker_failures=1))
    with refusing.service as service:
        for _ in range(2):
            with pytest.raises(ServiceFailed, match="tool_failed"):
                service.validate(refusing.copy, ["a"])

    assert refusing.asked.count("validate") == 2


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    late = bench("late-reply", tmp_path, Limits(attempts=1, methods={"validate": 0.2}))
    with late.service as service:
        for _ in range(2):
            with pytest.raises(ServiceFailed, match="stuck at validate"):
                service.validate(late.copy, ["a"])
        assert service.handshake().name == "scripted"


@pytest.mark.slow
def test_nobody_waits_longer_than_the_time_that_is_left(tmp_path: Path) -> None:
    stuck = bench("hang", tmp_path)
    service = ServiceClient(
        stuck.service._open_transport, name="scripted", sleep=stuck.pauses.append, left_s=lambda: 2.0
    )
    with service, pytest.raises(ServiceFailed, match="no answer within 2 s"):
        service.validate(stuck.copy, ["a"])


def test_a_request_beyond_the_limit_is_not_sent(tmp_path: Path) -> None:
    good = bench("good", tmp_path)
    with good.service as service, pytest.raises(ServiceFailed, match="ask about fewer files"):
        service.validate(good.copy, ["a" * 1024] * (16 * 1024))

    assert good.asked == ["handshake"]


def test_contracts_go_where_they_are_answered(tmp_path: Path) -> None:
    contract = InterfaceContract(id="SWD-IF-CAN-01", interface_type="bus_protocol")
    good, silent = bench("good", tmp_path), bench("ignores-contracts", tmp_path)
    params = ValidateParams(artifacts=("a",))
    with good.service as service:
        answer = service.call(VALIDATE, good.copy, params, contracts=[contract])
        formatted = service.call(NORMALISE, good.copy, Artifacts(artifacts=("a",)), contracts=[contract])
    assert isinstance(answer, Answer)
    assert answer.constraint_results == (ConstraintResult(contract="SWD-IF-CAN-01", status="not_checked"),)
    assert isinstance(formatted, Answer)
    assert formatted.constraint_results == ()

    with silent.service as service, pytest.raises(ServiceFailed, match="nothing about interface contract"):
        service.call(VALIDATE, silent.copy, params, contracts=[contract])


def test_what_is_not_offered_is_said_by_name(tmp_path: Path) -> None:
    good = bench("good", tmp_path)
    with good.service as service:
        missing = service.call(TRACE, good.copy, TraceParams(test="a"))

    assert missing == NotOffered(
        service="scripted", method="trace", offered=("validate", "normalise", "simulate")
    )


def test_a_service_elsewhere_is_not_asked_about_what_comes_from_no_server(tmp_path: Path) -> None:
    near = bench("good", tmp_path)
    far = ServiceClient(
        lambda: ServiceProcess(near.command, environment=os.environ, start_s=30), name="far", is_far=True
    )
    with far, pytest.raises(ServiceFailed) as caught:
        far.validate(near.copy, ["a"])

    assert f"clones what is pushed, but {near.copy.path} comes from no server" in str(caught.value)
    assert near.asked == ["handshake"]


def test_nobody_listens(tmp_path: Path) -> None:
    service = ServiceClient(lambda: SocketTransport(tmp_path / "nobody"), name="lost", sleep=lambda _: None)
    with service, pytest.raises(ServiceFailed, match=r"nothing answers at .*nobody"):
        service.handshake()


class Machine(RuleBasedStateMachine):
    """The breaker opens after exactly so many failures in a row."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker = Breaker(limit=3)
        self.row = 0

    @rule()
    def fail(self) -> None:
        self.breaker, self.row = self.breaker.failed("x"), self.row + 1

    @rule()
    def answer(self) -> None:
        self.breaker, self.row = self.breaker.answered(), 0

    @invariant()
    def is_open_when_due(self) -> None:
        assert self.breaker.is_open is (self.row >= 3)


TestBreaker = Machine.TestCase


def test_a_service_that_cannot_start_prints_no_secret_of_ours(tmp_path: Path) -> None:
    own = bench("not-starting", tmp_path)
    start = ServiceClient(
        lambda: ServiceProcess(own.command, environment=os.environ, start_s=10.0),
        name="scripted",
        limits=Limits(attempts=1),
        configured=Configured(secrets=["no licence"]),
    )
    with start as service, pytest.raises(ServiceFailed) as caught:
        service.handshake()

    assert "it said last" in str(caught.value)
    assert "no licence" not in str(caught.value)


def test_of_a_service_that_said_much_the_last_whole_lines_are_shown(tmp_path: Path) -> None:
    own = bench("talks-much", tmp_path)
    start = ServiceClient(
        lambda: ServiceProcess(own.command, environment=os.environ, start_s=10.0),
        name="scripted",
        limits=Limits(attempts=1),
    )
    with start as service, pytest.raises(ServiceFailed) as caught:
        service.handshake()

    lines = str(caught.value).partition("it said last:\n")[2].splitlines()
    assert lines[0].startswith("frame ")
    assert "frame 399 of a long traceback" in str(caught.value)
    assert len(lines) < 80
