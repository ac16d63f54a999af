"""The provider `openai`: one question in the form of Chat Completions, which many servers speak.

What is said and what the answer means is pure; `http_door` sends. A server that does not know a field is asked again without
it, once, and remembered.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError

from cogworks.canonical import canonical_text
from cogworks.llm.budget import upper_bound
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.llm.providers.chat_stream import ChatAssembly
from cogworks.llm.providers.http_door import address
from cogworks.llm.providers.over_http import HttpProvider, KeyedOpening
from cogworks.llm.providers.refusals import Complaint, Count, Mask, Refused, no_reply, page, refused
from cogworks.loopback import is_loopback
from cogworks.settings.config import Environment
from cogworks.settings.sections import LlmConfig

BASE_URL = "https://api.openai.com/v1"
ADDRESSES = "COGWORKS_LLM_BASE_URL or OPENAI_BASE_URL"

_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_SCHEMA_WORDS = re.compile(r"response_format|json_schema", re.IGNORECASE)
_LIMIT_WORDS = re.compile(r"max_completion_tokens", re.IGNORECASE)
_STREAM_COUNT_WORDS = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_STREAM_WORDS = re.compile(r"\bstream(ing|ed)?\b", re.IGNORECASE)
_UNKNOWN_WORDS = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|extra|not (allowed|permitted)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Dialect:
    """What a server is known to understand."""

    has_schema: bool = True
    """Whether replies can be bound to a schema; else its text and the repair of replies see to it."""
    has_completion_limit: bool = True
    """Whether the limit is called `max_completion_tokens`; older servers call it `max_tokens`."""
    has_stream: bool = True
    """Whether replies come as they are made; else one waits for the whole of each."""
    has_stream_counts: bool = True
    """Whether a stream can be asked to report at its end what was used."""

    def after(self, status: int, body: bytes) -> "Dialect":
        """The plainer dialect that an error asks for; this one where it asks for none."""
        if status not in {400, 422}:
            return self
        text = body.decode("utf-8", "replace")
        if self.has_schema and _SCHEMA_WORDS.search(text):
            return replace(self, has_schema=False)
        # A limit that is too large is named as well, and no other name would make it smaller.
        if self.has_completion_limit and _LIMIT_WORDS.search(text) and _UNKNOWN_WORDS.search(text):
            return replace(self, has_completion_limit=False)
        if not _UNKNOWN_WORDS.search(text):
            return self
        if self.has_stream_counts and _STREAM_COUNT_WORDS.search(text):
            return replace(self, has_stream_counts=False)
        if self.has_stream and _STREAM_WORDS.search(text):
            return replace(self, has_stream=False)
        return self


FULL = Dialect()


@dataclass(frozen=True)
class Misunderstood(Refused):
    """The refusal of a field that a server does not know."""

    dialect: Dialect = FULL
    """The one to ask in again."""


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str


class _PromptDetails(BaseModel):
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    """Only some gateways report it."""


class _Counts(BaseModel):
    prompt_tokens: Count
    completion_tokens: Count
    prompt_tokens_details: _PromptDetails | None = None


class _Answer(BaseModel):
    choices: list[_Choice]
    model: str | None = None
    usage: _Counts | None = None


class _Error(BaseModel):
    message: str = ""
    type: str | None = None
    code: str | int | None = None


class _ErrorAnswer(BaseModel):
    error: _Error | str


def request_headers(api_key: str) -> dict[str, str]:
    """The headers of every request; servers of this machine often want no key."""
    return {"authorization": f"Bearer {api_key}"} if api_key else {}


def request_body(request: ModelRequest, dialect: Dialect = FULL) -> dict[str, Any]:
    """The JSON body: no tools and no sampling parameters, the reply bound to the request's schema where that is possible."""
    # Where nobody enforces the form, the question has to say it.
    schema = request.output_schema
    parts = (request.system, _form_in_words(schema) if schema and not dialect.has_schema else "")
    text = "\n\n".join(part for part in parts if part)
    system = [{"role": "system", "content": text}] if text else []
    turns = [{"role": message.role, "content": message.text} for message in request.messages]
    limit = "max_completion_tokens" if dialect.has_completion_limit else "max_tokens"
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, *turns],
        limit: request.max_output_tokens,
    }
    if schema and dialect.has_schema:
        body["response_format"] = {"type": "json_schema", "json_schema": form(schema)}
    if dialect.has_stream:
        body["stream"] = True
    if dialect.has_stream and dialect.has_stream_counts:
        body["stream_options"] = {"include_usage": True}
    return body


def _form_in_words(schema: Mapping[str, Any]) -> str:
    return (
        "Answer with one JSON object that fits this JSON Schema, and with nothing before or after it:\n"
        f"{canonical_text(schema)}"
    )


