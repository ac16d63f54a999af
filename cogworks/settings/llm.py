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


class ModelChoice(Value):
    """`[llm.nodes.<node>]` and `[llm.lanes.<lane>]`: who is asked in the place of `[llm] model`."""

    model: str = Field(min_length=1)


class LlmConfig(Value):
    """`[llm]`: which model is asked."""

    model: str = Field(min_length=1)
    """An exact model id, e.g. `claude-sonnet-5-5`; no "latest" alias."""
    provider: Literal["anthropic", "openai", "bedrock", "vertex", "command", "cassette"] = "anthropic"
    api: Literal["auto", "responses", "chat"] = "auto"
    """How the provider `openai` is spoken to; `auto`: the Responses API at OpenAI, Chat Completions anywhere else."""
    max_output_tokens: int = Field(default=16_000, ge=256, le=128_000)
    stall_timeout_s: float = Field(default=300.0, ge=1, le=3600)
    """How long one waits for the next part of a reply."""
    nodes: Mapping[str, ModelChoice] = Field(default_factory=dict)
    """By node; goes before the lane's."""
    lanes: Mapping[str, ModelChoice] = Field(default_factory=dict)
    """By pipeline, built in or declared."""
    fallback_model: str = ""
    """Who is asked where a model is overloaded; empty: nobody."""
    prices: Mapping[str, Price] = Field(default_factory=dict)
    """Additions to and corrections of the built-in price table."""

    @property
    def named(self) -> tuple[str, ...]:
        """Every model that may be asked, the usual one first."""
        others = [choice.model for choice in (*self.nodes.values(), *self.lanes.values())]
        return tuple(dict.fromkeys(name for name in (self.model, *others, self.fallback_model) if name))

    def visiting(self, node: str, lane: str) -> "LlmConfig":
        """The same, with the model that is asked in a visit of a node as the usual one."""
        choice = self.nodes.get(node) or self.lanes.get(lane)
        return self.model_copy(update={"model": choice.model}) if choice else self
