"""One service on a socket and over HTTP at once: the same answers, the same suite, and who is let in."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from cogworks.cli.main import cli
from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.messages import ErrorCode, Response, frame
from cogworks.domain_services.opening import open_client
from cogworks.domain_services.transport import MAX_MESSAGE_BYTES, ServiceFailed
from cogworks.services.serving import MAX_CALLERS, sendable
from tests.limits import Started

TOKEN = "COGWORKS_SERVICE_TEST_TOKEN"


@dataclass(frozen=True)
class Running:
    """A Python service that somebody else started."""

    socket: Path
    url: str
    process: subprocess.Popen[str]


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Running]:
    path = folder / "door"
    command = [sys.executable, "-m", "cogworks", "service", "python", "--socket", str(path)]
    process = Started([*command, "--http", "127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout as told:
        try:
            addresses = [told.readline().removeprefix("listening at ").strip() for _ in range(2)]
            assert addresses[0] == str(path)
            yield Running(path, addresses[1], process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("open")) as found:
        yield found


def certificate(folder: Path) -> Path:
    """A certificate of our own for 127.0.0.1, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "service")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "service.pem"
    file.write_bytes(private + made.public_bytes(pem))
    return file


def client(**way: str) -> ServiceClient:
    config = ServiceConfig.model_validate({"name": "test", "attempts": 1, **way})
    return open_client(config, environment={TOKEN: "s3cret"})


def invoke(*words: str, environment: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(cli, list(words), env=environment or {}, standalone_mode=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "skipped"),
    [
        ("socket", ["shutdown"]),
        pytest.param("url", ["order", "left-caller", "socket-mode", "shutdown"], marks=pytest.mark.slow),
    ],
)
def test_the_python_service_passes_the_conformance_suite(
    way: str, skipped: list[str], service: Running
) -> None:
    result = invoke("service", "conformance", str(getattr(service, way)), "--profile", "review", "--json")

    told = json.loads(result.stdout)
    assert [each for each in told["results"] if each["status"] == "failed"] == []
    assert [each["check"] for each in told["results"] if each["status"] == "skipped"] == skipped
    assert result.return_value == 0


