"""A provider that hears the first question and answers none."""

from cogworks.errors import TryAgainLater
from cogworks.llm.provider import ModelReply, ModelRequest


class Listener:
    """Remembers the first request; obeys `cogworks.llm.provider.Provider`."""

    def __init__(self) -> None:
        self.request: ModelRequest | None = None

    def complete(self, request: ModelRequest) -> ModelReply:
        """Raises: TryAgainLater, always."""
        self.request = self.request or request
        raise TryAgainLater("nobody is asked: this only shows what would be sent")
