"""Replies that come in events, over real HTTP from this machine: whole ones, and those that break off."""

import gzip
from collections.abc import Callable, Iterator, Sequence

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.errors import (
    BudgetReached,
    CogworksError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
)
from cogworks.llm.budget import Budget, shipped_prices, upper_bound
from cogworks.llm.gateway import STREAM_TRIES, Gateway, ModelSettings, ReplyRecord
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.provider import BROKEN_OFF, BrokenReply, ModelReply, Provider, Usage
from cogworks.llm.providers.anthropic import decipher, request_body
from cogworks.llm.providers.http_door import HttpDoor
from cogworks.llm.providers.refusals import Refused
from cogworks.llm.waiting import Waits
from tests.asked import MODEL, question
from tests.exhaustive import examples
from tests.fakes import ScriptedModel
from tests.llm.test_gateway import QUESTION, Number
from tests.model_server import Answer, ModelServer
from tests.model_streams import (
    chunk,
    completion_chunks,
    delta,
    event,
    message_events,
    response_events,
    streamed,
)
from tests.wires import USAGE, WIRES, Wire

TEXT = '{"value": 7, "größe": "weiß"}'
NOISE = [
    *message_events('{"value": 7}'),
    *completion_chunks('{"value": 7}'),
    *response_events('{"value": 7}'),
    delta(content=None, tool_calls=[{"id": 1}]),
    chunk(error="no"),
    b"data: [DONE]\n\n",
    event("content_block_delta", index=-1, delta={}),
    event("message_stop"),
    event("message_start", message={"model": "m", "usage": {"input_tokens": -1}}),
]


def heard_by(
    wire: Wire, pieces: Callable[[], Iterator[bytes]], clock: Sequence[float], *, left_s: float | None = None
) -> ModelReply | Refused:
    """What a door makes of a stream whose seconds pass as the test says."""
    answer = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces())
    )
    waits = Waits(print, float, left_s=lambda: left_s, now=lambda: clock[0])
    door = HttpDoor(httpx.URL("https://api.test"), key="", headers={}, waits=waits, transport=answer)
    return door.post({}, decipher, wire.assembly)


def gateway(provider: Provider, records: list[ReplyRecord], *, budget: Budget | None = None) -> Gateway:
    return Gateway(
        provider,
        shipped_prompts(QUESTION),
        ModelSettings(model=MODEL, max_output_tokens=100),
        prices=shipped_prices(),
        budget=budget or Budget(),
        on_reply=records.append,
    )


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def broken(
    wire: Wire, server: ModelServer, *answers: Answer, waits: list[float] | None = None
) -> BrokenReply:
    server.answers(*answers)
    with pytest.raises(BrokenReply) as found:
        wire.asking(server.url, waits=[] if waits is None else waits).complete(question())
    return found.value


@pytest.mark.parametrize("stop_reason", ["end_turn", "max_tokens", "refusal", "other"])
@pytest.mark.parametrize("text", [TEXT, ""], ids=["text", "empty"])
def test_a_stream_is_the_reply_that_would_have_come_without_one(
    wire: Wire, server: ModelServer, text: str, stop_reason: str
) -> None:
    server.answers(
        streamed(wire.events(text, usage=USAGE, stop_reason=stop_reason)),
        wire.whole(text, usage=USAGE, stop_reason=stop_reason),
    )
    asking = wire.asking(server.url, waits=[])

    in_events, at_once = asking.complete(question()), asking.complete(question())

    assert in_events == at_once
    assert in_events.text == text
    assert in_events.usage == wire.usage
    assert [seen.body["stream"] for seen in server.seen] == [True, True]


def test_whoever_waits_is_told_how_much_has_come(wire: Wire, server: ModelServer) -> None:
    heard: list[int] = []
    server.answers(streamed(wire.events(TEXT, thinking="hm")))

    wire.asking(server.url, waits=[], heard=heard.append).complete(question())

    assert heard == sorted(heard)
    assert heard[-1] == len(f"hm{TEXT}".encode())


