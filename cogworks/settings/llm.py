"""The table `[llm]` of `.cogworks/config.toml`: which model is asked, and what it costs."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from cogworks.vocabulary import Value


class Price(Value):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float = Field(ge=0)
    cache_read: float = Field(ge=0)


class LlmConfig(Value):
    """`[llm]`: which model is asked."""

    model: str = Field(min_length=1)
    """An exact model id, e.g. `claude-sonnet-5-5`; no "latest" alias."""
    provider: Literal["anthropic", "openai", "command", "cassette"] = "anthropic"
    max_output_tokens: int = Field(default=16_000, ge=256, le=128_000)
    stall_timeout_s: float = Field(default=300.0, ge=1, le=3600)
    """How long one waits for the next part of a reply."""
    prices: Mapping[str, Price] = Field(default_factory=dict)
    """Additions to and corrections of the built-in price table."""
