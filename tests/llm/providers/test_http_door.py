"""What every provider over HTTP has of its door; the rest is shown by the providers' own tests."""

from collections.abc import Callable, Iterator, Mapping

import httpx
import pytest

from cogworks.errors import InvalidReply, TryAgainLater
from cogworks.llm.provider import ModelReply, Usage
from cogworks.llm.providers.http_door import MAX_ANSWER_BYTES, HttpDoor
from cogworks.llm.providers.refusals import Refused

URL = httpx.URL("https://api.test/v1/ask")


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def door(pieces: Callable[[], Iterator[bytes]], clock: Clock | None = None) -> HttpDoor:
    return HttpDoor(
        URL,
        key="",
        headers={},
        sleep=lambda _: None,
        jitter=float,
        transport=httpx.MockTransport(lambda _: httpx.Response(200, content=pieces())),
        now=clock or Clock(),
    )


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

    found = door(endless).post({}, as_text)

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

    with pytest.raises(TryAgainLater, match="not whole after 600 s") as late:
        asking.patiently(lambda: asking.post({}, as_text))

    # Asked once only: the reply may well be paid for.
    assert (late.value.is_timeout, pieces) == (True, 11)


def test_an_answer_in_pieces_is_one_answer() -> None:
    found = door(lambda: iter([b"12", b"345"])).post({}, as_text)

    assert isinstance(found, ModelReply)
    assert found.text == "5 bytes"