@pytest.mark.parametrize("is_cut", [True, False], ids=["cut", "without-its-end"])
def test_a_stream_that_ends_early_is_counted_as_far_as_it_came(
    wire: Wire, server: ModelServer, is_cut: bool
) -> None:
    events = wire.events(TEXT, usage=USAGE)
    waits: list[float] = []
    # Six events behind the opening: thinking and some of the text, no stop reason.
    error = broken(wire, server, streamed(events[:8], is_cut=is_cut), waits=waits)

    assert isinstance(error.error, TryAgainLater)
    assert error.is_retryable
    assert error.partial.stop_reason == BROKEN_OFF
    assert TEXT.startswith(error.partial.text)
    assert error.partial.text
    said = len(f"hm{error.partial.text}".encode())
    assert error.partial.usage == wire.read.model_copy(update={"output_tokens": -(-said // 3)})
    assert waits == []


def test_wherever_a_stream_breaks_off_its_reply_is_never_taken_for_whole(
    wire: Wire, server: ModelServer
) -> None:
    events = wire.events(TEXT, usage=USAGE)
    ends = [
        place
        for place, each in enumerate(events)
        if b'finish_reason": "' in each or b"message_stop" in each or b"response.completed" in each
    ]
    for length in range(wire.opening + 1, ends[0] + 1, 3):
        assert broken(wire, server, streamed(events[:length])).partial.usage.total_input > 0


def test_a_stream_that_ends_before_a_reply_begins_is_asked_again_like_a_connection_that_breaks(
    wire: Wire, server: ModelServer
) -> None:
    waits: list[float] = []
    opening = streamed(wire.events(TEXT)[: wire.opening], is_cut=True)
    server.answers(opening, streamed([b": hello\n\n"]), streamed(wire.events(TEXT)))

    assert wire.asking(server.url, waits=waits).complete(question()).text == TEXT
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize(
    ("status", "error", "is_retryable"),
    [(529, TryAgainLater, True), (400, NodeFailed, False), (401, PermissionRefused, False)],
)
def test_an_error_inside_of_a_stream_is_the_one_it_would_be_as_an_answer(
    wire: Wire, server: ModelServer, status: int, error: type[CogworksError], is_retryable: bool
) -> None:
    said = wire.error(status, "what went wrong, Bearer k")

    found = broken(wire, server, streamed([*wire.events(TEXT)[:6], said]))
    server.answers(*[streamed([said])] * 5)
    with pytest.raises(error) as at_once:
        wire.asking(server.url, waits=[]).complete(question())

    assert (type(found.error), found.is_retryable) == (error, is_retryable)
    assert f"answered {wire.busy if is_retryable else status}" in str(found.error)
    assert "what went wrong, Bearer ***" in str(found.error)
    assert str(at_once.value) == str(found.error)
    # Before a reply begins, the rule for answers holds.
    assert len(server.seen) == 1 + (5 if is_retryable else 1)


@pytest.mark.parametrize("said", [b"data: {\n\n", b"data: []\n\n", b"data: \xff\n\n", b"data: <html>\n\n"])
def test_an_event_that_cannot_be_read_is_no_reply_and_counted(
    wire: Wire, server: ModelServer, said: bytes
) -> None:
    found = broken(wire, server, streamed([*wire.events(TEXT)[:6], said]))

    assert isinstance(found.error, InvalidReply)
    assert not found.is_retryable
    assert "Check `COGWORKS_LLM_BASE_URL`" in str(found.error)


def test_counts_that_no_provider_may_report_are_no_reply(wire: Wire, server: ModelServer) -> None:
    usage = Usage(input_tokens=1, output_tokens=10**12)

    assert isinstance(broken(wire, server, streamed(wire.events(TEXT, usage=usage))).error, InvalidReply)


@pytest.mark.parametrize("alive", [b": keep-alive\n\n", b"\n", b": x\r\n"])
def test_lines_that_keep_a_connection_alive_say_nothing(
    wire: Wire, server: ModelServer, alive: bytes
) -> None:
    server.answers(streamed([part for each in wire.events(TEXT) for part in (each, alive)]))

    assert wire.asking(server.url, waits=[]).complete(question()).text == TEXT


def test_a_packed_stream_is_unpacked(wire: Wire, server: ModelServer) -> None:
    packed = streamed([gzip.compress(b"".join(wire.events(TEXT)))])
    packed.headers["content-encoding"] = "gzip"
    server.answers(packed)

    assert wire.asking(server.url, waits=[]).complete(question()).text == TEXT


@pytest.mark.parametrize(("first_s", "is_late"), [(299.0, False), (301.0, True)])
def test_a_slow_first_part_is_waited_for_as_long_as_any_other(
    wire: Wire, first_s: float, is_late: bool
) -> None:
    clock = [0.0]

    def slow() -> Iterator[bytes]:
        clock[0] += first_s
        # Whatever is no part of a reply does not begin the wait anew.
        yield b": keep-alive\n\n"
        for place, each in enumerate(wire.events(TEXT)):
            yield each
            clock[0] += 299.0 * (place >= wire.opening)

    found = heard_by(wire, slow, clock)

    if is_late:
        assert isinstance(found, Refused)
        assert "nothing of the reply came for 300 s" in str(found.error)
        assert (found.is_retryable, found.partial) == (False, None)
    else:
        assert isinstance(found, ModelReply)
        assert found.text == TEXT


def test_a_stream_that_stalls_after_it_began_is_counted_and_not_asked_again(wire: Wire) -> None:
    clock = [0.0]

    def stalling() -> Iterator[bytes]:
        yield from wire.events(TEXT)[:6]
        while True:
            clock[0] += 100.0
            yield b": keep-alive\n\n"

    found = heard_by(wire, stalling, clock)

    assert isinstance(found, Refused)
    assert "nothing of the reply came for 300 s" in str(found.error)
    assert isinstance(found.error, TryAgainLater)
    assert (found.is_retryable, found.error.is_timeout) == (False, True)
    assert found.partial is not None
    assert found.partial.usage.total_input > 0


def test_a_stream_ends_with_the_time_of_whoever_asks(wire: Wire) -> None:
    clock = [0.0]

    def steady() -> Iterator[bytes]:
        for each in wire.events(TEXT):
            clock[0] += 10.0
            yield each

    found = heard_by(wire, steady, clock, left_s=70.0)

    assert isinstance(found, Refused)
    assert "the answer was not whole after 70 s" in str(found.error)
    assert found.partial is not None


def test_a_reply_that_broke_off_is_paid_for_and_asked_again_within_the_budget(
    wire: Wire, server: ModelServer
) -> None:
    events = wire.events('{"value": 7}', usage=USAGE)
    server.answers(streamed(events[:7], is_cut=True), streamed(events))
    records: list[ReplyRecord] = []
    asking = gateway(wire.asking(server.url, waits=[]), records)

    assert asking.ask("number", {"most": 10}, Number, purpose="intake-1") == Number(value=7)

    first, second = (record.reply for record in records)
    assert (first.stop_reason, second.stop_reason) == (BROKEN_OFF, "end_turn")
    assert second.usage == wire.usage
    assert asking.meter.calls == 2
    assert asking.budget.spent_tokens == sum(
        each.usage.total_input + each.usage.output_tokens for each in (first, second)
    )
    assert asking.budget.spent_usd == sum(record.cost_usd for record in records)
    assert asking.budget.reserved_tokens == 0


@pytest.mark.parametrize(("status", "times"), [(529, STREAM_TRIES), (400, 1)], ids=["busy", "final"])
def test_a_reply_that_breaks_off_again_and_again_ends_with_its_error(
    wire: Wire, server: ModelServer, status: int, times: int
) -> None:
    answer = streamed([*wire.events('{"value": 7}', usage=USAGE)[:7], wire.error(status, "no")])
    server.answers(*[answer] * times)
    records: list[ReplyRecord] = []

    with pytest.raises(
        TryAgainLater if times > 1 else NodeFailed, match=f"answered {wire.busy if times > 1 else status}"
    ):
        gateway(wire.asking(server.url, waits=[]), records).ask("number", {"most": 1}, Number, purpose="p")

    assert len(server.seen) == len(records) == times


def test_a_broken_reply_that_used_the_budget_up_is_not_asked_again(wire: Wire, server: ModelServer) -> None:
    model = ScriptedModel('{"value": 7}')
    gateway(model, []).ask("number", {"most": 1}, Number, purpose="p")
    need = upper_bound(model.requests[0])
    server.answers(streamed(wire.events('{"value": 7}', usage=USAGE)[:7], is_cut=True))
    once = Budget(limit_tokens=need.total_input + need.output_tokens)

    with pytest.raises(BudgetReached):
        gateway(wire.asking(server.url, waits=[]), [], budget=once).ask(
            "number", {"most": 1}, Number, purpose="p"
        )

    # Where a provider counts tokens, it is asked once whether the estimate was too high.
    assert [seen.path for seen in server.seen if "count_tokens" not in seen.path] == [server.seen[0].path]


@pytest.mark.slow
def test_the_vendor_s_own_client_reads_the_events_of_these_tests(server: ModelServer) -> None:
    import anthropic

    server.answers(streamed(message_events(TEXT, usage=USAGE)))
    body = request_body(question())

    with anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as vendor:
        events = list(vendor.messages.create(**body))

    said = [
        each.delta.text
        for each in events
        if each.type == "content_block_delta" and each.delta.type == "text_delta"
    ]
    assert "".join(said) == TEXT
    assert events[-1].type == "message_stop"


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(st.sampled_from(NOISE) | st.binary(max_size=30), max_size=12), st.sampled_from(sorted(WIRES)))
def test_no_stream_whatever_makes_the_reading_fail(pieces: list[bytes], name: str) -> None:
    found = heard_by(WIRES[name], lambda: iter(pieces), [0.0])

    assert isinstance(found, ModelReply | Refused)
