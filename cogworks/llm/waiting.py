"""A provider that says how long it has been waited for: a reply may take minutes."""

from collections.abc import Callable

from cogworks.llm.provider import ModelReply, ModelRequest, Provider
from cogworks.telling import During

LONGEST_S = 3600.0
"""What is said where whoever asks has no limit of their own."""


class ToldProvider:
    """Answers as another provider, and tells of each question while its answer is waited for."""

    def __init__(
        self, provider: Provider, during: During, *, left_s: Callable[[], float | None] = lambda: None
    ) -> None:
        self._provider = provider
        self._during = during
        self._left_s = left_s

    def complete(self, request: ModelRequest) -> ModelReply:
        """As the other provider does, its waits for a server that is busy included."""
        left_s = self._left_s()
        with self._during(f"waiting for {request.model}", LONGEST_S if left_s is None else left_s):
            return self._provider.complete(request)
