import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, TypeAdapter, with_config

from cogworks.errors import (
    BudgetReached,
    CogworksError,
    ConfigurationError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
)
from cogworks.llm.provider import ModelReply, Usage
from cogworks.llm.providers.anthropic import decipher, request_body, request_headers
from cogworks.llm.providers.refusals import Refused
from cogworks.nodes.registry import REPLIES
from tests.asked import corrected as request
from tests.asked import question


def message(*content: Mapping[str, Any], **changed: Any) -> bytes:
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    return json.dumps({**answer, **changed}).encode()


def failure(kind: str, text: str, code: str | None = None) -> bytes:
    details = {"details": {"error_code": code}} if code else {}
    error = {"type": kind, "message": text, **details}
    return json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()


def refused(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Refused:
    found = decipher(status, headers or {}, body, mask=str)
    assert isinstance(found, Refused)
    return found


def test_the_body_is_exactly_what_was_asked_and_nothing_else() -> None:
    assert request_body(request()) == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Plan, Ö!"},
            {"role": "assistant", "content": "{}"},
            {"role": "user", "content": "Again."},
        ],
        "output_config": {"format": {"type": "json_schema", "schema": request().output_schema}},
        "stream": True,
    }
    assert "system" not in request_body(request(system=""))
    assert "output_config" not in request_body(question(schema={}))


@pytest.mark.slow
@pytest.mark.parametrize("stem", sorted(REPLIES))
def test_the_vendor_s_own_types_accept_the_body(stem: str) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    strict = with_config(ConfigDict(extra="forbid"))(MessageCreateParamsStreaming)
    body = request_body(request(stem=stem))

    accepted = TypeAdapter(strict).validate_python(body)

    # Iterables are validated lazily: they have to be walked.
    assert [dict(turn) for turn in accepted["messages"]] == body["messages"]
    form = accepted["output_config"]["format"]
    assert form is not None
    assert form["schema"] == request(stem=stem).output_schema


def test_the_key_is_sent_as_a_bearer_token_with_the_version_of_the_format() -> None:
    assert request_headers("sk-1") == {"anthropic-version": "2026-10-21", "authorization": "Bearer sk-1"}


def test_the_reply_is_the_text_blocks_joined_wherever_they_stand() -> None:
    from anthropic.types import Message

    body = message(
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": '{"a":'},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "1}"},
        usage={
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": None,
            "service_tier": "standard",
        },
    )
    assert Message.model_validate_json(body).content[1].type == "text"

    assert decipher(200, {}, body, mask=str) == ModelReply(
        text='{"a":1}',
        stop_reason="end_turn",
        usage=Usage(input_tokens=1, output_tokens=2, cache_creation_input_tokens=3),
        model="claude-sonnet-5-5",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>hello</html>",
        b"[]",
        message(stop_reason=None),
        message(usage={"input_tokens": 1}),
        message(usage={"input_tokens": 1, "output_tokens": "x"}),
        message(usage={"input_tokens": -1, "output_tokens": 5}),
        message(usage={"input_tokens": 1, "output_tokens": -5}),
        message(usage={"input_tokens": 1, "output_tokens": 5, "cache_read_input_tokens": -1}),
        message(usage={"input_tokens": 1, "output_tokens": 10**12}),
        message({"text": "no type"}),
        message({"type": "text", "text": "half a pair \ud83d"}),
        b"\xff",
    ],
    ids=[
        "empty",
        "html",
        "list",
        "no-stop",
        "no-usage",
        "bad-usage",
        "negative-input",
        "negative-output",
        "negative-cached",
        "huge-usage",
        "no-type",
        "surrogate",
        "no-utf8",
    ],
)
def test_an_answer_that_is_no_message_is_told_with_the_setting_to_check(body: bytes) -> None:
    found = refused(200, body)

    assert isinstance(found.error, InvalidReply)
    assert "Check `COGWORKS_LLM_BASE_URL`" in str(found.error)
    assert not found.is_retryable


