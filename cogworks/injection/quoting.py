"""How the words of an attack are shown: on one line, short, between backticks that they cannot leave."""

from cogworks.injection.folding import visible
from cogworks.leaving import in_markdown

MAX_CHARS = 120


def quoted(said: str) -> str:
    """The words without anything that acts where they are shown, fit to stand between backticks."""
    line = " ".join(in_markdown(visible(said)).replace("`", "'").split())
    return line if len(line) <= MAX_CHARS else f"{line[: MAX_CHARS - 2]} …"


def mark(kinds: tuple[str, ...]) -> str:
    """What is said of a text beside its name, where a model reads it; empty where nothing was found."""
    return f"; contaminated: {', '.join(sorted(set(kinds)))}" if kinds else ""
