"""The providers of models, by name: each has a module of that name in `cogworks.llm.providers`, which says how it is opened."""

from typing import Literal, get_args

ProviderName = Literal["anthropic", "openai", "bedrock", "vertex", "command", "cassette"]

PROVIDERS: tuple[str, ...] = get_args(ProviderName)
IN_ONE_PIECE: frozenset[ProviderName] = frozenset({"command"})
"""Those whose replies come as a whole, so that silence ends none of them."""
USUAL: ProviderName = "anthropic"
"""Who is asked where nobody names one."""
