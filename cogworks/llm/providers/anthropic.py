"""The provider `anthropic`: one question over HTTPS, sent again as long as the server asks for patience.

How is a question said in Anthropic's Messages API, and what does the answer mean?

Pure: what comes in is status, headers and bytes, what comes out is a reply or the error to raise. The rules follow
https://platform.claude.com/docs/en/api/errors and the behaviour of the vendor's own client.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Annotated, Any, Self

import httpx
from pydantic import BaseModel, Field, ValidationError

from cogworks.errors import (
    BudgetReached,
    CogworksError,
    ConfigurationError,
    InvalidReply,
    NodeFailed,
    PermissionRefused,
    TryAgainLater,
)
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.loopback import is_loopback
from cogworks.masking import masked
from cogworks.retrying import Again, End, Policy, doubling, retried
from cogworks.settings.credentials import cleaned, credential_problem

API_VERSION = "2026-10-21"
RETRYABLE = frozenset({408, 409, 429})
"""Besides every status from 500 up."""

_SPEND_LIMIT_CODES = frozenset({"enforced_spend_limit_reached"})
_SPEND_LIMIT_WORDS = re.compile(r"specified (\w+ )?API usage limits|credit balance is too low", re.IGNORECASE)
_MAX_MESSAGE_CHARS = 500
_MAX_PAGE_CHARS = 200


@dataclass(frozen=True)
class Refused:
    """An answer that is no reply."""

    error: CogworksError
    """What to raise when the request is not sent again."""
    is_retryable: bool
    wait_s: float | None = None
    """How long the server asks to wait, in seconds; None when it does not say."""


class _Block(BaseModel):
    type: str
    text: str = ""


# A negative count would give money back to the budget, and no reply of any model has a billion tokens.
_Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


class _Counts(BaseModel):
    input_tokens: _Count
    output_tokens: _Count
    cache_creation_input_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None


class _Answer(BaseModel):
    content: list[_Block]
    model: str
    stop_reason: str
    usage: _Counts


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
        "output_config": {"format": {"type": "json_schema", "schema": request.output_schema}},
    }
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


def decipher(
    status: int, headers: Mapping[str, str], body: bytes, *, mask: Callable[[str], str]
) -> ModelReply | Refused:
    """What an answer means. Never raises.

    Args:
        headers: names in lower case or a mapping that ignores case.
        mask: takes secrets out of what an error repeats of the server's words; a reply is never touched.
    """
    if status == 200:
        return _reply(body)
    error = _error(body, mask)
    what = _described(status, headers, error, mask)
    spend_limit = _spend_limit(status, error, what)
    if spend_limit is not None:
        return Refused(spend_limit, is_retryable=False)
    said = headers.get("x-should-retry")
    is_retryable = said == "true" if said in {"true", "false"} else status in RETRYABLE or status >= 500
    wait_s = _wait_s(headers)
    if is_retryable or status in RETRYABLE or status >= 500:
        later = TryAgainLater(
            f"{what}. Nothing was answered; run the same step again later.", retry_after_s=wait_s
        )
        return Refused(later, is_retryable=is_retryable, wait_s=wait_s)
    return Refused(_final_error(status, mask(headers.get("location", "nowhere")), what), is_retryable=False)


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
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in error.errors()[:5]
        )
        return Refused(
            InvalidReply(
                f"the model provider answered 200, but not with a message of the Messages API ({problems}). "
                "Check `COGWORKS_LLM_BASE_URL`; a proxy may have answered."
            ),
            is_retryable=False,
        )


def _error(body: bytes, mask: Callable[[str], str]) -> _ErrorAnswer:
    try:
        return _ErrorAnswer.model_validate_json(body)
    except ValidationError:
        # A proxy or a load balancer answered in its own words, which may be a whole page.
        page = mask(body.decode("utf-8", "replace"))
        return _ErrorAnswer(error=_Error(message=page[:_MAX_PAGE_CHARS]))


def _described(
    status: int, headers: Mapping[str, str], answer: _ErrorAnswer, mask: Callable[[str], str]
) -> str:
    # Masked before it is cut: of a secret that is cut in two, nobody would know the half.
    message = mask(" ".join(answer.error.message.split()))[:_MAX_MESSAGE_CHARS] or "no explanation"
    request_id = headers.get("request-id") or answer.request_id
    named = f" (request {mask(request_id)})" if request_id else ""
    return f"the model provider answered {status} {mask(answer.error.type)}: {message.rstrip('.')}{named}"


def _spend_limit(status: int, answer: _ErrorAnswer, what: str) -> BudgetReached | None:
    code = answer.error.details.error_code if answer.error.details else None
    is_limit = code in _SPEND_LIMIT_CODES or (
        status in {400, 403, 429} and _SPEND_LIMIT_WORDS.search(answer.error.message) is not None
    )
    if status != 402 and not is_limit:
        return None
    return BudgetReached(
        f"{what}. The provider's own spend limit stops this account; raise it there or wait."
    )


def _final_error(status: int, target: str, what: str) -> CogworksError:
    if status in {401, 403}:
        return PermissionRefused(
            f"{what}. Check the API key (`COGWORKS_LLM_API_KEY`) and what its workspace may use."
        )
    if status == 404:
        return ConfigurationError("[llm]", [f"{what}; check `model` and `COGWORKS_LLM_BASE_URL`"])
    if status < 400:
        problem = f"{what}, pointing to {target!r}; name the final address"
        return ConfigurationError("COGWORKS_LLM_BASE_URL", [problem])
    if status == 413:
        return NodeFailed(f"{what}. The prompt is too long; split the issue or narrow the context.")
    return NodeFailed(f"{what}. The same request would be refused again.")


def _wait_s(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    seconds = _number(headers.get("retry-after"))
    return seconds if seconds is not None else _seconds_until(headers.get("retry-after"), headers.get("date"))


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text.strip()):
        return None
    return float(text)


def _seconds_until(moment: str | None, now: str | None) -> float | None:
    # The server's own Date: its clock set the time to wait for.
    then, start = _date(moment), _date(now)
    if then is None or start is None:
        return None
    return max(0.0, (then - start).total_seconds())


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


BASE_URL = "https://api.anthropic.com"
MAX_ATTEMPTS = 5
MAX_WAIT_S = 30 * 60.0
"""Of waiting altogether before the step gives its place to others."""

_BACKOFF_S = doubling(0.5, longest_s=30.0)
_JITTER = 0.25
_REPLY_TIMEOUT_S = 600.0
_SHORTEST_S = 0.01


class AnthropicProvider:
    """Speaks the Messages API; see `Provider` for what it raises. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        api_key: str,
        *,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
        base_url: str = BASE_URL,
        transport: httpx.BaseTransport | None = None,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
            sleep: waits so many seconds.
            jitter: 0.0 to 1.0, drawn anew at every call; shortens a wait by up to a quarter.
            base_url: scheme, host and an optional path; `/v1/messages` is added.
            transport: where requests go instead of the network.
            left_s: what is left of the time of whoever asks; nobody waits longer for a reply. None: no limit.

        Raises: ConfigurationError for a key no header can carry or a base URL that is none; neither is repeated in it.
        """
        self._key = _checked_key(api_key)
        self._url = endpoint(base_url)
        self._sleep = sleep
        self._left_s = left_s
        self._jitter = jitter
        headers = request_headers(self._key)
        self._client = httpx.Client(headers=headers, transport=transport, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AnthropicProvider(url={_shown(self._url)!r})"

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def complete(self, request: ModelRequest) -> ModelReply:
        """Send until there is a reply, the error is final, five attempts are made or the waits pass 30 minutes."""
        policy = Policy(MAX_ATTEMPTS - 1, pause=self._backoff_s, longest_s=MAX_WAIT_S, left_s=self._left_s)

        def attempt() -> ModelReply:
            answer = self._send(request)
            if isinstance(answer, ModelReply):
                return answer
            if not answer.is_retryable:
                raise answer.error
            raise Again(policy, partial(_given_up, answer.error), wait_s=answer.wait_s) from answer.error

        return retried(attempt, sleep=self._sleep)

    def _send(self, request: ModelRequest) -> ModelReply | Refused:
        try:
            response = self._client.post(self._url, json=request_body(request), timeout=self._timeout())
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError) as error:
            return self._failed(error)
        return decipher(response.status_code, response.headers, response.content, mask=self._masked)

    def _masked(self, text: str) -> str:
        """What a server says, without the key that it may quote."""
        return masked(text, [self._key])

    def _timeout(self) -> httpx.Timeout:
        left_s = self._left_s()
        read_s = _REPLY_TIMEOUT_S if left_s is None else max(_SHORTEST_S, min(_REPLY_TIMEOUT_S, left_s))
        return httpx.Timeout(connect=min(5.0, read_s), read=read_s, write=min(60.0, read_s), pool=5.0)

    def _failed(self, error: Exception) -> Refused:
        found = self._masked(str(error)) or "no details"
        what = (
            f"the model provider at {_shown(self._url)} could not be asked: {type(error).__name__}: {found}"
        )
        if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
            problem = f"{what}. Check the address and the key"
            return Refused(ConfigurationError("COGWORKS_LLM_BASE_URL", [problem]), is_retryable=False)
        later = TryAgainLater(
            f"{what}. Check the network, then run the same step again.",
            is_timeout=isinstance(error, httpx.TimeoutException),
        )
        # After ten minutes without an answer the reply may well be paid for; asking again would pay it again.
        return Refused(later, is_retryable=not isinstance(error, httpx.ReadTimeout))

    def _backoff_s(self, failures: int) -> float:
        return _BACKOFF_S(failures) * (1.0 - _JITTER * self._jitter())


def _given_up(error: CogworksError, end: End) -> CogworksError:
    if end.longest_s is None:
        return error
    message = f"{error} It asks for {end.wait_s:.0f} s, more than the {end.longest_s:.0f} s a step waits."
    return TryAgainLater(message, retry_after_s=end.wait_s)


def _checked_key(api_key: str) -> str:
    key = cleaned(api_key)
    if problem := credential_problem(key):
        raise ConfigurationError("COGWORKS_LLM_API_KEY", [problem])
    return key


def endpoint(base_url: str) -> httpx.URL:
    """Where questions are sent.

    Raises:
        ConfigurationError: the base URL is none, or would carry the key in the clear.
    """
    try:
        url = httpx.URL(base_url.strip().rstrip("/") + "/v1/messages")
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    problem = None
    if url.scheme not in {"http", "https"} or not url.host:
        problem = f"is no web address; set it to one like {BASE_URL}"
    elif url.query or url.fragment:
        problem = "carries a query or a fragment; name only scheme, host and path"
    elif url.scheme == "http" and not is_loopback(url.host):
        https = url.copy_with(scheme="https", userinfo=b"", path=url.path.removesuffix("/v1/messages"))
        problem = f"would send the API key unencrypted to {url.host!r}; use {https}"
    if problem is not None:
        raise ConfigurationError("COGWORKS_LLM_BASE_URL", [problem])
    return url


def _shown(url: httpx.URL) -> str:
    return str(url.copy_with(userinfo=b""))