def form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What binds a reply to a schema, under a name that servers accept."""
    name = _NO_NAME.sub("_", str(schema.get("title", "")))[:64] or "reply"
    return {"name": name, "schema": schema, "strict": True}


def decipher(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    mask: Mask,
    request: ModelRequest,
    dialect: Dialect = FULL,
) -> ModelReply | Refused:
    """What an answer means. Never raises.

    Args:
        headers: names in lower case or a mapping that ignores case.
        mask: takes secrets out of what an error repeats of the server's words; a reply is never touched.
        request: what was asked; a server that does not count is taken to have used all that it might.
        dialect: in which it was asked.
    """
    if status == 200:
        return _reply(body, request)
    refusal = refused(status, headers, complaint(body, mask), mask=mask)
    plainer = dialect.after(status, body)
    return (
        refusal if plainer == dialect else Misunderstood(refusal.error, is_retryable=False, dialect=plainer)
    )


def _reply(body: bytes, request: ModelRequest) -> ModelReply | Refused:
    wanted = "a completion of the Chat Completions API"
    try:
        answer = _Answer.model_validate_json(body)
        if not answer.choices:
            return no_reply("choices: is empty", wanted=wanted)
        usage = upper_bound(request) if answer.usage is None else _usage(answer.usage)
        if usage is None:
            return no_reply("usage: more tokens are cached than the prompt has", wanted=wanted)
        [choice, *_] = answer.choices
        return ModelReply(
            text=choice.message.refusal or choice.message.content or "",
            stop_reason=_stop_reason(choice),
            usage=usage,
            model=answer.model or request.model,
        )
    except ValidationError as error:
        return no_reply(error, wanted=wanted)


def _stop_reason(choice: _Choice) -> str:
    """In the words of `Provider`; a model that calls a tool that nobody offered has not answered."""
    message = choice.message
    if message.refusal:
        return "refusal"
    if not message.content and (message.tool_calls or message.function_call):
        return "tool_calls"
    return _STOP_REASONS.get(choice.finish_reason, choice.finish_reason)


def _usage(counts: _Counts) -> Usage | None:
    details = counts.prompt_tokens_details or _PromptDetails()
    read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    if read + written > counts.prompt_tokens:
        return None
    return Usage(
        input_tokens=counts.prompt_tokens - read - written,
        output_tokens=counts.completion_tokens,
        cache_creation_input_tokens=written,
        cache_read_input_tokens=read,
    )


def complaint(body: bytes, mask: Mask) -> Complaint:
    """What the body of an error says."""
    try:
        error = _ErrorAnswer.model_validate_json(body).error
    except ValidationError:
        return page(body, mask)
    if isinstance(error, str):
        return Complaint(message=error)
    codes = frozenset(str(each) for each in (error.code, error.type) if each)
    return Complaint(message=error.message, kind=error.type or "error", codes=codes)


def assembly(request: ModelRequest, mask: Mask) -> ChatAssembly:
    """A reply that is about to come in events."""
    return ChatAssembly(request, partial(_reply, request=request), complaint, mask=mask)


def endpoint(base_url: str, tail: str = "/chat/completions") -> httpx.URL:
    """Where questions are sent: the tail below the base URL, and `/v1` before it where that has no path.

    Raises:
        ConfigurationError: the base URL is none, or would carry the key in the clear.
    """
    version = "/v1" if _has_no_path(base_url) else ""
    return address(base_url, f"{version}{tail}", example=BASE_URL, variable=ADDRESSES)


def _has_no_path(base_url: str) -> bool:
    try:
        return httpx.URL(base_url.strip()).path in {"", "/"}
    except (httpx.InvalidURL, ValueError):
        return False


class OpenAIProvider(HttpProvider):
    """Speaks Chat Completions."""

    default_url = BASE_URL
    needs_key = False
    endpoint = staticmethod(endpoint)
    headers = staticmethod(request_headers)

    _dialect = FULL

    def complete(self, request: ModelRequest) -> ModelReply:
        """See `HttpDoor.patiently`; to find the server's dialect is no attempt of those."""
        return self._door.patiently(lambda: self._reply_to(request))

    def _reply_to(self, request: ModelRequest) -> ModelReply | Refused:
        spoken = self._dialect
        while True:
            read = partial(decipher, request=request, dialect=spoken)
            answer = self._door.post(request_body(request, spoken), read, partial(assembly, request))
            if not isinstance(answer, Misunderstood):
                return answer
            spoken = self._dialect = answer.dialect


class _Opening(KeyedOpening):
    keys = ("COGWORKS_LLM_API_KEY", "OPENAI_API_KEY")
    addresses = ("COGWORKS_LLM_BASE_URL", "OPENAI_BASE_URL")

    def spoken(self, llm: LlmConfig, base_url: str) -> type[HttpProvider]:
        """By `auto` the newer API at OpenAI itself: no other server has the whole of it."""
        from cogworks.llm.providers.responses import ResponsesProvider  # noqa: PLC0415 - it knows this module

        is_theirs = (base_url or BASE_URL).rstrip("/") == BASE_URL
        is_newer = llm.api == "responses" or (llm.api == "auto" and is_theirs)
        return ResponsesProvider if is_newer else OpenAIProvider

    def door(self, base_url: str) -> httpx.URL:
        return endpoint(base_url or BASE_URL)

    def is_local(self, environment: Environment) -> bool:
        """Many local servers speak this API; they want neither a key nor a price."""
        return is_loopback(self.door(self.base_url(environment)).host)


OPENING = _Opening()
