"""The proxy of a setup, with real sockets: what goes through, what does not, and what is noted."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from cogworks.services.setup.connecting import Remembered, Way, proxies_of
from cogworks.services.setup.forwarding import Limits, Traffic, proxy_door
from cogworks.services.setup.registries import Host, Registries
from tests.limits import ENDS_WITHIN_S

Answer = Callable[[socket.socket], None]


def echo(connection: socket.socket) -> None:
    while data := connection.recv(4096):
        connection.sendall(data)


def page(connection: socket.socket) -> None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    seen = head.split(b"\r\n")
    body = b"|".join([seen[0], *sorted(line for line in seen[1:] if line)])
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


@contextmanager
def listening(answer: Answer) -> Iterator[int]:
    """A server on this machine: the number of its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(ENDS_WITHIN_S)
                    answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


class Caller:
    """Whoever is in isolation: it has the address of the proxy, and what the proxy noted."""

    def __init__(self, address: tuple[str, int], traffic: Traffic) -> None:
        self.address = address
        self.traffic = traffic

    def opened(self, words: str) -> socket.socket:
        connection = socket.create_connection(self.address, timeout=ENDS_WITHIN_S)
        connection.sendall(words.replace("\n", "\r\n").encode())
        return connection

    def said(self, words: str) -> str:
        with self.opened(words) as connection:
            text = b""
            while data := connection.recv(4096):
                text += data
        return text.decode()