@pytest.mark.parametrize(
    ("status", "kind", "error", "is_retryable"),
    [
        (301, "", ConfigurationError, False),
        (400, "invalid_request_error", NodeFailed, False),
        (401, "authentication_error", PermissionRefused, False),
        (402, "billing_error", BudgetReached, False),
        (403, "permission_error", PermissionRefused, False),
        (404, "not_found_error", ConfigurationError, False),
        (408, "timeout_error", TryAgainLater, True),
        (409, "conflict_error", TryAgainLater, True),
        (413, "request_too_large", NodeFailed, False),
        (422, "invalid_request_error", NodeFailed, False),
        (429, "rate_limit_error", TryAgainLater, True),
        (500, "api_error", TryAgainLater, True),
        (503, "", TryAgainLater, True),
        (504, "timeout_error", TryAgainLater, True),
        (529, "overloaded_error", TryAgainLater, True),
    ],
)
def test_every_status_has_its_error(
    status: int, kind: str, error: type[CogworksError], is_retryable: bool
) -> None:
    found = refused(status, failure(kind, "what went wrong."))

    assert (type(found.error), found.is_retryable) == (error, is_retryable)
    assert f"the model provider answered {status} {kind}: what went wrong (request req_1)" in str(found.error)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            failure("invalid_request_error", "You have reached your specified API usage limits. Until May."),
        ),
        (
            400,
            failure("invalid_request_error", "You have reached your specified workspace API usage limits."),
        ),
        (400, failure("invalid_request_error", "Your credit balance is too low to access the API.")),
        (429, failure("rate_limit_error", "Monthly cap.", code="enforced_spend_limit_reached")),
    ],
    ids=["organisation", "workspace", "credit", "tier"],
)
def test_the_provider_s_own_spend_limit_is_no_rate_limit_and_never_tried_again(
    status: int, body: bytes
) -> None:
    found = refused(status, body, {"x-should-retry": "true", "retry-after": "1"})

    assert (type(found.error), found.is_retryable) == (BudgetReached, False)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Mon, 02 Nov 2026 10:00:30 GMT", "date": "Mon, 02 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 02 Nov 2026 09:00:00 GMT", "date": "Mon, 02 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 02 Nov 2026 10:00:30 GMT"}, None),
        ({"retry-after": "soon", "date": "now"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_the_server_says_how_long_to_wait(headers: Mapping[str, str], wait_s: float | None) -> None:
    found = refused(429, failure("rate_limit_error", "slow down"), headers)

    assert found.wait_s == wait_s
    assert isinstance(found.error, TryAgainLater)
    assert found.error.retry_after_s == wait_s


@pytest.mark.parametrize(
    ("status", "said", "error", "is_retryable"),
    [
        (429, "false", TryAgainLater, False),
        (500, "false", TryAgainLater, False),
        (400, "true", TryAgainLater, True),
        (500, "maybe", TryAgainLater, True),
    ],
)
def test_the_server_may_say_itself_whether_to_try_again(
    status: int, said: str, error: type[CogworksError], is_retryable: bool
) -> None:
    found = refused(status, failure("x", "y"), {"x-should-retry": said})

    assert (type(found.error), found.is_retryable) == (error, is_retryable)


def test_a_page_of_a_proxy_is_cut_and_shown_on_one_line() -> None:
    found = refused(502, b"<html>\n<h1>Bad Gateway</h1>" + b"x" * 10_000)

    assert str(found.error).startswith(
        "the model provider answered 502 error: <html> <h1>Bad Gateway</h1>xxx"
    )
    assert len(str(found.error)) < 400
    assert "\n" not in str(found.error)


@given(
    st.integers(min_value=200, max_value=599),
    st.binary(max_size=80),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_no_answer_whatever_makes_the_reading_fail(status: int, body: bytes, wait: str, date: str) -> None:
    found = decipher(status, {"retry-after": wait, "date": date, "retry-after-ms": wait}, body, mask=str)

    assert isinstance(found, ModelReply | Refused)
