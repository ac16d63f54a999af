"""One question in the form of the Responses API, and what its answers mean.

All but the provider is pure. https://platform.openai.com/docs/api-reference/responses
"""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from cogworks.llm.budget import upper_bound
from cogworks.llm.provider import BROKEN_OFF, ModelReply, ModelRequest, Usage
from cogworks.llm.providers.events import Event, tokens_of
from cogworks.llm.providers.openai import OpenAIProvider, complaint, endpoint, form
from cogworks.llm.providers.refusals import Complaint, Count, Mask, Refused, broken_off, no_reply, refused

_WANTED = "a response of the Responses API"
_STOP_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
_STATUSES = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_prompt": 400,
    "invalid_api_key": 401,
    "server_is_overloaded": 503,
    "slow_down": 503,
}
"""The status that an error would have had as an answer; 500 for any other."""
_REFUSING = re.compile(
    r"unknown|unsupported|unrecogni[sz]ed|unexpected|extra|required|not (allowed|permitted|supported)",
    re.IGNORECASE,
)
_FIELDS = re.compile(r"\b(messages|instructions|input|text|store|max_output_tokens)\b", re.IGNORECASE)
"""What a server refuses, or misses, of a body in the form of another API."""
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_SAYING = ".delta"


class _Part(BaseModel):
    type: str
    text: str = ""
    refusal: str = ""


class _Item(BaseModel):
    type: str
    content: list[_Part] | None = None


class _Cached(BaseModel):
    cached_tokens: Count = 0


class _Counts(BaseModel):
    input_tokens: Count
    output_tokens: Count
    input_tokens_details: _Cached | None = None


class _Reason(BaseModel):
    reason: str = ""


class _Error(BaseModel):
    code: str | None = None
    message: str = ""


class _Response(BaseModel):
    status: str
    output: list[_Item]
    model: str
    usage: _Counts | None = None
    incomplete_details: _Reason | None = None
    error: _Error | None = None


class _StreamPart(BaseModel):
    type: str
    delta: Any = None
    response: dict[str, Any] | None = None
    code: str | None = None
    message: str = ""


def request_body(request: ModelRequest) -> dict[str, Any]:
    """The JSON body: nothing is kept by the server, no tools, no sampling parameters."""
    body: dict[str, Any] = {
        "model": request.model,
        "input": [{"role": message.role, "content": message.text} for message in request.messages],
        "max_output_tokens": request.max_output_tokens,
        "store": False,
        "stream": True,
    }
    if request.system:
        body["instructions"] = request.system
    if request.output_schema:
        body["text"] = {"format": {"type": "json_schema", **form(request.output_schema)}}
    return body


def read(body: bytes, request: ModelRequest, *, mask: Mask) -> ModelReply | Refused:
    """What an answer with status 200 means. Never raises."""
    try:
        answer = _Response.model_validate_json(body)
        if answer.error is not None:
            return _failed(answer.error, mask)
        parts = [part for item in answer.output if item.type == "message" for part in item.content or ()]
        refusal = "".join(part.refusal for part in parts)
        text = refusal or "".join(part.text for part in parts if part.type == "output_text")
        usage = upper_bound(request) if answer.usage is None else _usage(answer.usage)
        if usage is None:
            return no_reply("usage: more tokens are cached than the prompt has", wanted=_WANTED)
        return ModelReply(
            text=text, stop_reason=_stop_reason(answer, text, refusal), usage=usage, model=answer.model
        )
    except ValidationError as error:
        return no_reply(error, wanted=_WANTED)


def _stop_reason(answer: _Response, text: str, refusal: str) -> str:
    if refusal:
        return "refusal"
    if not text and any(item.type.endswith("_call") for item in answer.output):
        return "tool_calls"
    if answer.status == "completed":
        return "end_turn"
    reason = answer.incomplete_details.reason if answer.incomplete_details else answer.status
    return _STOP_REASONS.get(reason, reason)


def _usage(counts: _Counts) -> Usage | None:
    cached = counts.input_tokens_details.cached_tokens if counts.input_tokens_details else 0
    if cached > counts.input_tokens:
        return None
    return Usage(
        input_tokens=counts.input_tokens - cached,
        output_tokens=counts.output_tokens,
        cache_read_input_tokens=cached,
    )


def _failed(error: _Error, mask: Mask) -> Refused:
    code = error.code or "error"
    complaint = Complaint(message=error.message, kind=code, codes=frozenset({code}))
    return refused(_STATUSES.get(code, 500), {}, complaint, mask=mask)


class ResponseAssembly:
    """See `Assembly`; the last event holds the whole response."""

    def __init__(self, request: ModelRequest, *, mask: Mask) -> None:
        self._request = request
        self._mask = mask
        self._read = partial(read, request=request, mask=mask)
        self._text: list[str] = []
        self._whole: bytes | None = None
        self._has_begun = False
        self.is_over = False
        self.said_bytes = 0

    def add(self, event: Event) -> bool | Refused:
        try:
            part = _StreamPart.model_validate_json(event.data)
        except ValidationError as error:
            return no_reply(error, wanted="a stream of the Responses API")
        if part.type == "error":
            return _failed(_Error(code=part.code, message=part.message), self._mask)
        if part.type.endswith(_SAYING) and isinstance(part.delta, str):
            self._say(part)
            return True
        if part.type in _ENDS and part.response is not None:
            self._whole = json.dumps(part.response).encode()
            self.is_over = True
        return self.is_over

    def _say(self, part: _StreamPart) -> None:
        self._has_begun = True
        self.said_bytes += len(part.delta.encode())
        if part.type == "response.output_text.delta":
            self._text.append(part.delta)

    def reply(self) -> ModelReply | Refused:
        if self._whole is None:
            return broken_off("it ended without `response.completed`")
        return self._read(self._whole)

    def so_far(self) -> ModelReply | None:
        if not self._has_begun:
            return None
        # What a prompt has cost is reported at the end alone.
        usage = upper_bound(self._request).model_copy(update={"output_tokens": tokens_of(self.said_bytes)})
        return ModelReply(
            text="".join(self._text), stop_reason=BROKEN_OFF, usage=usage, model=self._request.model
        )


class Unknown(Refused):
    """A server does not know this API."""


def decipher(
    status: int, headers: Mapping[str, str], body: bytes, *, mask: Mask, request: ModelRequest
) -> ModelReply | Refused:
    """What an answer means. Never raises.

    Args:
        headers: names in lower case or a mapping that ignores case.
        request: what was asked; a server that does not count is taken to have used all that it might.
    """
    if status == 200:
        return read(body, request, mask=mask)
    refusal = refused(status, headers, complaint(body, mask), mask=mask)
    text = body.decode("utf-8", "replace")
    is_unknown = status in {404, 405, 501} or (
        status in {400, 422} and _REFUSING.search(text) and _FIELDS.search(text)
    )
    return Unknown(refusal.error, is_retryable=False) if is_unknown else refusal


class ResponsesProvider(OpenAIProvider):
    """Speaks the Responses API, and Chat Completions from then on to a server that does not know it."""

    _is_known = True

    def _reply_to(self, request: ModelRequest) -> ModelReply | Refused:
        if self._is_known:
            answer = self._door.post(
                request_body(request),
                partial(decipher, request=request),
                lambda mask: ResponseAssembly(request, mask=mask),
                url=endpoint(self._base_url, "/responses"),
            )
            if not isinstance(answer, Unknown):
                return answer
            self._is_known = False
        return super()._reply_to(request)
