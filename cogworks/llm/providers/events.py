"""The events of a stream (`text/event-stream`), put together of its bytes, and what a reply that comes in events has to say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from cogworks.llm.provider import ModelReply
from cogworks.llm.providers.refusals import Refused

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""A carriage return at the end of what has come may be half of a line end."""


@dataclass(frozen=True)
class Event:
    """One event as the server sent it."""

    kind: str
    data: str


class Events:
    """Reads a stream piece by piece; comments, which only keep a connection alive, are no events."""

    def __init__(self) -> None:
        self._rest = b""
        self._kind = ""
        self._data: list[str] = []

    @property
    def pending_bytes(self) -> int:
        """Of an event that has not ended yet."""
        return len(self._rest) + sum(map(len, self._data))

    def after(self, piece: bytes) -> Iterator[Event]:
        """The events that end with this piece, each before the next is read.

        Raises:
            UnicodeDecodeError: a line is not UTF-8.
        """
        *lines, self._rest = _LINE_END.split(self._rest + piece)
        for line in lines:
            event = self._after_line(line.decode())
            if event is not None:
                yield event

    def _after_line(self, line: str) -> Event | None:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._kind = value
            return None
        event = Event(self._kind, "\n".join(self._data)) if self._data else None
        self._kind, self._data = "", []
        return event


BYTES_PER_TOKEN = 3
"""Low on purpose, as for estimates: what a stream said before it broke off is rather counted too high."""


class Assembly(Protocol):
    """One reply as it grows."""

    @property
    def is_over(self) -> bool:
        """Whether the stream said that nothing follows."""

    @property
    def said_bytes(self) -> int:
        """Of everything the model has said so far, what it thought included."""

    def add(self, event: Event) -> bool | Refused:
        """Whether an event brought something of the reply, or why the stream is none. Never raises."""

    def reply(self) -> ModelReply | Refused:
        """The message that the same answer would have been without a stream; a refusal where its end is missing."""

    def so_far(self) -> ModelReply | None:
        """What is paid for already, reported or estimated; None: the reply has not begun."""


def tokens_of(said_bytes: int) -> int:
    """The most tokens that so many bytes stand for."""
    return -(-said_bytes // BYTES_PER_TOKEN)