@pytest.mark.slow
def test_the_findings_are_a_table_with_what_to_do(service: Running, tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_text("x = 1\n")
    sample = ("--repository", str(tmp_path), "--broken", "sound.py")

    result = invoke("service", "conformance", service.url, *sample, "--only", "broken-file")

    assert result.return_value == 1
    assert result.stdout.splitlines() == [
        "result  check        finding, and what to do",
        "ok      handshake    who the service is and what it can do",
        "FAILED  broken-file  a broken file is found",
        "                     validate of the broken file 'sound.py' is answered with status `success`",
        "                     -> Say `failure` with a blocking diagnostic.",
        "",
        "subject: 1 passed, 1 failed, of 2",
    ]


def test_health_asks_every_service_of_the_repository(service: Running, tmp_path: Path) -> None:
    (tmp_path / ".cogworks").mkdir()
    (tmp_path / ".cogworks" / "services.toml").write_text(
        f'[[services]]\nname = "near"\nsocket = "{service.socket}"\n'
        f'[[services]]\nname = "lost"\nrole = "secondary"\nsocket = "{tmp_path}/nobody"\n'
    )

    everything = invoke("health", "--repository", str(tmp_path), "--json")
    lost = invoke("health", "lost", "--repository", str(tmp_path))
    stranger = invoke("health", "stranger", "--repository", str(tmp_path))

    told = json.loads(everything.stdout)
    assert everything.return_value == 0
    assert [(each["name"], each["status"]) for each in told["services"]] == [
        ("near", told["services"][0]["status"]),
        ("lost", "failed"),
    ]
    assert told["services"][0]["status"] in ("ready", "degraded")
    assert told["services"][0]["calls_itself"] == "python"
    assert (lost.return_value, "nothing answers at" in lost.stderr) == (1, True)
    assert "there is no service 'stranger'. Configured services: near, lost" in str(stranger.exception)


def test_health_of_the_far_service_by_the_operator_s_own_file(service: Running, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'[[services]]\nname = "far"\nurl = "{service.url}"\n')

    result = invoke("health", environment={"COGWORKS_DOMAIN_SERVICES_CONFIG": str(file)})

    assert result.return_value == 0
    assert result.stdout.splitlines()[1].split()[:2] == ["far", "primary"]
    assert "far: the environments of repositories are made by " in result.stdout
    assert "far isolates tests by: " in result.stdout or "does not say how" in result.stderr


def _statuses(requests: Sequence[httpx.Request]) -> list[int]:
    with httpx.Client(trust_env=False) as plain:
        return [plain.send(request).status_code for request in requests]


def test_http_that_is_no_request_is_refused(service: Running) -> None:
    url = f"{service.url}/api/v1/handshake"

    assert _statuses(
        [
            httpx.Request("POST", service.url + "/elsewhere", content=b"{}"),
            httpx.Request("GET", url),
            httpx.Request("POST", url, content=iter([b"{}"])),
            httpx.Request("POST", url, content=b"a" * (MAX_MESSAGE_BYTES + 1)),
            httpx.Request("POST", url, content=b"{}"),
        ]
    ) == [404, 501, 411, 413, 200]


def test_more_callers_than_places_are_turned_away_and_nobody_is_held_up(service: Running) -> None:
    silent = []
    try:
        for _ in range(MAX_CALLERS):
            caller = socket.socket(socket.AF_UNIX)
            caller.connect(str(service.socket))
            silent.append(caller)
        with client(socket=str(service.socket)) as late, pytest.raises(ServiceFailed, match="connection"):
            late.handshake()
    finally:
        for caller in silent:
            caller.close()
    with client(url=service.url) as other:
        assert other.handshake().name == "python"


@pytest.mark.slow
def test_beyond_plain_http_a_certificate_and_a_token_are_wanted(tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    token_file = tmp_path / "token"
    token_file.write_text("s3cret\n")
    with running(tmp_path, "--certificate", str(pem), "--token-file", str(token_file)) as closed:
        with client(url=closed.url, token_env=TOKEN, ca_file=str(pem)) as known:
            assert known.handshake().name == "python"
        with (
            client(url=closed.url, ca_file=str(pem)) as unknown,
            pytest.raises(ServiceFailed, match="answered 401"),
        ):
            unknown.handshake()
        with (
            client(url=closed.url, token_env=TOKEN) as wary,
            pytest.raises(ServiceFailed, match="is not trusted"),
        ):
            wary.handshake()
        port = int(closed.url.rsplit(":", 1)[1])
        # One who connects and never speaks TLS holds up nobody.
        with (
            socket.create_connection(("127.0.0.1", port)),
            client(url=closed.url, token_env=TOKEN, ca_file=str(pem)) as known,
        ):
            assert known.handshake().name == "python"

    assert closed.process.returncode == 0
    assert not closed.socket.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "where should the service listen?"),
        (["--http", "nowhere"], "want HOST:PORT"),
        (["--http", "0.0.0.0:0"], "leaves this machine without TLS; add --certificate and --token-file"),
    ],
)
def test_where_a_service_does_not_listen(options: list[str], words: str) -> None:
    assert words in str(invoke("service", "python", *options).exception)


def test_a_service_is_found_by_the_socket_only_by_its_user(service: Running) -> None:
    assert service.socket.stat().st_mode & 0o777 == 0o600


# The main thread blocks the signal, so another one takes it: nothing wakes the main thread. The same comes of a signal
# that arrives between the main thread's last look and its sleep, which no test can time.
UNWOKEN = """
import signal, sys, threading, time
from cogworks.services.serving import Dispatcher
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("waiting", flush=True)
Dispatcher().answer_all(None)
"""


def test_a_signal_that_does_not_wake_the_service_ends_it_all_the_same() -> None:
    with Started([sys.executable, "-c", UNWOKEN], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_an_answer_that_nobody_would_read_to_its_end_is_an_error() -> None:
    short = Response(request_id="1", status="success", result={"text": "x"})
    room = MAX_MESSAGE_BYTES - len(frame(short))
    longest = short.model_copy(update={"result": {"text": "x" * (room + 1)}})
    too_long = short.model_copy(update={"result": {"text": "x" * (room + 2)}})

    assert sendable(longest) == frame(longest)
    refused = Response.model_validate_json(sendable(too_long))
    assert (refused.request_id, refused.status) == ("1", "error")
    assert refused.error is not None
    assert refused.error.code is ErrorCode.TOOL_FAILED
    assert "ask about fewer artifacts" in refused.error.message
