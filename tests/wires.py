"""The forms in which providers over HTTP are spoken to, for tests that hold of each."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cogworks.llm.budget import upper_bound
from cogworks.llm.provider import Provider, Usage
from cogworks.llm.providers import anthropic, openai, responses
from cogworks.llm.providers.events import Assembly
from cogworks.llm.providers.refusals import Mask
from cogworks.llm.waiting import STALL_S
from tests.asked import question
from tests.model_server import Answer, completed, declined, failed, replied, responded, response
from tests.model_streams import (
    completion_chunks,
    delta,
    event,
    message_events,
    response_events,
    streamed,
    told,
)

USAGE = Usage(input_tokens=1, output_tokens=200, cache_creation_input_tokens=3, cache_read_input_tokens=4)
_KINDS = {529: "overloaded_error", 400: "invalid_request_error", 401: "authentication_error"}


@dataclass(frozen=True)
class Wire:
    """A form in which a provider is asked and answers."""

    provider: Callable[..., Provider]
    events: Callable[..., list[bytes]]
    """A reply as a stream."""
    whole: Callable[..., Answer]
    """The same reply without one."""
    failure: Callable[[int, str, str], Answer]
    """An error: status, text, and a code that names its reason."""
    error: Callable[[int, str], bytes]
    """An error inside of a stream."""
    tool_call: Callable[[], list[bytes]]
    """A stream that calls a tool and says nothing."""
    tool_reason: str
    opening: int
    """So many events of a stream bring nothing of a reply."""
    read: Usage
    """What the question of a stream that broke off is taken to have read."""
    assembly: Callable[[Mask], Assembly]
    usage: Usage
    """What it tells of `USAGE`."""
    busy: int = 529
    """The status that a server which is overloaded has in a stream."""
    asked_twice: frozenset[int] = frozenset()
    """Statuses after which another API of the same server is tried."""
    stream_type: str = "text/event-stream; charset=utf-8"
    keep_alive: bytes = b": alive\n\n"
    """Brings nothing of a reply."""
    strange: bytes = b"data: 1\n\n"
    """An event whose data is no object."""

    def stream(self, events: Sequence[bytes], *, is_cut: bool = False) -> Answer:
        """These events as an answer; see `streamed`."""
        answer = streamed(events, is_cut=is_cut)
        return replace(answer, headers={"content-type": self.stream_type})

    def asking(
        self,
        url: str,
        *,
        waits: list[float] | None = None,
        heard: Callable[[int], None] = lambda _: None,
        stall_s: float = STALL_S,
        key: str = "k",
    ) -> Provider:
        """A provider of this form at a server of this machine, whose waits take no time."""
        sleep = [].append if waits is None else waits.append
        return self.provider(key, sleep=sleep, jitter=float, base_url=url, heard=heard, stall_s=stall_s)


def _messages_failure(status: int, text: str, code: str) -> Answer:
    error = {"type": "x", "message": text, **({"details": {"error_code": code}} if code else {})}
    return Answer(status, json.dumps({"type": "error", "error": error}).encode(), failed(status).headers)


def _messages_error(status: int, text: str) -> bytes:
    return event("error", error={"type": _KINDS[status], "message": text})


def _messages_tool_call() -> list[bytes]:
    head, *_, last, end = message_events("", stop_reason="tool_use")
    block = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    json_delta = {"type": "input_json_delta", "partial_json": '{"a": 1}'}
    return [
        head,
        event("content_block_start", index=0, content_block=block),
        event("content_block_delta", index=0, delta=json_delta),
        event("content_block_stop", index=0),
        last,
        end,
    ]


def _chat_failure(status: int, text: str, code: str) -> Answer:
    return declined(status, text, code=code or None)


def _chat_error(status: int, text: str) -> bytes:
    return f"data: {json.dumps({'error': {'message': text, 'code': status}})}\n\n".encode()


def _chat_tool_call() -> list[bytes]:
    call = {"index": 0, "id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    head, *_, counts, end = completion_chunks("")
    return [head, delta(tool_calls=[call]), delta(finish_reason="tool_calls"), counts, end]


def _response_error(status: int, text: str) -> bytes:
    codes = {529: "server_is_overloaded", 400: "invalid_prompt", 401: "invalid_api_key"}
    return event("error", code=codes[status], message=text, param=None, sequence_number=0)


def _response_tool_call() -> list[bytes]:
    call = {"type": "function_call", "id": "t1", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    return [
        told("created", response=response("")),
        told("function_call_arguments.delta", item_id="t1", output_index=0, delta='{"a": 1}'),
        told("completed", response=response("", output=[call])),
    ]


WIRES = {
    "anthropic": Wire(
        provider=anthropic.AnthropicProvider,
        events=message_events,
        whole=replied,
        failure=_messages_failure,
        error=_messages_error,
        tool_call=_messages_tool_call,
        tool_reason="tool_use",
        opening=0,
        read=USAGE.model_copy(update={"output_tokens": 0}),
        assembly=anthropic.assembly,
        usage=USAGE,
    ),
    "openai": Wire(
        provider=openai.OpenAIProvider,
        events=completion_chunks,
        whole=completed,
        failure=_chat_failure,
        error=_chat_error,
        tool_call=_chat_tool_call,
        tool_reason="tool_calls",
        opening=1,
        read=upper_bound(question()).model_copy(update={"output_tokens": 0}),
        assembly=partial(openai.assembly, question()),
        usage=USAGE,
    ),
    "responses": Wire(
        provider=responses.ResponsesProvider,
        events=response_events,
        whole=responded,
        failure=_chat_failure,
        error=_response_error,
        tool_call=_response_tool_call,
        tool_reason="tool_calls",
        opening=2,
        read=upper_bound(question()).model_copy(update={"output_tokens": 0}),
        assembly=lambda mask: responses.ResponseAssembly(question(), mask=mask),
        usage=Usage(input_tokens=4, output_tokens=200, cache_read_input_tokens=4),
        busy=503,
        asked_twice=frozenset({404}),
    ),
}
