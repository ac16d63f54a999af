"""A provider that says how long it has been waited for, and how much it has said: a reply may take minutes."""

from collections.abc import Callable

from cogworks.llm.counting import counted_by
from cogworks.llm.provider import ModelReply, ModelRequest, Provider
from cogworks.telling import During

LONGEST_S = 3600.0
"""What is said where whoever asks has no limit of their own."""
_BYTES_PER_TOKEN = 4


class Heard:
    """How much of the reply that is waited for has come."""

    def __init__(self, silence_s: float | None = None) -> None:
        """Args:
        silence_s: without a word after which the wait ends, whatever its limit; None: nobody ends it for that.
        """
        self.said_bytes = 0
        self._silence_s = silence_s

    def __call__(self, said_bytes: int) -> None:
        self.said_bytes = said_bytes

    def words(self) -> str:
        """Empty where nothing is known."""
        if self.said_bytes:
            return f"about {self.said_bytes // _BYTES_PER_TOKEN:,} tokens so far"
        return "" if self._silence_s is None else f"no word yet; {self._silence_s:.0f} s of silence end it"


class ToldProvider:
    """Answers as another provider, and tells of each question while its answer is waited for."""

    def __init__(
        self,
        provider: Provider,
        during: During,
        *,
        heard: Heard | None = None,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
        heard: what the other provider tells of each part of a reply.
        """
        self._provider = provider
        self._during = during
        self._heard = heard or Heard()
        self._left_s = left_s

    def complete(self, request: ModelRequest) -> ModelReply:
        """As the other provider does, its waits for a server that is busy included."""
        left_s = self._left_s()
        self._heard(0)
        limit_s = LONGEST_S if left_s is None else left_s
        with self._during(f"waiting for {request.model}", limit_s, self._heard.words):
            return self._provider.complete(request)

    def count(self, request: ModelRequest) -> int | None:
        """As the other provider does; a count is no question."""
        return counted_by(self._provider, request)
