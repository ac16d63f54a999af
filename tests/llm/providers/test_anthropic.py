import inspect
import json
from collections.abc import Callable, Iterator

import httpx
import pytest
import respx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cogworks.errors import (
    BudgetReached,
    CogworksError,
    ConfigurationError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
)
from cogworks.leaving import HIDDEN, UNMISTAKABLE_CHARS
from cogworks.llm.provider import ModelReply, Usage
from cogworks.llm.providers.anthropic import AnthropicProvider
from tests.asked import question
from tests.model_server import ModelServer, failed, replied

KEY = "sk-ant-secret-0123456789"
REQUEST = question()
REPLY = ModelReply(
    text='{"a":1}',
    stop_reason="end_turn",
    usage=Usage(input_tokens=3, output_tokens=5),
    model="claude-sonnet-5-5",
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """The seconds that a provider of this test has waited, one entry a wait."""
    return []


def provider(
    waits: list[float],
    *,
    base_url: str = "https://api.test",
    jitter: float = 0.0,
    transport: httpx.BaseTransport | None = None,
) -> AnthropicProvider:
    return AnthropicProvider(
        KEY, sleep=waits.append, jitter=lambda: jitter, base_url=base_url, transport=transport
    )


def at(url: str, answer: Callable[[httpx.Request], httpx.Response]) -> httpx.MockTransport:
    """A server with one endpoint, which takes posts and nothing else."""
    router = respx.MockRouter()
    router.post(url).mock(side_effect=answer)
    return httpx.MockTransport(router.handler)


def answering(
    waits: list[float], answer: Callable[[httpx.Request], httpx.Response], jitter: float = 0.0
) -> AnthropicProvider:
    return provider(waits, transport=at("https://api.test/v1/messages", answer), jitter=jitter)


def test_a_question_is_one_post_over_real_http(server: ModelServer, waits: list[float]) -> None:
    server.answers(replied('{"a":1}'))

    with provider(waits, base_url=f"{server.url}/proxy/") as asking:
        found = asking.complete(REQUEST)

    assert found == REPLY
    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/proxy/v1/messages")
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["anthropic-version"] == "2026-10-21"
    assert seen.headers["content-type"] == "application/json"
    assert seen.body["messages"] == [{"role": "user", "content": "Hallo, Ö!"}]
    assert seen.body["stream"] is True
    assert waits == []


def test_a_busy_server_is_asked_again_after_longer_and_longer_waits(
    server: ModelServer, waits: list[float]
) -> None:
    server.answers(failed(529, "overloaded_error"), failed(500, "api_error"), failed(503), replied('{"a":1}'))

    with provider(waits, base_url=server.url, jitter=1.0) as asking:
        found = asking.complete(REQUEST)

    assert found == REPLY
    assert waits == [0.375, 0.75, 1.5]
    assert len({json.dumps(seen.body, sort_keys=True) for seen in server.seen}) == 1


def test_the_wait_that_the_server_asks_for_is_obeyed(server: ModelServer, waits: list[float]) -> None:
    server.answers(
        failed(429, "rate_limit_error", **{"retry-after": "12"}),
        failed(429, "rate_limit_error", **{"retry-after": "12", "retry-after-ms": "1500"}),
        replied('{"a":1}'),
    )

    with provider(waits, base_url=server.url, jitter=1.0) as asking:
        asking.complete(REQUEST)

    assert waits == [12.0, 1.5]


def test_five_attempts_are_the_end(server: ModelServer, waits: list[float]) -> None:
    server.answers(*[failed(503)] * 5)

    with provider(waits, base_url=server.url) as asking, pytest.raises(TryAgainLater, match="answered 503"):
        asking.complete(REQUEST)

    assert (len(server.seen), waits) == (5, [0.5, 1.0, 2.0, 4.0])


def test_a_server_that_hangs_up_is_asked_again(server: ModelServer, waits: list[float]) -> None:
    server.answers(None, replied('{"a":1}'))

    with provider(waits, base_url=server.url) as asking:
        assert asking.complete(REQUEST) == REPLY

    assert len(server.seen) == 2


def test_a_server_that_is_not_there_is_a_reason_to_try_later(waits: list[float]) -> None:
    with ModelServer() as gone:
        url = gone.url

    with provider(waits, base_url=url) as asking, pytest.raises(TryAgainLater, match="ConnectError"):
        asking.complete(REQUEST)

    assert waits == [0.5, 1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("asked_for", "waited"),
    [(["1801"], []), (["1000", "800", "1"], [1000.0, 800.0])],
    ids=["at-once", "in-sum"],
)
def test_a_wait_of_more_than_half_an_hour_stops_the_step(
    waits: list[float], asked_for: list[str], waited: list[float]
) -> None:
    said = iter(asked_for)
    asking = answering(waits, lambda _: httpx.Response(429, headers={"retry-after": next(said)}))

    with pytest.raises(TryAgainLater) as later:
        asking.complete(REQUEST)

    assert waits == waited
    assert later.value.retry_after_s == float(asked_for[-1])
    assert f"It asks for {asked_for[-1]} s, more than the 1800 s a step waits." in str(later.value)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, NodeFailed),
        (401, PermissionRefused),
        (402, BudgetReached),
        (404, ConfigurationError),
        (307, ConfigurationError),
    ],
)
def test_a_final_answer_is_asked_for_once(
    waits: list[float], status: int, error: type[CogworksError]
) -> None:
    seen: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(status, headers={"location": "https://elsewhere.test/"})

    with pytest.raises(error):
        answering(waits, refuse).complete(REQUEST)

    assert (len(seen), waits) == (1, [])


