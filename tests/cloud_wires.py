"""The clouds' forms of the Messages API, for tests that hold of every provider over HTTP."""

import base64
import binascii
import json
import re
import struct
from collections.abc import Callable
from dataclasses import replace

from botocore.session import Session

from cogworks.llm.provider import Provider
from cogworks.llm.providers.bedrock import BedrockProvider, Signature
from cogworks.llm.providers.vertex import Tokens, VertexProvider
from cogworks.llm.waiting import Waits
from tests.model_server import Answer, failed
from tests.model_streams import event, message_events
from tests.wires import WIRES, Wire

REGION, PROJECT = "eu-central-1", "my-project-1"
_EXCEPTIONS = {529: "serviceUnavailableException", 400: "validationException", 401: "accessDeniedException"}


class FakeCredentials:
    """A login whose token never ends; `key` is the token."""

    def __init__(self, key: str) -> None:
        self.token: str | None = None
        self._key = key
        self.refreshed = 0

    @property
    def valid(self) -> bool:
        return self.token is not None

    def refresh(self, request: object) -> None:
        self.refreshed += 1
        self.token = self._key


def session(secret_key: str = "k") -> Session:
    """Amazon's library with credentials that nobody gave out."""
    found = Session()
    found.set_credentials("an-access-key-id", secret_key)
    return found


def bedrock(
    key: str,
    *,
    sleep: Callable[[float], None],
    jitter: Callable[[], float],
    base_url: str,
    heard: Callable[[int], None],
    stall_s: float,
) -> Provider:
    waits = Waits(sleep, jitter, lambda: None, stall_s, heard)
    return BedrockProvider(Signature(REGION, session=session(key)), waits=waits, base_url=base_url)


def vertex(
    key: str,
    *,
    sleep: Callable[[float], None],
    jitter: Callable[[], float],
    base_url: str,
    heard: Callable[[int], None],
    stall_s: float,
) -> Provider:
    waits = Waits(sleep, jitter, lambda: None, stall_s, heard)
    tokens = Tokens(PROJECT, credentials=FakeCredentials(key))
    return VertexProvider(tokens, "europe-west1", waits=waits, base_url=f"{base_url}/v1")


def frame(payload: bytes, **headers: str) -> bytes:
    """One message of Amazon's kind of stream; `_` in the names of headers stands for `-`."""
    named = b"".join(
        bytes([len(name) + 1])
        + b":"
        + name.replace("_", "-").encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", len(named) + len(payload) + 16, len(named))
    body = prelude + struct.pack(">I", binascii.crc32(prelude)) + named + payload
    return body + struct.pack(">I", binascii.crc32(body))


def chunk(data: bytes) -> bytes:
    """What an event of the Messages API is there."""
    payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": "abc"}).encode()
    return frame(payload, message_type="event", event_type="chunk", content_type="application/json")


def _events(*args: object, **named: object) -> list[bytes]:
    told = message_events(*args, **named)  # type: ignore[arg-type]
    return [chunk(_data(each)) for each in told]


def _data(told: bytes) -> bytes:
    found = re.search(rb"^data: (.*)$", told, re.MULTILINE)
    assert found
    return found[1]


def _error(status: int, text: str) -> bytes:
    payload = json.dumps({"message": text}).encode()
    return frame(payload, message_type="exception", exception_type=_EXCEPTIONS[status])


def _failure(status: int, text: str, code: str) -> Answer:
    headers = {
        **failed(status).headers,
        "x-amzn-errortype": f"{code or 'AnException'}:http://internal.amazon.com/",
    }
    return Answer(status, json.dumps({"message": text}).encode(), headers)


_TOLD = WIRES["anthropic"]
CLOUD_WIRES = {
    "bedrock": replace(
        _TOLD,
        provider=bedrock,
        events=_events,
        failure=_failure,
        error=_error,
        tool_call=lambda: [chunk(_data(each)) for each in _TOLD.tool_call()],
        stream_type="application/vnd.amazon.eventstream",
        keep_alive=chunk(_data(event("ping"))),
        strange=chunk(b"1"),
    ),
    "vertex": replace(_TOLD, provider=vertex),
}
EVERY_WIRE: dict[str, Wire] = {**WIRES, **CLOUD_WIRES}
