"""The table `[audit]` of `.cogworks/config.toml`: what the ledger keeps of the questions to the model."""

from typing import Literal

from pydantic import Field

from cogworks.vocabulary import Value


class AuditConfig(Value):
    """`[audit]`: what the ledger keeps of the questions to the model besides their digests."""

    prompts: Literal["digest", "full"] = "digest"
    """`full`: the words of every prompt, without secrets."""
    max_prompt_tokens: int = Field(default=20_000, ge=1, le=25_000)
    """Of one text that is kept, at four characters each; what is beyond is cut."""
