"""A completion of Chat Completions as it comes in chunks; whole, it is the completion that would have come without a stream."""

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from cogworks.llm.budget import upper_bound
from cogworks.llm.provider import BROKEN_OFF, ModelReply, ModelRequest
from cogworks.llm.providers.events import Event, tokens_of
from cogworks.llm.providers.refusals import Complaint, Mask, Refused, broken_off, no_reply, refused

_WANTED = "a stream of the Chat Completions API"
_END = "[DONE]"
_LEAST_ERROR, _LAST_STATUS = 400, 599


class _Delta(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    """What the model thinks aloud, as some servers call it."""
    reasoning_content: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(BaseModel):
    index: int = 0
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: list[_Choice] = []
    model: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class ChatAssembly:
    """See `Assembly`."""

    def __init__(
        self,
        request: ModelRequest,
        read: Callable[[bytes], ModelReply | Refused],
        complain: Callable[[bytes, Mask], Complaint],
        *,
        mask: Mask,
    ) -> None:
        """Args:
        request: what was asked.
        read: what a completion that came whole means.
        complain: what the body of an error says.
        """
        self._request = request
        self._read = read
        self._complain = complain
        self._mask = mask
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[Any] = []
        self._model: str | None = None
        self._usage: dict[str, Any] | None = None
        self._finish_reason: str | None = None
        self._has_begun = False
        self.is_over = False
        self.said_bytes = 0

    def add(self, event: Event) -> bool | Refused:
        if event.data.strip() == _END:
            self.is_over = True
            return False
        try:
            chunk = _Chunk.model_validate_json(event.data)
        except ValidationError as error:
            return no_reply(error, wanted=_WANTED)
        if chunk.error is not None:
            complaint = self._complain(event.data.encode(), self._mask)
            return refused(_status(complaint), {}, complaint, mask=self._mask)
        self._model = chunk.model or self._model
        self._usage = chunk.usage or self._usage
        news = [self._take(choice) for choice in chunk.choices if choice.index == 0]
        return any(news) or bool(chunk.usage)

    def _take(self, choice: _Choice) -> bool:
        delta = choice.delta
        self._content.append(delta.content or "")
        self._refusal.append(delta.refusal or "")
        calls = [*(delta.tool_calls or ()), *([delta.function_call] if delta.function_call else ())]
        self._calls += calls
        self._finish_reason = choice.finish_reason or self._finish_reason
        texts = (delta.content, delta.refusal, delta.reasoning, delta.reasoning_content)
        new_bytes = sum(len(each.encode()) for each in texts if each) + sum(len(str(call)) for call in calls)
        self.said_bytes += new_bytes
        # Some servers send chunks with nothing in them to keep a connection alive.
        is_news = bool(new_bytes or choice.finish_reason)
        self._has_begun = self._has_begun or is_news
        return is_news

    def reply(self) -> ModelReply | Refused:
        # Not every server says `[DONE]`; a reason to have finished is the end as well.
        if self._finish_reason is None:
            return broken_off("it ended without a `finish_reason`")
        message = {
            "content": "".join(self._content),
            "refusal": "".join(self._refusal) or None,
            "tool_calls": self._calls or None,
        }
        choices = [{"message": message, "finish_reason": self._finish_reason}]
        return self._read(
            json.dumps({"choices": choices, "model": self._model, "usage": self._usage}).encode()
        )

    def so_far(self) -> ModelReply | None:
        if not self._has_begun:
            return None
        # What a prompt has cost is reported at the end alone.
        usage = upper_bound(self._request).model_copy(update={"output_tokens": tokens_of(self.said_bytes)})
        return ModelReply(
            text="".join(self._content), stop_reason=BROKEN_OFF, usage=usage, model=self._model or self._request.model
        )  # fmt: skip


def _status(complaint: Complaint) -> int:
    """The status that an error would have had as an answer."""
    statuses = (int(code) for code in complaint.codes if code.isdecimal() and len(code) == 3)
    known = [status for status in statuses if _LEAST_ERROR <= status <= _LAST_STATUS]
    return known[0] if known else _NAMED.get(complaint.kind, 500)


_NAMED = {"invalid_request_error": 400, "authentication_error": 401, "rate_limit_error": 429}
