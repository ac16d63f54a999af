"""What a model is asked and what it answers, with any provider."""

from typing import Any, Literal, Protocol

from cogworks.canonical import canonical_text, sha256
from cogworks.errors import CogworksError
from cogworks.vocabulary import Value


class Message(Value):
    """One turn of the conversation."""

    role: Literal["user", "assistant"]
    text: str


class ModelRequest(Value):
    """Everything that decides the answer, and nothing that varies from run to run."""

    model: str
    system: str
    messages: tuple[Message, ...]
    output_schema: dict[str, Any]
    """JSON Schema the reply must fit (already reduced to what providers accept); empty: any text will do."""
    max_output_tokens: int
    purpose: str
    """Why it is asked, e.g. `code_generation-A-1`; names records, is never sent and is no part of the key."""
    goes_on: bool = False
    """Whether further turns are to be expected, so that a provider should keep what was read; no part of the key."""

    shown: tuple[dict[str, Any], ...] = ()
    """The files of the repository in the first prompt: path, level, tokens, score and reasons of each; never sent, no part of
    the key."""

    @property
    def key(self) -> str:
        """64 hex digits; equal for requests that are the same to a model."""
        return sha256(canonical_text(self.model_dump(mode="json", exclude={"purpose", "goes_on", "shown"})))


class Usage(Value):
    """Tokens as the provider counted them; total input is the three input figures added."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    @property
    def total_input(self) -> int:
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
        )


class ModelReply(Value):
    """One finished reply: its text blocks joined, why it stopped, what it cost in tokens."""

    text: str
    stop_reason: str
    usage: Usage
    model: str


BROKEN_OFF = "broken_off"
"""The stop reason of a reply that broke off: what came is paid for, and answers nothing."""


class BrokenReply(CogworksError):
    """A reply began, so that it is paid for as far as it came, and broke off.

    Args:
        error: what to raise when it is not asked for again.
        partial: the part that came; its stop reason is `BROKEN_OFF`.
        is_retryable: whether the same request may succeed at once.
    """

    def __init__(self, error: CogworksError, partial: ModelReply, *, is_retryable: bool) -> None:
        self.error = error
        self.partial = partial
        self.is_retryable = is_retryable
        super().__init__(str(error))


class Provider(Protocol):
    """Sends one request and waits for the whole reply.

    Raises: TryAgainLater, PermissionRefused, BudgetReached (the provider's own spend limit), InvalidReply,
    BrokenReply in the place of each of them where a part of the reply is paid for.
    """

    def complete(self, request: ModelRequest) -> ModelReply: ...
