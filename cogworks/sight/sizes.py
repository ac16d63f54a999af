"""How much room a text takes in a prompt."""

BYTES_PER_TOKEN = 3
"""As estimates of cost count: rather too many than too few."""


def tokens_of(text: str) -> int:
    """Tokens that a text takes, as estimates count them."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)
