"""Servers that dribble, flood, pack small what is large or send us elsewhere: every client ends in time, with an error of ours.

Real sockets. What the model's address does in the midst of an item is in `test_red_team_endpoint`.
"""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Self

import httpx
import pytest

from cogworks.domain_services.answers import Unusable, read_response
from cogworks.domain_services.messages import Request
from cogworks.domain_services.over_wire import HttpTransport
from cogworks.domain_services.transport import ServiceGone, ServiceSlow
from cogworks.errors import CogworksError
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.documents import OutcomeUnknown
from cogworks.github.failed_checks import JobLogs
from cogworks.github.meter import Requests
from cogworks.github.rest import RestClient
from cogworks.llm.providers.anthropic import assembly
from cogworks.llm.providers.http_door import HttpDoor
from cogworks.llm.providers.refusals import Refused
from cogworks.llm.waiting import Waits
from cogworks.vocabulary import BranchName

# The clock is the real one: what is dribbled would go on for minutes.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

TOKEN = "ghp_" + "S3" * 18
LIMIT_S = 1.5
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@cache
def packed() -> bytes:
    """Made when it is wanted: whoever only lists the tests would wait for it."""
    return gzip.compress(b" " * 300_000_000)


class Server:
    """Answers each request with the pieces that it was told, one after the other, until the caller is gone."""

    def __init__(self) -> None:
        self.pieces: Callable[[], Iterator[bytes]] = lambda: iter(())
        self.asked: list[bytes] = []
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _serve(self) -> None:
        while not self._over.is_set():
            with suppress(TimeoutError):
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self.asked.append(connection.recv(1_000_000))
            for piece in self.pieces():
                if self._over.is_set():
                    return
                connection.sendall(piece)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=30)
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def dribbled_head() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nX-Long: "
    while True:
        time.sleep(0.05)
        yield b"a"


def dribbled_body() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: 1000000\r\n\r\n"
    while True:
        time.sleep(0.05)
        yield b" "


def flood() -> Iterator[bytes]:
    yield HEAD + b"\r\n"
    while True:
        yield b" " * 1_000_000


def bomb() -> Iterator[bytes]:
    yield HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed()) + packed()


def large_head() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X-More: " + b"a" * 60_000 + b"\r\n"


def page() -> Iterator[bytes]:
    text = f"<html>{TOKEN}</html>".encode()
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(text) + text


ATTACKS = [dribbled_head, dribbled_body, flood, bomb, large_head, page]


def graphql(url: str) -> None:
    with GraphQLClient(f"{url}/graphql", FixedToken(TOKEN), sleep=lambda _: None) as client:
        client.limit_s = LIMIT_S
        client.query("query { x }", {}, cut_short_repeats=0)


def rest(url: str) -> None:
    with RestClient(
        url, FixedToken(TOKEN), "o/r", backoff_s=0, sleep=lambda _: None, limit_s=LIMIT_S
    ) as client:
        client.read_blob("a" * 40)


def model(url: str) -> None:
    waits = Waits(sleep=lambda _: None, jitter=lambda: 0.0, stall_s=LIMIT_S)
    door = HttpDoor(httpx.URL(f"{url}/v1"), key=TOKEN, headers={"x-api-key": TOKEN}, waits=waits)

    def decipher(status: int, headers: object, body: bytes, *, mask: Callable[[str], str]) -> Refused:
        del headers
        raise CogworksError(mask(f"{status} {body[:100].decode()}"))

    try:
        found = door.post({}, decipher, assembly)
    finally:
        door.close()
    assert isinstance(found, Refused)
    raise found.error


def service(url: str) -> None:
    transport = HttpTransport(url, token=TOKEN)
    try:
        line = transport.exchange("validate", b"{}\n", limit_s=LIMIT_S)
    except (ServiceGone, ServiceSlow) as error:
        raise CogworksError(str(error)) from None
    finally:
        transport.close()
    found = read_response(line, Request(request_id="1", method="validate"))
    assert isinstance(found, Unusable)
    raise CogworksError(found.reason)


@pytest.mark.parametrize(
    ("client", "attack"),
    [(client, attack) for client in (graphql, rest, model, service) for attack in ATTACKS],
)
def test_every_client_ends_with_an_error_of_ours(
    client: Callable[[str], None], attack: Callable[[], Iterator[bytes]], server: Server
) -> None:
    server.pieces = attack
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            client(server.url)
        except CogworksError as error:
            ended.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    # What is not bounded is still there then.
    asking.join(timeout=25)

    assert not asking.is_alive(), "it is still reading"
    assert len(ended) == 1
    assert TOKEN not in str(ended[0])


def test_a_write_whose_answer_never_had_a_whole_head_is_not_taken_for_done(server: Server) -> None:
    server.pieces = dribbled_head

    with (
        RestClient(server.url, FixedToken(TOKEN), "o/r", sleep=lambda _: None, limit_s=LIMIT_S) as client,
        pytest.raises(OutcomeUnknown, match="ReadTimeout"),
    ):
        client.ensure_label("cogworks", "ededed", "")

    assert len(server.asked) == 1


def seeing(server: Server, status: str, **headers: str) -> Callable[[], Iterator[bytes]]:
    def pieces() -> Iterator[bytes]:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
        yield ("\r\n".join([*lines, "Content-Length: 2"]) + "\r\n\r\n{}").encode()

    return pieces


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"]
)
@pytest.mark.parametrize("client", [graphql, rest, model, service])
def test_no_client_takes_its_credential_to_another_server(
    client: Callable[[str], None], status: str, server: Server
) -> None:
    with Server() as thief:
        server.pieces = seeing(server, status, Location=f"{thief.url}/take")

        with pytest.raises(CogworksError):
            client(server.url)

        assert server.asked
        assert thief.asked == []


def test_no_page_of_another_server_is_asked_for(server: Server) -> None:
    with Server() as thief:
        link = f'<{thief.url}/next?page=2>; rel="next"'
        server.pieces = seeing(server, "200 OK", Link=link, **{"Content-Type": "application/json"})

        with RestClient(server.url, FixedToken(TOKEN), "o/r") as client:
            assert client.rules_of(BranchName("main")) == ()

        assert server.asked
        assert thief.asked == []


def test_a_log_is_read_elsewhere_without_the_credential(server: Server) -> None:
    with Server() as storage:
        server.pieces = seeing(server, "302 Found", Location=f"{storage.url}/log")
        storage.pieces = dribbled_head
        logs = JobLogs(server.url, FixedToken(TOKEN), "o/r", meter=Requests(), limit_s=LIMIT_S)

        assert logs.tail(1) == ""

        assert TOKEN.encode() in server.asked[0]
        assert storage.asked
        assert TOKEN.encode() not in storage.asked[0]