def exceptions_of_httpx() -> list[type[Exception]]:
    found = [each for each in vars(httpx).values() if inspect.isclass(each) and issubclass(each, Exception)]
    return sorted(found, key=lambda each: each.__name__)


WORDLESS = (httpx.StreamConsumed, httpx.StreamClosed, httpx.ResponseNotRead, httpx.RequestNotRead)
"""Have their words already."""


def raised(kind: type[Exception]) -> Exception:
    if kind is httpx.HTTPStatusError:
        return httpx.HTTPStatusError(
            "no", request=httpx.Request("POST", "https://x"), response=httpx.Response(500)
        )
    if issubclass(kind, WORDLESS):
        return kind()
    return kind("no")


@pytest.mark.parametrize("kind", exceptions_of_httpx(), ids=lambda kind: kind.__name__)
def test_every_exception_of_the_http_library_becomes_one_of_ours(
    waits: list[float], kind: type[Exception]
) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise raised(kind)

    # Whoever only waited too long is told for how long; of anything else the name helps.
    said = (
        "gave no answer in time: nothing came for"
        if kind is httpx.ReadTimeout
        else f"could not be asked: {kind.__name__}"
    )
    with pytest.raises(CogworksError, match=said):
        answering(waits, fail).complete(REQUEST)


