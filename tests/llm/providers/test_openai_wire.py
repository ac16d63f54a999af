"""Chat Completions as servers speak it: each answer comes over real HTTP from this machine."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from cogworks.errors import (
    BudgetReached,
    CogworksError,
    ConfigurationError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
)
from cogworks.llm.budget import Budget, Price, PriceList, shipped_prices, upper_bound
from cogworks.llm.gateway import Gateway, ModelSettings
from cogworks.llm.prompts import shipped_prompts
from cogworks.llm.provider import ModelReply, Usage
from cogworks.llm.providers.openai import OpenAIProvider, decipher, request_body
from cogworks.llm.providers.refusals import Refused
from tests.asked import MODEL
from tests.asked import corrected as request
from tests.model_server import Answer, ModelServer, completed, declined
from tests.model_streams import completion_chunks, streamed

KEY = "sk-secret-0123456789"
FREE = Price.model_validate(dict.fromkeys(("input", "output", "cache_write", "cache_read"), 0))


class Said(BaseModel):
    """What the model is to say in these tests."""

    a: int


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def asking(server: ModelServer, waits: list[float]) -> Iterator[OpenAIProvider]:
    with OpenAIProvider(KEY, sleep=waits.append, jitter=float, base_url=server.url) as provider:
        yield provider


def changed(answer: Answer, **fields: Any) -> Answer:
    return Answer(answer.status, json.dumps({**json.loads(answer.body), **fields}).encode(), answer.headers)


def asks(provider: OpenAIProvider, *, repair_rounds: int = 0) -> Said:
    """One question through the gateway."""
    gateway = Gateway(
        provider,
        shipped_prompts({"number": "Pick a number.\n--- user ---\nSay it.\n"}),
        ModelSettings(model=MODEL, max_output_tokens=100, repair_rounds=repair_rounds),
        prices=PriceList(as_of=shipped_prices().as_of, models={MODEL: FREE}),
        budget=Budget(),
    )
    return gateway.ask("number", {}, Said, purpose="ask-1")


def test_a_question_is_one_post_and_nothing_else(
    server: ModelServer, asking: OpenAIProvider, waits: list[float]
) -> None:
    server.answers(completed('{"a":1}'))

    found = asking.complete(request())

    assert found == ModelReply(
        text='{"a":1}', stop_reason="end_turn", usage=Usage(input_tokens=3, output_tokens=5), model=MODEL
    )
    (seen,) = server.seen
    assert (seen.method, seen.path, waits) == ("POST", "/v1/chat/completions", [])
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    schema = request().output_schema
    assert seen.body == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Plan, Ö!"},
            {"role": "assistant", "content": "{}"},
            {"role": "user", "content": "Again."},
        ],
        "max_completion_tokens": 100,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": schema["title"], "schema": schema, "strict": True},
        },
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert request_body(request(system=""))["messages"][0] == {"role": "user", "content": "Plan, Ö!"}


def test_a_server_without_a_key_gets_none(server: ModelServer) -> None:
    server.answers(completed("{}"))

    with OpenAIProvider("", sleep=print, jitter=float, base_url=server.url) as local:
        local.complete(request())

    assert "authorization" not in server.seen[0].headers


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/openai/v1", "/openai/v1/chat/completions"),
    ],
)
def test_an_address_without_a_path_gets_the_usual_one(server: ModelServer, base: str, path: str) -> None:
    server.answers(completed("{}"))

    with OpenAIProvider("", sleep=print, jitter=float, base_url=f"{server.url}{base}") as local:
        local.complete(request())

    assert server.seen[0].path == path


@pytest.mark.parametrize(
    ("title", "name"), [("Größe & Ort", "Gr_e_Ort"), ("", "reply"), ("x" * 90, "x" * 64)]
)
def test_the_name_of_a_schema_is_one_that_servers_accept(title: str, name: str) -> None:
    asked = request().model_copy(update={"output_schema": {"title": title, "type": "object"}})

    assert request_body(asked)["response_format"]["json_schema"]["name"] == name


@pytest.mark.slow
def test_the_vendor_s_own_client_sends_and_reads_the_same(server: ModelServer) -> None:
    import openai
    from openai.types.chat import ChatCompletionChunk

    usage = Usage(input_tokens=1, output_tokens=2, cache_read_input_tokens=4)
    server.answers(*[streamed(completion_chunks('{"a":1}', usage=usage))] * 2)
    body = request_body(request())

    with openai.OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as vendor:
        chunks = list(vendor.chat.completions.create(**body))
    with OpenAIProvider(KEY, sleep=print, jitter=float, base_url=server.url) as own:
        ours = own.complete(request())

    sent = [(seen.path, seen.body, seen.headers["authorization"]) for seen in server.seen]
    assert sent[0] == sent[1]
    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in chunks)
    assert ours.text == "".join(each.delta.content or "" for chunk in chunks for each in chunk.choices)
    [counts] = [chunk.usage for chunk in chunks if chunk.usage]
    assert (ours.usage.total_input, ours.usage.output_tokens) == (
        counts.prompt_tokens,
        counts.completion_tokens,
    )


@pytest.mark.parametrize(
    "refusal",
    [
        declined(400, "Unknown parameter: 'response_format'.", param="response_format"),
        declined(400, "'json_schema' is not a supported type"),
        declined(422, "response_format: extra fields not permitted"),
        Answer(400, b'{"error": "response_format is not supported by this model"}'),
        Answer(400, b"unknown field json_schema"),
    ],
    ids=["param", "type", "422", "words", "text"],
)
def test_a_server_that_binds_no_reply_to_a_schema_is_asked_without_it_and_remembered(
    server: ModelServer, asking: OpenAIProvider, waits: list[float], refusal: Answer
) -> None:
    server.answers(refusal, completed('{"a":1}'), completed('{"a":2}'))

    found = [asking.complete(request()).text for _ in range(2)]

    assert (found, waits) == (['{"a":1}', '{"a":2}'], [])
    assert ["response_format" in seen.body for seen in server.seen] == [True, False, False]
    bound, plain = (dict(seen.body) for seen in server.seen[:2])
    schema = bound.pop("response_format")["json_schema"]["schema"]
    [system, *turns] = plain.pop("messages")
    assert turns == bound.pop("messages")[1:]
    assert plain == bound
    assert system["content"].startswith("Be brief.\n\nAnswer with one JSON object that fits this JSON Schema")
    assert json.loads(system["content"].splitlines()[-1]) == schema


def test_an_older_server_gets_the_older_name_of_the_limit(
    server: ModelServer, asking: OpenAIProvider
) -> None:
    server.answers(
        declined(400, "Unrecognized request argument supplied: max_completion_tokens"),
        declined(400, "json_schema is unknown"),
        completed("{}"),
        completed("{}"),
    )

    for _ in range(2):
        asking.complete(request())

    limits = [{key: seen.body[key] for key in seen.body if key.startswith("max_")} for seen in server.seen]
    assert limits == [{"max_completion_tokens": 100}, *[{"max_tokens": 100}] * 3]
    assert ["response_format" in seen.body for seen in server.seen] == [True, True, False, False]


@pytest.mark.parametrize(
    ("refusal", "sent"),
    [
        ("Unrecognized request argument supplied: stream_options", {"stream": True}),
        ("extra fields not permitted: include_usage", {"stream": True}),
        ("streaming is not supported by this model", {}),
    ],
)
def test_a_server_that_does_not_stream_or_count_in_streams_is_asked_without_and_remembered(
    server: ModelServer, asking: OpenAIProvider, refusal: str, sent: dict[str, bool]
) -> None:
    server.answers(declined(400, refusal), completed('{"a":1}'), completed('{"a":2}'))

    assert [asking.complete(request()).text for _ in range(2)] == ['{"a":1}', '{"a":2}']
    streams = [{key: seen.body[key] for key in seen.body if key.startswith("stream")} for seen in server.seen]
    assert streams == [{"stream": True, "stream_options": {"include_usage": True}}, sent, sent]


def test_a_limit_that_is_too_large_is_told_and_not_asked_for_by_another_name(
    server: ModelServer, asking: OpenAIProvider
) -> None:
    server.answers(declined(400, "max_completion_tokens is too large: 100. At most 50."))

    with pytest.raises(NodeFailed, match="max_completion_tokens is too large"):
        asking.complete(request())

    assert len(server.seen) == 1


def test_a_server_that_refuses_even_the_plainest_question_is_asked_no_further(
    server: ModelServer, asking: OpenAIProvider
) -> None:
    server.answers(*[declined(400, "unknown: response_format, max_completion_tokens")] * 3)

    with pytest.raises(NodeFailed, match="answered 400"):
        asking.complete(request())

    assert len(server.seen) == 3


def test_what_a_server_without_schemas_says_wrongly_is_repaired(
    server: ModelServer, asking: OpenAIProvider
) -> None:
    server.answers(declined(400, "no response_format"), completed('{"b":1}'), completed('{"a":7}'))

    assert asks(asking, repair_rounds=1) == Said(a=7)
    assert [len(seen.body["messages"]) for seen in server.seen] == [2, 2, 4]


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(input_tokens=9, output_tokens=2)),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(input_tokens=5, output_tokens=2, cache_read_input_tokens=4),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            },
            Usage(input_tokens=2, output_tokens=2, cache_read_input_tokens=4, cache_creation_input_tokens=3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input_tokens=9, output_tokens=2),
        ),
        (None, upper_bound(request())),
    ],
    ids=["plain", "cached", "written", "no-details", "none"],
)
def test_tokens_are_counted_once_each_and_estimated_where_nobody_counts(
    server: ModelServer, asking: OpenAIProvider, told: object, usage: Usage
) -> None:
    server.answers(changed(completed("{}"), usage=told))

    assert asking.complete(request()).usage == usage


def test_a_reply_that_reached_its_limit_is_gone_on_with_unbound_or_names_the_setting(
    server: ModelServer, asking: OpenAIProvider
) -> None:
    cut = completed('{"a":', stop_reason="max_tokens")
    server.answers(cut, completed("7}"), *[cut] * 4)

    assert asks(asking) == Said(a=7)
    assert ["response_format" in seen.body for seen in server.seen] == [True, False]
    with pytest.raises(InvalidReply, match=r"raise `\[llm\] max_output_tokens`"):
        asks(asking)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (completed("I would rather not.", stop_reason="refusal"), "declined to answer"),
        (completed("", stop_reason="content_filter"), "declined to answer"),
        (completed(None, stop_reason="tool_calls", tool_calls=[{"id": "1"}]), "stopped with 'tool_calls'"),
        (completed(None, tool_calls=[{"id": "1"}]), "stopped with 'tool_calls'"),
        (completed(None, function_call={"name": "f"}), "stopped with 'tool_calls'"),
        (completed(""), "no reply of claude-sonnet-5-5 fitted its schema"),
        (completed(None), "no reply of claude-sonnet-5-5 fitted its schema"),
    ],
    ids=["refusal", "filter", "tools", "tools-and-stop", "function", "empty", "null"],
)
def test_what_is_no_text_is_no_reply(
    server: ModelServer, asking: OpenAIProvider, answer: Answer, told: str
) -> None:
    server.answers(answer)

    with pytest.raises(InvalidReply, match=told):
        asks(asking)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>hello</html>",
        b"[]",
        changed(completed("{}"), choices=[]).body,
        changed(completed("{}"), choices=[{"finish_reason": "stop"}]).body,
        changed(completed("{}"), choices=[{"message": {"content": "{}"}, "finish_reason": None}]).body,
        changed(completed("{}"), usage={"prompt_tokens": 1}).body,
        changed(completed("{}"), usage={"prompt_tokens": 1, "completion_tokens": "x"}).body,
        changed(completed("{}"), usage={"prompt_tokens": -1, "completion_tokens": 5}).body,
        changed(completed("{}"), usage={"prompt_tokens": 1, "completion_tokens": 10**12}).body,
        changed(
            completed("{}"),
            usage={
                "prompt_tokens": 1,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 2},
            },
        ).body,
        completed("half a pair \ud83d").body,
        completed("{}").body[:60],
        b"\xff",
    ],
    ids=[
        "empty",
        "html",
        "list",
        "no-choice",
        "no-message",
        "no-stop",
        "half-usage",
        "bad-usage",
        "negative",
        "huge",
        "more-cached-than-read",
        "surrogate",
        "truncated",
        "no-utf8",
    ],
)
def test_an_answer_that_is_no_completion_is_told_with_the_setting_to_check(
    server: ModelServer, asking: OpenAIProvider, body: bytes
) -> None:
    server.answers(Answer(200, body))

    with pytest.raises(InvalidReply, match="Check `COGWORKS_LLM_BASE_URL`"):
        asking.complete(request())

    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("status", "error", "times"),
    [
        (301, ConfigurationError, 1),
        (400, NodeFailed, 1),
        (401, PermissionRefused, 1),
        (402, BudgetReached, 1),
        (403, PermissionRefused, 1),
        (404, ConfigurationError, 1),
        (408, TryAgainLater, 5),
        (409, TryAgainLater, 5),
        (413, NodeFailed, 1),
        (422, NodeFailed, 1),
        (429, TryAgainLater, 5),
        (500, TryAgainLater, 5),
        (503, TryAgainLater, 5),
    ],
)
def test_every_status_has_its_error(
    server: ModelServer, asking: OpenAIProvider, status: int, error: type[CogworksError], times: int
) -> None:
    server.answers(*[declined(status, "what went wrong.")] * times)

    with pytest.raises(error) as told:
        asking.complete(request())

    assert type(told.value) is error
    assert f"the model provider answered {status} invalid_request_error: what went wrong" in str(told.value)
    assert len(server.seen) == times


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
def test_the_provider_s_own_spend_limit_is_no_rate_limit_and_never_tried_again(
    server: ModelServer, asking: OpenAIProvider, code: str
) -> None:
    server.answers(declined(429, "You exceeded your current quota.", code=code))

    with pytest.raises(BudgetReached, match="exceeded your current quota"):
        asking.complete(request())

    assert len(server.seen) == 1


def test_the_wait_that_the_server_asks_for_is_obeyed(
    server: ModelServer, asking: OpenAIProvider, waits: list[float]
) -> None:
    busy = declined(429, "slow down")
    server.answers(Answer(429, busy.body, {"retry-after": "12"}), None, completed("{}"))

    asking.complete(request())

    assert waits == [12.0, 1.0]


@pytest.mark.parametrize("body", [b'{"error": "model \'x\' not found"}', b"model 'x' not found"])
def test_the_plainer_errors_of_local_servers_are_told_as_well(
    server: ModelServer, asking: OpenAIProvider, body: bytes
) -> None:
    server.answers(Answer(404, body))

    with pytest.raises(ConfigurationError, match="answered 404 error: model 'x' not found"):
        asking.complete(request())


def test_a_number_for_a_code_is_read_too(server: ModelServer, asking: OpenAIProvider) -> None:
    error = {"code": 503, "message": "Loading model", "type": "unavailable_error"}
    server.answers(Answer(503, json.dumps({"error": error}).encode()), completed("{}"))

    assert asking.complete(request()).text == "{}"


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_server_that_quotes_the_key_does_not_get_it_into_a_message(
    server: ModelServer, asking: OpenAIProvider, status: int
) -> None:
    body = {"error": {"type": "x", "message": f"Incorrect API key provided: {KEY}"}, "choices": KEY}
    server.answers(*[Answer(status, json.dumps(body).encode())] * 5)

    with pytest.raises(CogworksError) as refused:
        asking.complete(request())

    assert KEY not in str(refused.value)


@pytest.mark.parametrize("key", ["k", "x", "test", "none", "1"])
def test_a_reply_arrives_as_the_server_sent_it_whatever_the_key(server: ModelServer, key: str) -> None:
    said = json.dumps({"code": f"{key} x test none k 1"})
    server.answers(completed(said))

    with OpenAIProvider(key, sleep=print, jitter=float, base_url=server.url) as local:
        assert local.complete(request()).text == said


@pytest.mark.parametrize(
    ("base_url", "problem"),
    [
        ("", "is no web address; set it to one like https://api.openai.com/v1"),
        ("localhost:11434", "is no web address"),
        ("https://[::1", "is no web address"),
        ("https://x.test/v1?a=b", "carries a query"),
        ("http://me:hunter2@x.test/v1", "unencrypted to 'x.test'; use https://x.test/v1"),
    ],
)
def test_a_base_url_that_cannot_be_used_is_refused(base_url: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match="COGWORKS_LLM_BASE_URL or OPENAI_BASE_URL") as refused:
        OpenAIProvider(KEY, sleep=print, jitter=float, base_url=base_url)

    assert problem in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError, match="holds a blank") as refused:
        OpenAIProvider("s3cret key", sleep=print, jitter=float)

    assert "s3cret" not in str(refused.value)


@settings(deadline=None)
@given(st.integers(min_value=200, max_value=599), st.binary(max_size=80), st.text(max_size=20))
@example(429, b"", "0\x1f")
def test_no_answer_whatever_makes_the_reading_fail(status: int, body: bytes, wait: str) -> None:
    headers: Mapping[str, str] = {"retry-after": wait, "date": wait, "retry-after-ms": wait}

    found = decipher(status, headers, body, mask=str, request=request())

    assert isinstance(found, ModelReply | Refused)
