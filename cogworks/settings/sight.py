"""The table `[sight]` of `.cogworks/config.toml`: how much of the repository a model sees and how often it may look."""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from cogworks.vocabulary import Value

DEFAULT_TURNS: Mapping[str, int] = MappingProxyType(
    {
        "intake": 4,
        "architecture": 8,
        "interface_design": 8,
        "planning": 4,
        "code_generation": 24,
        "review": 6,
    }
)
"""By node; one that a repository wrote has `OTHER_TURNS`."""
OTHER_TURNS = 6


class SightConfig(Value):
    """`[sight]`: what a prompt shows of the repository, and how often its reader may look further."""

    first_view_tokens: int = Field(default=12_000, ge=1_000, le=200_000)
    """The room of the files in the first prompt of a question."""
    max_turns: dict[str, int] = Field(default_factory=dict)
    """Node -> how many turns of looks its questions have together in one visit; 0: it answers at once."""
    max_tokens: int = Field(default=300_000, ge=1_000)
    """Input of one visit, cached input included; beyond it the model is told to answer with what it knows."""

    def turns(self, node: str) -> int:
        """How many turns of looks a visit of a node has."""
        return self.max_turns.get(node, DEFAULT_TURNS.get(node, OTHER_TURNS))
