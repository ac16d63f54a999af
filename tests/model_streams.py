"""Replies as events, in the form of the Messages API and of Chat Completions."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from cogworks.llm.provider import Usage
from tests.asked import MODEL
from tests.model_server import FINISH_REASONS, Answer, counted, response

PIECE_CHARS = 3


def event(kind: str, **fields: Any) -> bytes:
    """One event of the Messages API."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def message_events(
    text: str, *, usage: Usage | None = None, stop_reason: str = "end_turn", thinking: str = "hm"
) -> list[bytes]:
    """A message in pieces, a thinking block first; the last event is its end."""
    counts = (usage or Usage(input_tokens=3, output_tokens=5)).model_dump()
    started: dict[str, object] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {**counts, "output_tokens": 1},
    }  # fmt: skip
    blocks = [
        ({"type": "thinking", "thinking": "", "signature": ""}, [{"type": "thinking_delta", "thinking": thinking}]),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": each} for each in pieces(text)]),
    ]  # fmt: skip
    found = [event("message_start", message=started), event("ping")]
    for index, (block, deltas) in enumerate(blocks):
        found.append(event("content_block_start", index=index, content_block=block))
        found += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        found.append(event("content_block_stop", index=index))
    ended = {"stop_reason": stop_reason, "stop_sequence": None}
    last = event("message_delta", delta=ended, usage={"output_tokens": counts["output_tokens"]})
    return [*found, last, event("message_stop")]


def chunk(**fields: Any) -> bytes:
    """One chunk of Chat Completions."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": MODEL}
    return f"data: {json.dumps({**head, 'choices': [], **fields})}\n\n".encode()


def delta(*, finish_reason: str | None = None, **said: Any) -> bytes:
    """A chunk with a part of the message."""
    return chunk(choices=[{"index": 0, "delta": said, "finish_reason": finish_reason}])


def completion_chunks(
    text: str, *, usage: Usage | None = None, stop_reason: str = "end_turn", thinking: str = "hm"
) -> list[bytes]:
    """A completion in chunks, reasoning first; the last one is its end."""
    name = "refusal" if stop_reason == "refusal" else "content"
    finished = FINISH_REASONS.get(stop_reason, stop_reason)
    return [
        delta(role="assistant", content=""),
        delta(reasoning_content=thinking),
        *(delta(**{name: each}) for each in pieces(text)),
        delta(finish_reason=finished),
        chunk(usage=counted(usage or Usage(input_tokens=3, output_tokens=5))),
        b"data: [DONE]\n\n",
    ]


def told(kind: str, **fields: Any) -> bytes:
    """One event of the Responses API."""
    return event(f"response.{kind}", sequence_number=0, **fields)


def response_events(
    text: str, *, usage: Usage | None = None, stop_reason: str = "end_turn", thinking: str = "hm"
) -> list[bytes]:
    """A response in pieces, reasoning first; the last event holds it whole."""
    whole = response(text, usage=usage, stop_reason=stop_reason)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    kind = "refusal" if stop_reason == "refusal" else "output_text"
    return [
        told("created", response=begun),
        told("in_progress", response=begun),
        told("reasoning_summary_text.delta", item_id="rs_1", output_index=0, summary_index=0, delta=thinking),
        *(told(f"{kind}.delta", delta=each, **place) for each in pieces(text)),
        told("completed" if whole["status"] == "completed" else "incomplete", response=whole),
    ]


def pieces(text: str) -> list[str]:
    """A text in short pieces."""
    return [text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)]


def streamed(events: Sequence[bytes], *, is_cut: bool = False) -> Answer:
    """These events as an answer.

    Args:
        is_cut: the connection breaks behind them; else it ends as if that were all.
    """

    def sent() -> Iterator[bytes]:
        yield from events

    return Answer(200, b"", {"content-type": "text/event-stream; charset=utf-8"}, pieces=sent, is_cut=is_cut)
