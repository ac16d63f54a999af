"""A message of the Messages API as it comes in events; whole, it is the message that would have come without a stream.

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from cogworks.llm.provider import BROKEN_OFF, ModelReply, Usage
from cogworks.llm.providers.events import Event, tokens_of
from cogworks.llm.providers.refusals import Complaint, Count, Mask, Refused, broken_off, no_reply, refused

_WANTED = "a stream of the Messages API"
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that an error would have had as an answer; 500 for any other."""
_SAID = ("text", "thinking", "partial_json")


class _Counts(BaseModel):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


class _Message(BaseModel):
    model: str
    usage: _Counts


class _Block(BaseModel):
    type: str
    text: str = ""


class _Delta(BaseModel):
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _StreamPart(BaseModel):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Counts | None = None


class MessageAssembly:
    """See `Assembly`."""

    def __init__(
        self,
        read: Callable[[bytes], ModelReply | Refused],
        complain: Callable[[bytes, Mask], Complaint],
        *,
        mask: Mask,
    ) -> None:
        """Args:
        read: what a message that came whole means.
        complain: what the body of an error says.
        """
        self._read = read
        self._complain = complain
        self._mask = mask
        self._model: str | None = None
        self._counts: dict[str, int] = {}
        self._types: dict[int, str] = {}
        self._texts: dict[int, list[str]] = {}
        self._stop_reason: str | None = None
        self.is_over = False
        self.said_bytes = 0

    def add(self, event: Event) -> bool | Refused:
        try:
            part = _StreamPart.model_validate_json(event.data)
        except ValidationError as error:
            return no_reply(error, wanted=_WANTED)
        if part.type == "error":
            complaint = self._complain(event.data.encode(), self._mask)
            return refused(_STATUSES.get(complaint.kind, 500), {}, complaint, mask=self._mask)
        self._take(part)
        return part.type != "ping"

    def _take(self, part: _StreamPart) -> None:
        if part.message is not None:
            self._model = part.message.model
            self._count(part.message.usage)
        if part.content_block is not None:
            self._types[part.index] = part.content_block.type
            self._say(part.index, part.content_block.text, part.content_block.text)
        if part.delta is not None:
            new_text = "".join(getattr(part.delta, name) for name in _SAID)
            self._say(part.index, part.delta.text, new_text)
            self._stop_reason = part.delta.stop_reason or self._stop_reason
        if part.usage is not None:
            self._count(part.usage)
        self.is_over = part.type == "message_stop"

    def _say(self, index: int, text: str, new_text: str) -> None:
        self._texts.setdefault(index, []).append(text)
        self.said_bytes += len(new_text.encode())

    def _count(self, counts: _Counts) -> None:
        # Each count is a sum so far, and what is left out has not changed.
        self._counts |= counts.model_dump(exclude_none=True)

    def reply(self) -> ModelReply | Refused:
        if not self.is_over:
            return broken_off("it ended without `message_stop`")
        return self._read(json.dumps(self._whole()).encode())

    def _whole(self) -> Mapping[str, Any]:
        content = [
            {"type": kind, "text": "".join(self._texts.get(index, ()))}
            for index, kind in sorted(self._types.items())
        ]
        return {
            "content": content, "model": self._model, "stop_reason": self._stop_reason, "usage": self._counts,
        }  # fmt: skip

    def so_far(self) -> ModelReply | None:
        if self._model is None:
            return None
        usage = Usage.model_validate(self._counts)
        # The first count is of the beginning; who breaks off never reports the rest.
        output_tokens = max(usage.output_tokens, tokens_of(self.said_bytes))
        text = "".join(piece for index in sorted(self._texts) for piece in self._texts[index])
        return ModelReply(
            text=text, stop_reason=BROKEN_OFF, model=self._model,
            usage=usage.model_copy(update={"output_tokens": output_tokens}),
        )  # fmt: skip
