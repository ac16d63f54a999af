"""The provider `anthropic`: one question in the form of the Messages API.

What is said and what the answer means is pure. The rules follow https://platform.claude.com/docs/en/api/errors and the behaviour
of the vendor's own client; `http_door` sends.
"""

from collections.abc import Mapping
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.llm.providers.http_door import address
from cogworks.llm.providers.messages_stream import MessageAssembly
from cogworks.llm.providers.over_http import HttpProvider, KeyedOpening
from cogworks.llm.providers.refusals import Complaint, Count, Mask, Refused, no_reply, page, refused
from cogworks.settings.sections import LlmConfig

API_VERSION = "2026-10-21"
BASE_URL = "https://api.anthropic.com"


class _Block(BaseModel):
    type: str
    text: str = ""


class Counts(BaseModel):
    input_tokens: Count
    output_tokens: Count
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


class _Answer(BaseModel):
    content: list[_Block]
    model: str
    stop_reason: str
    usage: Counts


class _Counted(BaseModel):
    input_tokens: Count


class _Details(BaseModel):
    error_code: str | None = None


class _Error(BaseModel):
    type: str = "error"
    message: str = ""
    details: _Details | None = None


class _ErrorAnswer(BaseModel):
    error: _Error
    request_id: str | None = None


def request_headers(api_key: str) -> dict[str, str]:
    """The headers of every request."""
    return {"anthropic-version": API_VERSION, "authorization": f"Bearer {api_key}"}


def request_body(request: ModelRequest) -> dict[str, Any]:
    """The JSON body: no tools and no sampling parameters, the reply bound to the request's schema."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens,
        "messages": _messages(request),
        "stream": True,
    }
    if request.output_schema:
        form = {"type": "json_schema", "schema": request.output_schema}
        body["output_config"] = {"format": form}
    system = [_block(request.system, is_kept=True)] if request.goes_on else request.system
    return {**body, "system": system} if request.system else body


def _messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The turns; where more are to follow, what is read up to the first and the last of them is kept for the next.

    Breakpoints: https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
    """
    if not request.goes_on:
        return [{"role": message.role, "content": message.text} for message in request.messages]
    ends = {0, len(request.messages) - 1}
    return [
        {"role": message.role, "content": [_block(message.text, is_kept=place in ends)]}
        for place, message in enumerate(request.messages)
    ]


def _block(text: str, *, is_kept: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, "cache_control": {"type": "ephemeral"}} if is_kept else block


def decipher(status: int, headers: Mapping[str, str], body: bytes, *, mask: Mask) -> ModelReply | Refused:
    """What an answer means. Never raises.

    Args:
        headers: names in lower case or a mapping that ignores case.
        mask: takes secrets out of what an error repeats of the server's words; a reply is never touched.
    """
    if status == 200:
        return _reply(body)
    return refused(status, headers, complaint(body, mask), mask=mask)


def _reply(body: bytes) -> ModelReply | Refused:
    try:
        answer = _Answer.model_validate_json(body)
        # Thinking may come first; only text blocks hold the reply.
        text = "".join(block.text for block in answer.content if block.type == "text")
        counts = answer.usage
        usage = Usage(
            input_tokens=counts.input_tokens,
            output_tokens=counts.output_tokens,
            cache_creation_input_tokens=counts.cache_creation_input_tokens or 0,
            cache_read_input_tokens=counts.cache_read_input_tokens or 0,
        )
        return ModelReply(text=text, stop_reason=answer.stop_reason, usage=usage, model=answer.model)
    except ValidationError as error:
        return no_reply(error, wanted="a message of the Messages API")


def complaint(body: bytes, mask: Mask) -> Complaint:
    """What the body of an error says."""
    try:
        answer = _ErrorAnswer.model_validate_json(body)
    except ValidationError:
        return page(body, mask)
    error = answer.error
    code = error.details.error_code if error.details else None
    return Complaint(
        message=error.message,
        kind=error.type,
        codes=frozenset({code} if code else ()),
        request_id=answer.request_id or "",
    )


def endpoint(base_url: str) -> httpx.URL:
    """Where questions are sent.

    Raises:
        ConfigurationError: the base URL is none, or would carry the key in the clear.
    """
    return address(base_url, "/v1/messages", example=BASE_URL)


class AnthropicProvider(HttpProvider):
    """Speaks the Messages API."""

    default_url = BASE_URL
    endpoint = staticmethod(endpoint)
    headers = staticmethod(request_headers)

    def complete(self, request: ModelRequest) -> ModelReply:
        """See `HttpDoor.patiently`."""
        return self._door.patiently(lambda: self._door.post(request_body(request), decipher, assembly))

    def count(self, request: ModelRequest) -> int | None:
        """The input tokens of a request; asked once and briefly, for the estimate does without an answer."""
        url = address(self._base_url, "/v1/messages/count_tokens", example=BASE_URL)
        body = self._door.briefly(count_body(request), url=url)
        try:
            return None if body is None else _Counted.model_validate_json(body).input_tokens
        except ValidationError:
            return None


def count_body(request: ModelRequest) -> dict[str, Any]:
    """What is counted: the question as it would be asked, without what only its answer needs."""
    body = request_body(request)
    return {name: value for name, value in body.items() if name not in {"max_tokens", "stream"}}


def assembly(mask: Mask) -> MessageAssembly:
    """A reply that is about to come in events."""
    return MessageAssembly(_reply, complaint, mask=mask)


class _Opening(KeyedOpening):
    keys = ("COGWORKS_LLM_API_KEY", "ANTHROPIC_API_KEY")
    addresses = ("COGWORKS_LLM_BASE_URL",)

    def spoken(self, llm: LlmConfig, base_url: str) -> type[HttpProvider]:
        del llm, base_url
        return AnthropicProvider

    def door(self, base_url: str) -> httpx.URL:
        return endpoint(base_url or BASE_URL)


OPENING = _Opening()
