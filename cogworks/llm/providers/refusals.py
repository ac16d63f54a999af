"""What does an answer over HTTP mean that is no reply, with any provider?

Pure: what comes in is status, headers and what the error says, what comes out is the error to raise.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Annotated

from pydantic import Field, ValidationError

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
from cogworks.llm.provider import ModelReply

RETRYABLE = frozenset({408, 409, 429})
"""Besides every status from 500 up."""
OVERLOAD = frozenset({503, 529})

_SPEND_LIMIT_CODES = frozenset(
    {"enforced_spend_limit_reached", "insufficient_quota", "billing_hard_limit_reached"}
)
_SPEND_LIMIT_WORDS = re.compile(r"specified (\w+ )?API usage limits|credit balance is too low", re.IGNORECASE)
_MAX_MESSAGE_CHARS = 500
_MAX_PAGE_CHARS = 200

Mask = Callable[[str], str]
"""Takes secrets out of a text."""

# A negative count would give money back to the budget, and no reply of any model has a billion tokens.
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""A number of tokens that a provider may report."""


@dataclass(frozen=True)
class Refused:
    """An answer that is no reply."""

    error: CogworksError
    """What to raise when the request is not sent again."""
    is_retryable: bool
    wait_s: float | None = None
    """How long the server asks to wait, in seconds; None when it does not say."""
    partial: ModelReply | None = None
    """What came of a reply that broke off; None: nothing of it is paid for."""


@dataclass(frozen=True)
class Complaint:
    """What the body of an error says."""

    message: str
    kind: str = "error"
    codes: frozenset[str] = frozenset()
    """Everything in it that may name a reason, e.g. `insufficient_quota`."""
    request_id: str = ""


def page(body: bytes, mask: Mask) -> Complaint:
    """What a proxy or a load balancer says in its own words, which may be a whole page."""
    return Complaint(message=mask(body.decode("utf-8", "replace"))[:_MAX_PAGE_CHARS])


API_KEY = "Check the API key (`COGWORKS_LLM_API_KEY`) and what its workspace may use"


def refused(
    status: int, headers: Mapping[str, str], complaint: Complaint, *, mask: Mask, credentials: str = API_KEY
) -> Refused:
    """What an error means.

    Args:
        credentials: what to check where the server refuses who we are.
        headers: names in lower case or a mapping that ignores case.
        mask: takes secrets out of what is repeated of the server's words.
    """
    what = _described(status, headers, complaint, mask)
    spend_limit = _spend_limit(status, complaint, what)
    if spend_limit is not None:
        return Refused(spend_limit, is_retryable=False)
    should_retry = headers.get("x-should-retry")
    is_retryable = (
        should_retry == "true" if should_retry in {"true", "false"} else status in RETRYABLE or status >= 500
    )
    wait_s = _wait_s(headers)
    if is_retryable or status in RETRYABLE or status >= 500:
        later = TryAgainLater(
            f"{what}. Nothing was answered; run the same step again later.",
            retry_after_s=wait_s,
            is_overload=status in OVERLOAD,
        )
        return Refused(later, is_retryable=is_retryable, wait_s=wait_s)
    if status in {401, 403}:
        return Refused(PermissionRefused(f"{what}. {credentials}."), is_retryable=False)
    return Refused(_final_error(status, mask(headers.get("location", "nowhere")), what), is_retryable=False)


def broken_off(problem: str) -> Refused:
    """The refusal of a stream that ended before its reply was whole."""
    error = TryAgainLater(
        f"the stream of the model provider broke off: {problem}. Run the same step again later."
    )
    return Refused(error, is_retryable=True)


def no_reply(wrong: str | ValidationError, *, wanted: str) -> Refused:
    """The refusal of an answer with status 200 that has not the form of a reply.

    Args:
        wrong: what is wrong with it.
        wanted: what it should have been, e.g. `a message of the Messages API`.
    """
    problems = wrong if isinstance(wrong, str) else _problems(wrong)
    return Refused(
        InvalidReply(
            f"the model provider answered 200, but not with {wanted} ({problems}). "
            "Check `COGWORKS_LLM_BASE_URL`; a proxy may have answered."
        ),
        is_retryable=False,
    )


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in error.errors()[:5]
    )


def _described(status: int, headers: Mapping[str, str], complaint: Complaint, mask: Mask) -> str:
    # Masked before it is cut: of a secret that is cut in two, nobody would know the half.
    message = mask(" ".join(complaint.message.split()))[:_MAX_MESSAGE_CHARS] or "no explanation"
    request_id = headers.get("request-id") or headers.get("x-request-id") or complaint.request_id
    named = f" (request {mask(request_id)})" if request_id else ""
    return f"the model provider answered {status} {mask(complaint.kind)}: {message.rstrip('.')}{named}"


def _spend_limit(status: int, complaint: Complaint, what: str) -> BudgetReached | None:
    is_limit = bool(complaint.codes & _SPEND_LIMIT_CODES) or (
        status in {400, 403, 429} and _SPEND_LIMIT_WORDS.search(complaint.message) is not None
    )
    if status != 402 and not is_limit:
        return None
    return BudgetReached(
        f"{what}. The provider's own spend limit stops this account; raise it there or wait."
    )


def _final_error(status: int, target: str, what: str) -> CogworksError:
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
    # What `float` takes for blanks is less than what `strip` does.
    digits = (text or "").strip()
    return float(digits) if re.fullmatch(r"\d{1,12}(\.\d{1,6})?", digits) else None


def _seconds_until(moment: str | None, now: str | None) -> float | None:
    # The server's own Date: its clock set the time to wait for.
    then, start = _date(moment), _date(now)
    if then is None or start is None:
        return None
    return max(0.0, (then - start).total_seconds())


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return date if date is not None and date.tzinfo is not None else None


def without(answer: ModelReply | Refused, secrets: Collection[str]) -> ModelReply | Refused:
    """The same where no reply says a secret.

    The server at the address knows the key, and may say it: what a reply says goes to prompts and the ledger.
    """
    reply = answer if isinstance(answer, ModelReply) else answer.partial
    if reply is None:
        return answer
    text = reply.text
    for secret in secrets:
        # A shorter one is a word by chance.
        if len(secret) >= UNMISTAKABLE_CHARS:
            text = text.replace(secret, HIDDEN)
    clean = reply if text == reply.text else reply.model_copy(update={"text": text})
    return clean if isinstance(answer, ModelReply) else replace(answer, partial=clean)
