"""What every provider over HTTP makes of everything a server can answer: real requests to a server of this machine."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from cogworks.errors import (
    BudgetReached,
    CogworksError,
    ConfigurationError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
)
from cogworks.llm.provider import BrokenReply, ModelReply
from tests.asked import MODEL, question
from tests.cloud_wires import EVERY_WIRE
from tests.limits import ENDS_WITHIN_S
from tests.model_server import Answer, ModelServer, Says, Seen
from tests.wires import USAGE, Wire

TEXT = '{"k": "k test k", "größe": 1}'
BRIEFLY_S = 0.2


@dataclass(frozen=True)
class Row:
    """A conversation with a server, and what comes of it."""

    name: str
    answers: Callable[[Wire], Sequence[Says]]
    comes_to: type[CogworksError] | str
    """An error, or the stop reason of a reply."""
    says: str = ""
    """The text of the reply, or a part of the error's."""
    waits: tuple[float, ...] = ()
    is_paid: bool = False
    """Whether the error comes with a part of a reply that is paid for."""


def refused(
    status: int, text: str = "went wrong", *, times: int = 1, code: str = "", **headers: str
) -> Callable[[Wire], list[Says]]:
    def answers(wire: Wire) -> list[Says]:
        failure = wire.failure(status, text, code)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = Answer(status, failure.body, {**failure.headers, **named})
        return [answer for _ in range(times * _apis(wire, status))]

    return answers


def _apis(wire: Wire, status: int) -> int:
    return 2 if status in wire.asked_twice else 1


def then_text(answers: Callable[[Wire], list[Says]]) -> Callable[[Wire], list[Says]]:
    return lambda wire: [*answers(wire), whole(wire)]


def whole(wire: Wire) -> Answer:
    return wire.stream(wire.events(TEXT, usage=USAGE))


def body(content: bytes, kind: str = "application/json", **headers: str) -> Callable[[Wire], list[Says]]:
    return lambda _: [Answer(200, content, {"content-type": kind, **headers})]


def slow(wire: Wire) -> list[Says]:
    def pieces() -> Iterator[bytes]:
        time.sleep(BRIEFLY_S)
        yield from wire.events(TEXT, usage=USAGE)

    return [Answer(200, b"", {"content-type": wire.stream_type}, pieces=pieces)]


def alive(wire: Wire) -> list[Says]:
    return [
        wire.stream([part for each in wire.events(TEXT, usage=USAGE) for part in (wire.keep_alive, each)])
    ]


def packed(wire: Wire) -> list[Says]:
    answer = wire.whole(TEXT, usage=USAGE)
    return [Answer(200, gzip.compress(answer.body), {**answer.headers, "content-encoding": "gzip"})]


def packed_stream(wire: Wire) -> list[Says]:
    answer = wire.stream([gzip.compress(b"".join(wire.events(TEXT, usage=USAGE)))])
    return [Answer(200, b"", {**answer.headers, "content-encoding": "gzip"}, pieces=answer.pieces)]


def badly_packed(wire: Wire) -> list[Says]:
    answer = wire.whole(TEXT, usage=USAGE)
    return [Answer(200, answer.body, {**answer.headers, "content-encoding": "gzip"})] * 5


