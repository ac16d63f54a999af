"""What the door needs of a reply that comes in events, whoever the provider is."""

from typing import Protocol

from cogworks.llm.provider import ModelReply
from cogworks.llm.providers.events import Event
from cogworks.llm.providers.refusals import Refused

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
        """What is paid for already, told or estimated; None: the reply has not begun."""


def tokens_of(said_bytes: int) -> int:
    """The most tokens that so many bytes stand for."""
    return -(-said_bytes // BYTES_PER_TOKEN)