def anywhere(name: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@contextmanager
def behind(
    *hosts: Host,
    resolve: Callable[[str, int], Sequence[str]] = anywhere,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    proxies: dict[str, str] | None = None,
) -> Iterator[Caller]:
    traffic = Traffic(Way(Registries(hosts), resolve, proxies or {}), limits)
    with proxy_door(traffic) as door, socket.create_server(("127.0.0.1", 0)) as listener:
        socket.send_fds(door.theirs, [b"1"], [listener.fileno()])
        yield Caller(listener.getsockname(), traffic)


def named(port: int, name: str = "registry.example.com") -> Host:
    return Host(name, (port,), is_named=True)


def status(connection: socket.socket) -> str:
    """Of an answer without a body."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    return head.split(b"\r\n")[0].decode()


def test_an_encrypted_connection_to_an_allowed_host_is_carried_both_ways() -> None:
    with listening(echo) as port, behind(named(port)) as caller:
        connect = f"CONNECT registry.example.com:{port} HTTP/1.1\nHost: x\n\n"
        with caller.opened(f"{connect}early") as connection:
            assert status(connection) == "HTTP/1.1 200 OK"
            assert connection.recv(5) == b"early"
            connection.sendall(b"late")
            assert connection.recv(4) == b"late"

    assert (caller.traffic.refused, caller.traffic.problems) == ((), ())


def test_a_plain_download_hands_on_no_secret_and_no_body() -> None:
    headers = "Authorization: Basic c2VjcmV0\nCookie: a=b\nUser-Agent: apt\nProxy-Authorization: x\n"
    with listening(page) as port, behind(named(port)) as caller:
        told = caller.said(f"GET http://registry.example.com:{port}/a?b=c HTTP/1.1\n{headers}\n")

    assert "GET /a?b=c HTTP/1.1|Connection: close" in told
    assert "User-Agent: apt" in told
    assert f"Host: registry.example.com:{port}" in told
    assert not any(each in told for each in ("c2VjcmV0", "Cookie", "Proxy-"))


@pytest.mark.parametrize(
    "words",
    [
        "CONNECT example.com:443 HTTP/1.1\n\n",
        "CONNECT 169.254.169.254:80 HTTP/1.1\n\n",
        "GET http://example.com/ HTTP/1.1\n\n",
    ],
)
def test_another_host_is_refused_noted_and_not_resolved(words: str) -> None:
    def nobody(name: str, port: int) -> Sequence[str]:
        raise AssertionError(name)

    with behind(Host("pypi.org"), resolve=nobody) as caller:
        answer = caller.said(words)

    assert answer.startswith("HTTP/1.1 403")
    [refused] = caller.traffic.refused
    assert "COGWORKS_REGISTRY_HOSTS=" in refused
    assert refused in answer


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("CONNECT pypi.org HTTP/1.1\n\n", 400),
        ("CONNECT user@pypi.org:443 HTTP/1.1\n\n", 400),
        ("GET /simple/ HTTP/1.1\n\n", 400),
        ("GET https://pypi.org/ HTTP/1.1\n\n", 400),
        ("GET http://a:b@pypi.org/ HTTP/1.1\n\n", 400),
        ("GET http://pypi.org/ HTTP/1.1\nContent-Length: 3\n\nabc", 400),
        ("GET http://pypi.org/ HTTP/1.1\nTransfer-Encoding: chunked\n\n", 400),
        ("POST http://pypi.org/ HTTP/1.1\nContent-Length: 0\n\n", 501),
        ("PUT http://pypi.org/ HTTP/1.1\nContent-Length: 0\n\n", 501),
        ("OPTIONS * HTTP/1.1\n\n", 501),
    ],
)
def test_anything_else_than_connecting_and_downloading_is_refused(words: str, code: int) -> None:
    with behind(Host("pypi.org", (443, 80))) as caller:
        assert caller.said(words).startswith(f"HTTP/1.1 {code}")


def test_a_name_that_leads_into_a_private_network_is_not_connected_to() -> None:
    with listening(echo) as port, behind(Host("registry.example.com", (port,))) as caller:
        answer = caller.said(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n")

    assert answer.startswith("HTTP/1.1 403")
    assert "127.0.0.1 is an address of a private network" in caller.traffic.refused[0]


def test_a_name_is_resolved_once_and_the_checked_address_is_connected_to() -> None:
    asked = []

    def rebinding(name: str, port: int) -> Sequence[str]:
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    with (
        listening(echo) as port,
        behind(named(port), resolve=rebinding) as caller,
        caller.opened(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n") as connection,
    ):
        assert status(connection).endswith("200 OK")

    assert asked == ["registry.example.com"]


def test_a_registry_that_is_down_or_unknown_is_a_problem_and_no_refusal() -> None:
    def unknown(name: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with behind(named(port)) as caller:
        assert caller.said(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n").startswith("HTTP/1.1 502")
    assert "does not answer" in caller.traffic.problems[0]
    with behind(Host("pypi.org"), resolve=unknown) as caller:
        assert caller.said("CONNECT pypi.org:443 HTTP/1.1\n\n").startswith("HTTP/1.1 502")
    assert "pypi.org:443 cannot be resolved" in caller.traffic.problems[0]
    assert caller.traffic.refused == ()


@pytest.mark.parametrize(
    ("number", "is_hopeless"),
    [(socket.EAI_NONAME, True), (socket.EAI_NODATA, True), (socket.EAI_AGAIN, False)],
)
def test_a_name_that_the_resolver_refuses_will_not_be_known_soon(number: int, is_hopeless: bool) -> None:
    def refusing(name: str, port: int) -> Sequence[str]:
        raise socket.gaierror(number, "no")

    with behind(Host("pypi.org"), resolve=refusing) as caller:
        caller.said("CONNECT pypi.org:443 HTTP/1.1\n\n")

    assert caller.traffic.is_hopeless is is_hopeless


def test_a_connection_where_nothing_happens_ends() -> None:
    with listening(echo) as port, behind(named(port), limits=Limits(idle_s=0.2)) as caller:
        with caller.opened(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n") as connection:
            assert status(connection).endswith("200 OK")
            assert connection.recv(1) == b""
        with caller.opened("CONN") as silent:
            assert silent.recv(1) == b""


def test_a_connection_ends_at_its_time_however_much_it_says() -> None:
    with (
        listening(echo) as port,
        behind(named(port), limits=Limits(connection_s=0.0)) as caller,
        caller.opened(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n") as connection,
    ):
        assert status(connection).endswith("200 OK")
        assert connection.recv(1) == b""


@pytest.mark.parametrize(
    ("limits", "said"),
    [(Limits(received_bytes=1000), "more than 0 MiB"), (Limits(sent_bytes=1000), "sending more than 0 MiB")],
    ids=["received", "sent"],
)
def test_too_much_ends_the_connection_and_is_noted(limits: Limits, said: str) -> None:
    with (
        listening(echo) as port,
        behind(named(port), limits=limits) as caller,
        caller.opened(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n") as connection,
    ):
        assert status(connection).endswith("200 OK")
        connection.sendall(b"x" * 2000)
        received = 0
        while data := connection.recv(4096):
            received += len(data)

    assert received < 2000
    assert caller.traffic.refused == (said,)


def test_more_connections_than_there_is_room_for_are_refused_and_the_room_is_given_back() -> None:
    with listening(echo) as port, behind(named(port), limits=Limits(connections=1)) as caller:
        connect = f"CONNECT registry.example.com:{port} HTTP/1.1\n\n"
        with caller.opened(connect) as connection:
            assert status(connection).endswith("200 OK")
            assert caller.said(connect).startswith("HTTP/1.1 503")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
        while caller.said(connect.replace("CONNECT", "NONE")).startswith("HTTP/1.1 503"):
            raise AssertionError
        with caller.opened(connect) as again:
            assert status(again)


def test_only_the_first_refusals_are_kept() -> None:
    traffic = Traffic(Way(Registries(), anywhere))
    for number in range(100):
        traffic.refuse(f"{number} {'x' * 1000}")

    assert len(traffic.refused) == 20
    assert all(len(each) <= 400 for each in traffic.refused)


def test_the_proxy_of_this_machine_is_asked_where_there_is_one() -> None:
    seen = []

    def upstream(connection: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        seen.append(head.decode())
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        echo(connection)

    with listening(upstream) as port:
        proxies = proxies_of(
            {"HTTPS_PROXY": f"http://me:secret@127.0.0.1:{port}", "NO_PROXY": ".example.org"}
        )
        with behind(Host("pypi.org"), proxies=proxies) as caller:
            with caller.opened("CONNECT pypi.org:443 HTTP/1.1\n\nhello") as connection:
                assert status(connection).endswith("200 OK")
                assert connection.recv(5) == b"hello"
            assert caller.said("CONNECT example.com:443 HTTP/1.1\n\n").startswith("HTTP/1.1 403")

    assert len(seen) == 1
    assert seen[0].startswith("CONNECT pypi.org:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic bWU6c2VjcmV0" in seen[0]


@pytest.mark.parametrize("said", [b"HTTP/1.1 407 Who are you\r\n\r\n", b"nothing\r\n\r\n", b""])
def test_a_proxy_of_this_machine_that_leads_nowhere_is_a_problem(said: bytes) -> None:
    with (
        listening(lambda connection: connection.sendall(said)) as port,
        behind(Host("pypi.org"), proxies={"https": f"http://127.0.0.1:{port}"}) as caller,
    ):
        assert caller.said("CONNECT pypi.org:443 HTTP/1.1\n\n").startswith("HTTP/1.1 502")

    assert "the proxy of this machine" in caller.traffic.problems[0]


def test_hosts_that_need_no_proxy_are_reached_without() -> None:
    proxies = proxies_of({"https_proxy": "http://127.0.0.1:1", "no_proxy": "localhost, .example.com"})
    with (
        listening(echo) as port,
        behind(named(port), proxies={**proxies, "http": "http://127.0.0.1:1"}) as caller,
        caller.opened(f"CONNECT registry.example.com:{port} HTTP/1.1\n\n") as connection,
    ):
        assert status(connection).endswith("200 OK")


def test_those_who_want_a_name_at_the_same_time_ask_the_resolver_once() -> None:
    asked: list[str] = []
    everybody = threading.Barrier(8)

    def slow(name: str, _: int) -> Sequence[str]:
        asked.append(name)
        # Time for the others to ask as well.
        threading.Event().wait(0.1)
        return ["192.0.2.1"]

    remembered = Remembered(slow)
    found: list[Sequence[str]] = []

    def ask() -> None:
        everybody.wait(ENDS_WITHIN_S)
        found.append(remembered("pypi.org", 443))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(ENDS_WITHIN_S)

    assert (asked, found) == (["pypi.org"], [["192.0.2.1"]] * 8)
    assert list(remembered("files.pythonhosted.org", 443)) == ["192.0.2.1"]
    assert asked == ["pypi.org", "files.pythonhosted.org"]


def test_addresses_and_failures_are_asked_for_anew_once_their_time_is_over() -> None:
    answers: list[Sequence[str] | OSError] = [socket.gaierror(socket.EAI_AGAIN, "later"), ["192.0.2.1"], ["192.0.2.2"]]  # fmt: skip

    def changing(_: str, __: int) -> Sequence[str]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    remembered = Remembered(changing, lasts_s=0.0, failure_lasts_s=0.0)
    with pytest.raises(socket.gaierror, match="later"):
        remembered("pypi.org", 443)
    assert remembered("pypi.org", 443) == ["192.0.2.1"]
    assert remembered("pypi.org", 443) == ["192.0.2.2"]


def test_a_failure_is_shared_by_those_who_come_right_after_it() -> None:
    asked: list[str] = []

    def failing(name: str, _: int) -> Sequence[str]:
        asked.append(name)
        raise socket.gaierror(socket.EAI_AGAIN, "later")

    remembered = Remembered(failing, failure_lasts_s=ENDS_WITHIN_S)
    for _ in range(3):
        with pytest.raises(socket.gaierror, match="later"):
            remembered("pypi.org", 443)

    assert asked == ["pypi.org"]