BACKED_OFF = (0.5, 1.0, 2.0, 4.0)
TABLE = (
    Row("400", refused(400), NodeFailed, "answered 400"),
    Row("401", refused(401), PermissionRefused, "Check the "),
    Row("402", refused(402), BudgetReached, "spend limit"),
    Row("403", refused(403), PermissionRefused, "answered 403"),
    Row("404", refused(404), ConfigurationError, "check `model`"),
    Row("408", refused(408, times=5), TryAgainLater, "answered 408", BACKED_OFF),
    Row("413", refused(413), NodeFailed, "The prompt is too long"),
    Row("422", refused(422), NodeFailed, "answered 422"),
    Row("429 with a header", then_text(refused(429, retry_after="12")), "end_turn", TEXT, (12.0,)),
    Row("429 with a header in milliseconds", then_text(refused(429, retry_after_ms="250")), "end_turn", TEXT, (0.25,)),
    Row("429 without a header", refused(429, times=5), TryAgainLater, "answered 429", BACKED_OFF),
    Row("429 with too long a wait", refused(429, retry_after="1801"), TryAgainLater, "more than the 1800 s"),
    Row("429 that says not to retry", refused(429, x_should_retry="false"), TryAgainLater, "answered 429"),
    Row("spend limit in words", refused(400, "You have reached your specified API usage limits."), BudgetReached),
    Row("spend limit by code", refused(429, code="insufficient_quota", retry_after="1"), BudgetReached),
    Row("spend limit of the tier", refused(429, code="enforced_spend_limit_reached"), BudgetReached),
    Row("500", refused(500, times=5), TryAgainLater, "answered 500", BACKED_OFF),
    Row("500 once", then_text(refused(500)), "end_turn", TEXT, (0.5,)),
    Row("503", refused(503, times=5), TryAgainLater, "answered 503", BACKED_OFF),
    Row("529", refused(529, times=5), TryAgainLater, "answered 529", BACKED_OFF),
    Row("page of a proxy", lambda _: [Answer(502, b"<h1>Bad Gateway</h1>")] * 5, TryAgainLater, "Bad Gateway", BACKED_OFF),
    Row("hang-up before the reply", lambda wire: [None, whole(wire)], "end_turn", TEXT, (0.5,)),
    Row("cut stream", lambda wire: [wire.stream(wire.events(TEXT, usage=USAGE)[:7], is_cut=True)], TryAgainLater, "peer closed", is_paid=True),
    Row("stream without its end", lambda wire: [wire.stream(wire.events(TEXT, usage=USAGE)[:7])], TryAgainLater, "broke off", is_paid=True),
    Row("stream cut before the reply", lambda wire: [wire.stream([wire.keep_alive], is_cut=True), whole(wire)], "end_turn", TEXT, (0.5,)),
    Row("empty stream", lambda wire: [wire.stream([]), whole(wire)], "end_turn", TEXT, (0.5,)),
    Row("error in a stream", lambda wire: [wire.stream([*wire.events(TEXT, usage=USAGE)[:7], wire.error(529, "busy")])], TryAgainLater, "answered 5", is_paid=True),
    Row("error that opens a stream", lambda wire: [wire.stream([wire.error(529, "busy")]), whole(wire)], "end_turn", TEXT, (0.5,)),
    Row("final error in a stream", lambda wire: [wire.stream([*wire.events(TEXT, usage=USAGE)[:7], wire.error(400, "no")])], NodeFailed, "answered 400", is_paid=True),
    Row("invalid JSON", body(b'{"half'), InvalidReply, "Check `COGWORKS_LLM_BASE_URL`"),
    Row("no JSON", body(b"<html>hello</html>", "text/html"), InvalidReply, "Check `COGWORKS_LLM_BASE_URL`"),
    Row("nothing", body(b""), InvalidReply, "Check `COGWORKS_LLM_BASE_URL`"),
    Row("no UTF-8", body(b"\xff"), InvalidReply, "Check `COGWORKS_LLM_BASE_URL`"),
    Row("JSON of the wrong shape", body(b'{"content": "hi", "choices": {}}'), InvalidReply, "Check `COGWORKS_LLM_BASE_URL`"),
    Row("JSON that is a list", body(b"[]"), InvalidReply, "Check `COGWORKS_LLM_BASE_URL`"),
    Row("event of the wrong shape", lambda wire: [wire.stream([*wire.events(TEXT, usage=USAGE)[:7], wire.strange])], InvalidReply, "Check `COGWORKS_LLM_BASE_URL`", is_paid=True),
    Row("reply", lambda wire: [whole(wire)], "end_turn", TEXT),
    Row("reply without a stream", lambda wire: [wire.whole(TEXT, usage=USAGE)], "end_turn", TEXT),
    Row("refusal", lambda wire: [wire.stream(wire.events("I would rather not.", stop_reason="refusal", usage=USAGE))], "refusal", "I would rather not."),
    Row("length reached", lambda wire: [wire.stream(wire.events('{"a', stop_reason="max_tokens", usage=USAGE))], "max_tokens", '{"a'),
    Row("tool call instead of text", lambda wire: [wire.stream(wire.tool_call())], "a tool", ""),
    Row("reasoning before text", lambda wire: [wire.stream(wire.events(TEXT, thinking="k" * 500, usage=USAGE))], "end_turn", TEXT),
    Row("keep-alive lines", alive, "end_turn", TEXT),
    Row("slow first token", slow, "end_turn", TEXT),
    Row("gzip", packed, "end_turn", TEXT),
    Row("stream in gzip", packed_stream, "end_turn", TEXT),
    Row("gzip that is none", badly_packed, TryAgainLater, "DecodingError", BACKED_OFF),
    Row("redirect", refused(307, location="https://elsewhere.test/"), ConfigurationError, "'https://elsewhere.test/'"),
    Row("redirect for good", refused(301, location="/v2?key=k"), ConfigurationError, "name the final address"),
)  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize("wire", EVERY_WIRE.values(), ids=list(EVERY_WIRE))
def test_every_answer_of_a_server_comes_to_what_it_means(wire: Wire, row: Row) -> None:
    waits: list[float] = []
    with ModelServer() as server:
        answers = list(row.answers(wire))
        server.answers(*answers)
        # The key is one letter, which stands in every text.
        asking = wire.asking(server.url, waits=waits, stall_s=ENDS_WITHIN_S, key="k")
        found = told(lambda: asking.complete(question()))

    if isinstance(found, ModelReply):
        stop_reason = "a tool" if found.stop_reason == wire.tool_reason else found.stop_reason
        assert (stop_reason, found.text, found.model) == (row.comes_to, row.says, MODEL)
        assert found.usage.output_tokens > 0
    else:
        error = found.error if isinstance(found, BrokenReply) else found
        assert type(error) is row.comes_to
        assert row.says in str(error)
        assert isinstance(found, BrokenReply) == row.is_paid
        assert not getattr(error, "is_timeout", False)
        assert "Bearer k" not in str(error)
    if isinstance(found, BrokenReply):
        assert found.partial.usage.total_input == wire.read.total_input
        assert found.partial.usage.output_tokens > 0
    assert tuple(waits) == row.waits
    assert len(server.seen) == len(answers)
    asked = {(seen.path, json.dumps(seen.body, sort_keys=True)) for seen in server.seen}
    assert len(asked) == len({seen.path for seen in server.seen})


