"""The events of a stream of Amazon's (`application/vnd.amazon.eventstream`), put together of its bytes by the vendor's own reader."""

import base64
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from botocore.eventstream import EventStreamBuffer, EventStreamMessage, ParserError

from cogworks.llm.providers.events import Event

STREAM_TYPE = "application/vnd.amazon.eventstream"
_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "accessDeniedException": "permission_error",
        "internalServerException": "api_error",
        "modelStreamErrorException": "api_error",
        "modelTimeoutException": "timeout_error",
        "serviceUnavailableException": "overloaded_error",
        "throttlingException": "rate_limit_error",
        "validationException": "invalid_request_error",
    }
)
"""Amazon's exceptions within a stream, in the words of the Messages API."""


class AwsEvents:
    """Reads a stream piece by piece, as `Events` does."""

    def __init__(self) -> None:
        self._buffer = EventStreamBuffer()
        self.pending_bytes = 0
        """Of a message that has not ended yet."""

    def after(self, piece: bytes) -> Iterator[Event]:
        """The events that end with this piece.

        Raises:
            ValueError: it is no such stream.
        """
        self._buffer.add_data(piece)
        self.pending_bytes += len(piece)
        try:
            for message in self._buffer:
                self.pending_bytes -= message.prelude.total_length
                yield _event(message)
        except (ParserError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a stream of Amazon's: {error}") from error


def _event(message: EventStreamMessage) -> Event:
    headers = message.headers
    said = json.loads(message.payload)
    if headers.get(":message-type") == "event":
        return Event("", base64.b64decode(said["bytes"], validate=True).decode())
    kind = str(headers.get(":exception-type") or headers.get(":error-code") or "error")
    error = {"type": _KINDS.get(kind, "api_error"), "message": str(said.get("message", kind))}
    return Event("error", json.dumps({"type": "error", "error": error}))