def test_a_reply_that_took_too_long_is_not_asked_for_twice(waits: list[float]) -> None:
    def hang(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("too slow")

    with pytest.raises(
        TryAgainLater,
        match=r"gave no answer in time: nothing came for 300 s.*`stall_timeout_s` under `.llm.`",
    ):
        answering(waits, hang).complete(REQUEST)

    assert waits == []


def test_one_waits_five_minutes_for_a_reply_and_five_seconds_for_a_connection(waits: list[float]) -> None:
    limits = []

    def look(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"])
        return httpx.Response(200, content=replied("{}").body)

    answering(waits, look).complete(REQUEST)

    assert limits == [{"connect": 5.0, "read": 300.0, "write": 60.0, "pool": 5.0}]


def test_nobody_waits_longer_for_a_reply_than_the_node_has_time(waits: list[float]) -> None:
    limits = []

    def look(request: httpx.Request) -> httpx.Response:
        limits.append(request.extensions["timeout"])
        return httpx.Response(429, headers={"retry-after": "40"}, json={})

    short = AnthropicProvider(
        KEY,
        sleep=waits.append,
        jitter=lambda: 0.0,
        transport=at("https://api.anthropic.com/v1/messages", look),
        left_s=lambda: 30.0,
    )

    with pytest.raises(TryAgainLater, match="more than the 30 s a step waits"):
        short.complete(REQUEST)
    assert limits == [{"connect": 5.0, "read": 30.0, "write": 30.0, "pool": 5.0}]
    assert waits == []


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_server_that_quotes_the_key_does_not_get_it_into_a_message(waits: list[float], status: int) -> None:
    body = {"error": {"type": "x", "message": f"invalid x-api-key: {KEY}"}, "content": KEY}

    with pytest.raises(CogworksError) as refused:
        answering(waits, lambda _: httpx.Response(status, json=body)).complete(REQUEST)

    assert KEY not in str(refused.value)
    assert KEY not in repr(refused.value.__cause__)


KEYS = st.sampled_from(["k", "x", "test", "none", "text", "1", KEY]) | st.text(
    alphabet=st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=40
)


@settings(deadline=None)
@given(KEYS, st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.booleans())
def test_a_reply_arrives_as_the_server_sent_it_but_for_a_key_that_is_no_word(
    key: str, around: str, quoted: bool
) -> None:
    said = json.dumps({"code": f"{around}{key}{around}" if quoted else around})
    asking = AnthropicProvider(
        key,
        sleep=print,
        jitter=float,
        transport=httpx.MockTransport(lambda _: httpx.Response(200, content=replied(said).body)),
    )

    kept = said.replace(key, HIDDEN) if len(key) >= UNMISTAKABLE_CHARS else said
    assert asking.complete(REQUEST) == REPLY.model_copy(update={"text": kept})


@settings(deadline=None)
@given(KEYS, st.sampled_from([400, 401, 403, 404, 429, 500, 302]), st.booleans())
def test_no_message_shows_the_key_that_a_server_quotes(key: str, status: int, is_json: bool) -> None:
    assume(key.strip("*"))
    said = f"«{key}» Bearer {key}, ?key={key}&q=1"
    content = json.dumps({"error": {"type": f"<{key}>", "message": said}}) if is_json else said
    headers = {"location": f"https://x.test/?key={key}", "request-id": key, "x-should-retry": "false"}
    answer = httpx.Response(status, text=content, headers=headers)
    asking = AnthropicProvider(
        key, sleep=print, jitter=float, transport=httpx.MockTransport(lambda _: answer)
    )

    with pytest.raises(CogworksError) as refused:
        asking.complete(REQUEST)

    for quoted in (
        f"«{key}»",
        f"Bearer {key},",
        f"?key={key}&",
        f"<{key}>",
        f"?key={key}'",
        f"request {key})",
    ):
        assert quoted not in str(refused.value)


def test_a_short_key_leaves_the_words_of_a_message_alone(waits: list[float]) -> None:
    body = {"error": {"type": "authentication_error", "message": "the test key 'k' is none; Bearer k"}}
    asking = AnthropicProvider(
        "k",
        sleep=waits.append,
        jitter=float,
        transport=httpx.MockTransport(lambda _: httpx.Response(401, json=body)),
    )

    with pytest.raises(CogworksError) as refused:
        asking.complete(REQUEST)

    assert str(refused.value) == (
        "the model provider answered 401 authentication_error: the test key '***' is none; Bearer ***. "
        "Check the API key (`COGWORKS_LLM_API_KEY`) and what its workspace may use."
    )


def test_neither_key_nor_password_is_shown(waits: list[float]) -> None:
    asking = provider(waits, base_url="https://user:password@proxy.test")

    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"no route for {request.headers['authorization']}")

    hiding = AnthropicProvider(
        KEY,
        sleep=waits.append,
        jitter=lambda: 0.0,
        base_url="https://user:password@proxy.test",
        transport=at("https://user:password@proxy.test/v1/messages", fail),
    )
    with pytest.raises(TryAgainLater) as refused:
        hiding.complete(REQUEST)

    assert repr(asking) == "AnthropicProvider(url='https://proxy.test/v1/messages')"
    assert "https://proxy.test/v1/messages" in str(refused.value)
    assert "password" not in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        (" sk", "begins or ends with a blank"),
        ("sk ant", "holds a blank or a line break"),
        ("sk\nX-Evil: 1", "holds a blank or a line break"),
        ("schlüssel", "holds characters that are not ASCII"),
        ("sk\x07", "holds control characters"),
    ],
)
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(key: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        AnthropicProvider(key, sleep=print, jitter=float)

    assert problem in str(refused.value)
    assert not key.strip() or key not in str(refused.value)


def test_a_line_end_after_the_key_does_no_harm(server: ModelServer, waits: list[float]) -> None:
    server.answers(replied("{}"))

    with AnthropicProvider(f"{KEY}\n", sleep=waits.append, jitter=float, base_url=server.url) as asking:
        asking.complete(REQUEST)

    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("base_url", "problem"),
    [
        ("", "is no web address"),
        ("api.anthropic.com", "is no web address"),
        ("ftp://api.anthropic.com", "is no web address"),
        ("https://", "is no web address"),
        ("https://[::1", "is no web address"),
        ("https://x.test/?a=b", "carries a query"),
        ("http://api.anthropic.com/x", "unencrypted to 'api.anthropic.com'; use https://api.anthropic.com/x"),
        ("http://10.0.0.7", "would send the API key unencrypted to '10.0.0.7'; use https://10.0.0.7"),
        ("http://proxy:8080", "would send the API key unencrypted to 'proxy'; use https://proxy:8080"),
        ("http://me:hunter2@x.test", "unencrypted to 'x.test'; use https://x.test"),
    ],
)
def test_a_base_url_that_cannot_be_used_is_refused(base_url: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match="COGWORKS_LLM_BASE_URL") as refused:
        AnthropicProvider(KEY, sleep=print, jitter=float, base_url=base_url)

    assert problem in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"])
def test_plain_http_is_fine_on_this_machine(base_url: str) -> None:
    with AnthropicProvider(KEY, sleep=print, jitter=float, base_url=base_url) as asking:
        assert repr(asking).startswith(f"AnthropicProvider(url='{base_url}/v1/messages")


def test_a_truncated_answer_is_no_reply(waits: list[float]) -> None:
    half = replied('{"a":1}').body[:40]

    with pytest.raises(InvalidReply):
        answering(waits, lambda _: httpx.Response(200, content=half)).complete(REQUEST)