@pytest.mark.parametrize("wire", EVERY_WIRE.values(), ids=list(EVERY_WIRE))
def test_a_time_out_before_the_reply_is_one_and_nothing_is_paid(wire: Wire) -> None:
    silence = silent(wire, after=0, stall_s=BRIEFLY_S)

    assert isinstance(silence.found, TryAgainLater)
    assert silence.found.is_timeout
    assert "gave no answer in time: nothing came for" in str(silence.found)
    assert silence.asked == 1


@pytest.mark.parametrize("wire", EVERY_WIRE.values(), ids=list(EVERY_WIRE))
def test_a_time_out_within_the_reply_is_one_and_what_came_is_paid(wire: Wire) -> None:
    # A busy machine may not bring the beginning in so short a time: then the silence was not within the reply.
    silences = (silent(wire, after=7, stall_s=stall_s) for stall_s in (BRIEFLY_S, 1.0, 5.0, 25.0))
    silence = next(each for each in silences if each.heard)

    assert isinstance(silence.found, BrokenReply)
    assert isinstance(silence.found.error, TryAgainLater)
    assert silence.found.error.is_timeout
    assert "gave no answer in time: nothing " in str(silence.found.error)
    assert silence.found.partial.usage.total_input == wire.read.total_input
    assert silence.found.partial.usage.output_tokens > 0
    assert silence.asked == 1


class Silence(NamedTuple):
    """What comes of a server that says no more."""

    found: ModelReply | CogworksError
    heard: Sequence[int]
    asked: int


def silent(wire: Wire, *, after: int, stall_s: float) -> Silence:
    """Ask a server that sends so many events at once, and nothing more for as long as anybody waits."""
    heard: list[int] = []
    is_given_up = threading.Event()

    def pieces() -> Iterator[bytes]:
        if after:
            yield b"".join(wire.events(TEXT, usage=USAGE)[:after])
        is_given_up.wait(ENDS_WITHIN_S)

    def answer(_: Seen) -> Answer:
        if not after:
            is_given_up.wait(ENDS_WITHIN_S)
        return Answer(200, b"", {"content-type": wire.stream_type}, pieces=pieces)

    with ModelServer() as server:
        server.answers(answer)
        asking = wire.asking(server.url, heard=heard.append, stall_s=stall_s, key="k")
        found = told(lambda: asking.complete(question()))
        is_given_up.set()
    return Silence(found, heard, len(server.seen))


def told(ask: Callable[[], ModelReply]) -> ModelReply | CogworksError:
    try:
        return ask()
    except CogworksError as error:
        return error
