"""The Responses API, with Chat Completions for servers that do not know it, over real HTTP from this machine."""

import json
from collections.abc import Iterator

import pytest

from cogworks.errors import ConfigurationError
from cogworks.llm.budget import upper_bound
from cogworks.llm.provider import Usage
from cogworks.llm.providers.responses import ResponsesProvider, request_body
from tests.asked import MODEL, corrected, question
from tests.model_server import Answer, ModelServer, completed, declined, response
from tests.model_streams import response_events, streamed


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def asking(server: ModelServer) -> Iterator[ResponsesProvider]:
    with ResponsesProvider("k", sleep=print, jitter=float, base_url=server.url) as provider:
        yield provider


def test_a_question_is_one_post_and_nothing_is_kept_there(
    server: ModelServer, asking: ResponsesProvider
) -> None:
    server.answers(streamed(response_events('{"a":1}')))

    assert asking.complete(corrected()).text == '{"a":1}'

    (seen,) = server.seen
    schema = corrected().output_schema
    assert (seen.path, seen.headers["authorization"]) == ("/v1/responses", "Bearer k")
    assert seen.body == {
        "model": MODEL,
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Plan, Ö!"},
            {"role": "assistant", "content": "{}"},
            {"role": "user", "content": "Again."},
        ],
        "max_output_tokens": 100,
        "store": False,
        "stream": True,
        "text": {
            "format": {"type": "json_schema", "name": schema["title"], "schema": schema, "strict": True}
        },
    }
    assert "text" not in request_body(question(schema={}))


@pytest.mark.slow
def test_the_vendor_s_own_client_sends_and_reads_the_same(server: ModelServer) -> None:
    import openai
    from openai.types.responses import Response

    usage = Usage(input_tokens=1, output_tokens=2, cache_read_input_tokens=4)
    server.answers(*[streamed(response_events('{"a":1}', usage=usage))] * 2)

    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as vendor:
        events = list(vendor.responses.create(**request_body(corrected())))
    with ResponsesProvider("k", sleep=print, jitter=float, base_url=server.url) as own:
        ours = own.complete(corrected())

    theirs = events[-1].response
    sent = [(seen.path, seen.body) for seen in server.seen]
    assert sent[0] == sent[1]
    assert isinstance(theirs, Response)
    assert theirs.usage is not None
    assert ours.text == theirs.output_text
    assert (ours.usage.total_input, ours.usage.output_tokens) == (
        theirs.usage.input_tokens,
        theirs.usage.output_tokens,
    )


@pytest.mark.parametrize(
    "refusal",
    [
        Answer(404, b"404 page not found"),
        Answer(405, b""),
        declined(501, "not implemented"),
        declined(400, "messages: field required"),
        declined(422, "unknown field: instructions"),
    ],
    ids=["404", "405", "501", "400", "422"],
)
def test_a_server_without_this_api_is_asked_by_the_older_one_and_remembered(
    server: ModelServer, asking: ResponsesProvider, refusal: Answer
) -> None:
    server.answers(refusal, completed('{"a":1}'), completed('{"a":2}'))

    assert [asking.complete(question()).text for _ in range(2)] == ['{"a":1}', '{"a":2}']
    assert [seen.path for seen in server.seen] == ["/v1/responses", *["/v1/chat/completions"] * 2]


def test_a_model_that_neither_api_knows_is_told_once(server: ModelServer, asking: ResponsesProvider) -> None:
    server.answers(*[declined(404, "The model `m` does not exist")] * 2)

    with pytest.raises(ConfigurationError, match="does not exist"):
        asking.complete(question())


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"usage": None}, None), ({"output": [], "status": "incomplete"}, "incomplete")],
    ids=["no-counts", "nothing-said"],
)
def test_what_is_left_out_is_neither_invented_nor_fatal(
    server: ModelServer, asking: ResponsesProvider, changed: dict[str, object], told: str | None
) -> None:
    server.answers(Answer(200, json.dumps({**response("{}"), **changed}).encode()))

    found = asking.complete(question())

    if told is None:
        assert found.usage == upper_bound(question())
    else:
        assert (found.text, found.stop_reason) == ("", told)
