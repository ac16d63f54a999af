"""How is a question said in Anthropic's Messages API, and what does the answer mean?

Pure: what comes in is status, headers and bytes, what comes out is a reply or the error to raise. The rules follow
https://platform.claude.com/docs/en/api/errors and the behaviour of the vendor's own client.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import BaseModel, ValidationError

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


class _Counts(BaseModel):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


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
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "output_config": {"format": {"type": "json_schema", "schema": request.output_schema}},
    }
    return {**body, "system": request.system} if request.system else body


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
        return ConfigurationError(
            "COGWORKS_LLM_BASE_URL", [f"{what}, pointing to {target!r}; name the final address"]
        )
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
