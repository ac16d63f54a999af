"""The table `[context_packs]` of `.cogworks/config.toml`: which packs there are besides the repository's own, and their room."""

from typing import Literal

from pydantic import Field

from cogworks.vocabulary import Value

ShippedPack = Literal["python-library", "rust-embedded-safety"]


class ContextPackConfig(Value):
    """`[context_packs]`; the repository's own are in `.cogworks/context-packs/`."""

    shipped: tuple[ShippedPack, ...] = ()
    """Packs that ship with cogworks and are considered, too."""
    max_tokens: int = Field(default=6_000, ge=500, le=50_000)
    """Of their texts in one prompt, at four characters each; documents beyond are left out whole."""
