"""A real HTTP server on loopback that speaks the Messages API, or Chat Completions, as it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from cogworks.llm.provider import Usage
from tests.limits import ENDS_WITHIN_S


@dataclass(frozen=True)
class Answer:
    """One HTTP answer."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None
    """The body as it comes to be; it ends with the connection."""
    is_cut: bool = False
    """Whether the connection breaks before the body is whole."""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: Message
    body: dict[str, Any]


def replied(
    text: str, *, usage: Usage | None = None, stop_reason: str = "end_turn", model: str = "claude-sonnet-5-5"
) -> Answer:
    """A finished message, a thinking block first."""
    counts = usage or Usage(input_tokens=3, output_tokens=5)
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "thinking", "thinking": "…", "signature": "s"}, {"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "usage": counts.model_dump(),
    }
    return Answer(200, json.dumps(message).encode())


FINISH_REASONS = {"end_turn": "stop", "max_tokens": "length", "refusal": "stop"}


def counted(usage: Usage) -> dict[str, Any]:
    """Tokens as Chat Completions tells them."""
    return {
        "prompt_tokens": usage.total_input,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_input + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_input_tokens,
            "cache_write_tokens": usage.cache_creation_input_tokens,
        },
    }


def completed(
    text: str | None,
    *,
    usage: Usage | None = None,
    stop_reason: str = "end_turn",
    model: str = "claude-sonnet-5-5",
    **message: Any,
) -> Answer:
    """A finished completion of Chat Completions; `message` adds to what was said."""
    counts = usage or Usage(input_tokens=3, output_tokens=5)
    said = {"role": "assistant", "content": text, "refusal": None, **message}
    if stop_reason == "refusal":
        said |= {"content": None, "refusal": text}
    finished = FINISH_REASONS.get(stop_reason, stop_reason)
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": finished, "logprobs": None}],
        "usage": counted(counts),
    }
    return Answer(200, json.dumps(completion).encode(), {"content-type": "application/json"})


def response(
    text: str,
    *,
    usage: Usage | None = None,
    stop_reason: str = "end_turn",
    model: str = "claude-sonnet-5-5",
    **more: Any,
) -> dict[str, Any]:
    """A finished response of the Responses API, reasoning first."""
    counts = usage or Usage(input_tokens=3, output_tokens=5)
    said = (
        {"type": "refusal", "refusal": text}
        if stop_reason == "refusal"
        else {"type": "output_text", "text": text}
    )
    reason = {"max_tokens": "max_output_tokens"}.get(stop_reason, stop_reason)
    is_whole = stop_reason in {"end_turn", "refusal"}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed" if is_whole else "incomplete",
        "incomplete_details": None if is_whole else {"reason": reason},
        "error": None,
        "model": model,
        "output": [
            {"id": "rs_1", "type": "reasoning", "summary": []},
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [said]},
        ],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": counts.total_input,
            "input_tokens_details": {"cached_tokens": counts.cache_read_input_tokens},
            "output_tokens": counts.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counts.total_input + counts.output_tokens,
        },
        **more,
    }  # fmt: skip


def responded(text: str, **how: Any) -> Answer:
    """The same as an answer."""
    return Answer(200, json.dumps(response(text, **how)).encode(), {"content-type": "application/json"})


def declined(status: int, text: str, *, code: str | None = None, param: str | None = None) -> Answer:
    """An error in the form of Chat Completions."""
    error = {"message": text, "type": "invalid_request_error", "param": param, "code": code}
    return Answer(status, json.dumps({"error": error}).encode(), {"content-type": "application/json"})


def failed(status: int, kind: str = "api_error", **headers: str) -> Answer:
    """An error in the provider's own form."""
    error = {"type": "error", "error": {"type": kind, "message": "scripted"}}
    return Answer(status, json.dumps(error).encode(), headers)


def _length(answer: Answer) -> dict[str, str]:
    if answer.pieces is not None and not answer.is_cut:
        return {}
    return {"content-length": str(len(answer.body) + 1_000_000 * answer.is_cut)}


Says = Answer | None | Callable[[Seen], Answer]
"""An answer, None to hang up, or what decides when it is asked; it may wait, for every request has a thread."""


class ModelServer:
    """Gives its answers in their order; remembers what it saw."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._answers: list[Says] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answers(self, *answers: Says) -> None:
        self._answers = list(answers)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(timeout=ENDS_WITHIN_S)
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model_server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                seen = Seen(self.command, self.path, self.headers, body)
                model_server.seen.append(seen)
                said = model_server._answers.pop(0)
                answer = said(seen) if callable(said) else said
                if answer is None:
                    return
                self.send_response(answer.status)
                for name, value in {**answer.headers, **_length(answer)}.items():
                    self.send_header(name, value)
                self.end_headers()
                # Whoever gives up hangs up.
                with suppress(ConnectionError):
                    self.wfile.write(answer.body)
                    for piece in answer.pieces() if answer.pieces else ():
                        self.wfile.write(piece)

            def log_message(self, *_: object) -> None:
                """Nothing: a test says itself what it saw."""

        return Handler
