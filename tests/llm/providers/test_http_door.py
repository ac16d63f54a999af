"""What every provider over HTTP has of its door; the rest is shown by the providers' own tests."""

import os
import ssl
from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest

from cogworks.bounded_http import authorities_for
from cogworks.errors import InvalidReply, TryAgainLater
from cogworks.llm.provider import ModelReply, Usage
from cogworks.llm.providers.events import Event
from cogworks.llm.providers.http_door import MAX_ANSWER_BYTES, MAX_EVENT_BYTES, HttpDoor
from cogworks.llm.providers.refusals import Complaint, Mask, Refused, broken_off, refused
from cogworks.llm.waiting import Waits

URL = httpx.URL("https://api.test/v1/ask")


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Nothing:
    """A reply that no stream brings."""

    is_over = False
    said_bytes = 0

    def add(self, event: Event) -> bool:
        return False

    def reply(self) -> ModelReply | Refused:
        return broken_off("nothing came")

    def so_far(self) -> ModelReply | None:
        return None


def door(
    pieces: Callable[[], Iterator[bytes]], clock: Clock | None = None, *, kind: str = "application/json"
) -> HttpDoor:
    headers = {"content-type": kind}
    return HttpDoor(
        URL,
        key="",
        headers={},
        waits=Waits(lambda _: None, float, now=clock or Clock()),
        transport=httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, content=pieces())),
    )


def asked(asking: HttpDoor) -> ModelReply | Refused:
    return asking.post({}, as_text, lambda _: Nothing())


def as_text(
    status: int, headers: Mapping[str, str], body: bytes, *, mask: Callable[[str], str]
) -> ModelReply | Refused:
    return ModelReply(text=f"{len(body)} bytes", stop_reason="end_turn", usage=Usage(), model="m")


def test_an_answer_without_an_end_is_given_up_before_it_fills_the_memory() -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += 1_000_000
            yield b" " * 1_000_000

    found = asked(door(endless))

    assert isinstance(found, Refused)
    assert isinstance(found.error, InvalidReply)
    assert (found.is_retryable, sent) == (False, MAX_ANSWER_BYTES + 1_000_000)


def test_a_byte_now_and_then_keeps_nobody_longer_than_the_whole_reply_may_take() -> None:
    clock = Clock()
    pieces = 0

    def dripping() -> Iterator[bytes]:
        nonlocal pieces
        while True:
            pieces += 1
            clock.now_s += 59.0
            yield b" "

    asking = door(dripping, clock)

    with pytest.raises(TryAgainLater, match="not whole after 300 s") as late:
        asking.patiently(lambda: asked(asking))

    # Asked once only: the reply may well be paid for.
    assert (late.value.is_timeout, pieces) == (True, 6)


def test_an_answer_in_pieces_is_one_answer() -> None:
    found = asked(door(lambda: iter([b"12", b"345"])))

    assert isinstance(found, ModelReply)
    assert found.text == "5 bytes"


def test_a_stream_whose_event_never_ends_is_given_up_before_it_fills_the_memory() -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b"data: "
        while True:
            sent += 1_000_000
            yield b"x" * 1_000_000

    found = asked(door(endless, kind="text/event-stream"))

    assert isinstance(found, Refused)
    assert isinstance(found.error, InvalidReply)
    assert sent <= MAX_EVENT_BYTES + 1_000_000


def test_lines_that_only_keep_a_stream_alive_are_no_part_of_a_reply() -> None:
    clock = Clock()
    pieces = 0

    def alive() -> Iterator[bytes]:
        nonlocal pieces
        while True:
            pieces += 1
            clock.now_s += 59.0
            yield b": still here\n\n"

    found = asked(door(alive, clock, kind="text/event-stream"))

    assert isinstance(found, Refused)
    assert "nothing of the reply came for 300 s" in str(found.error)
    assert (found.is_retryable, pieces) == (False, 6)


def busy_once(waits: list[float], clock: Clock, wait_s: str, *, left_s: float | None = None) -> HttpDoor:
    """A door to a server that asks its first caller for patience."""
    answers = iter([httpx.Response(429, headers={"retry-after": wait_s})])
    return HttpDoor(
        URL,
        key="",
        headers={},
        waits=Waits(waits.append, float, left_s=lambda: left_s, now=clock),
        transport=httpx.MockTransport(lambda _: next(answers, httpx.Response(200, content=b"{}"))),
    )


def as_told(status: int, headers: Mapping[str, str], body: bytes, *, mask: Mask) -> ModelReply | Refused:
    found = as_text(status, headers, body, mask=mask)
    return found if status == 200 else refused(status, headers, Complaint("busy"), mask=mask)


def told_once(asking: HttpDoor) -> ModelReply:
    return asking.patiently(lambda: asking.post({}, as_told, lambda _: Nothing()))


def test_where_a_server_asks_one_caller_for_patience_all_of_them_wait() -> None:
    waits: list[float] = []
    clock = Clock()
    asking = busy_once(waits, clock, "12")

    told_once(asking)
    clock.now_s = 5.0
    told_once(asking)
    clock.now_s = 12.0
    told_once(asking)

    assert waits == [12.0, 7.0]


def test_nobody_begins_a_wait_that_is_longer_than_the_time_there_is() -> None:
    waits: list[float] = []
    asking = busy_once(waits, Clock(), "1801")

    for told in ("more than the 1800 s", "asked to wait 1801 s"):
        with pytest.raises(TryAgainLater, match=told) as later:
            told_once(asking)
        assert later.value.retry_after_s == 1801.0

    assert waits == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_the_usual_authorities_are_asked_wherever_there_may_be_a_certificate(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in [*os.environ]:
        if each.lower().endswith("_proxy"):
            monkeypatch.delenv(each)
    plain = authorities_for(httpx.URL("http://127.0.0.1:8080/v1"))

    assert authorities_for(URL) is True
    assert isinstance(plain, ssl.SSLContext)
    # Nothing is trusted rather than everything: a certificate that comes all the same is refused.
    assert (plain.verify_mode, plain.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert plain.cert_store_stats() == {"x509": 0, "crl": 0, "x509_ca": 0}
    monkeypatch.setenv(name, "https://proxy.test:3128")
    assert authorities_for(httpx.URL("http://127.0.0.1:8080/v1")) is True
