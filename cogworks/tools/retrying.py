"""When a failed call is made again, and how long to wait before it."""

from cogworks.canonical import sha256
from cogworks.tools.registry import Tool
from cogworks.vocabulary import Value

RETRYABLE = frozenset({"timeout", "unavailable", "rate_limited"})
"""Codes of failures that may go away."""


class Retries(Value):
    """How often and how fast."""

    max_attempts: int = 3
    base_s: float = 0.5
    cap_s: float = 8.0
    seed: str = ""
    """Of the run; equal seeds wait equally long."""

    def may_follow(self, attempt: int, tool: Tool, code: str) -> bool:
        """Whether another attempt may follow this one: only of what does no harm twice, only where it may help."""
        return tool.may_repeat and code in RETRYABLE and attempt < self.max_attempts

    def delay_s(self, step: str, attempt: int) -> float:
        """How long to wait before an attempt; the first waits for nothing."""
        if attempt <= 1:
            return 0.0
        fraction = int(sha256(f"{self.seed}/{step}/{attempt}")[:8], 16) / 0xFFFFFFFF
        # Between half and the whole: many runs that failed together do not come back together.
        whole_s = min(self.cap_s, self.base_s * 2.0 ** (attempt - 2))
        return round(whole_s * (0.5 + fraction / 2), 3)
