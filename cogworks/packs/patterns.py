"""The patterns that packs declare: what is one, what fits it, and which paths fit.

The author of a change is not the author of the pattern, so no text may keep a pattern busy: the engine takes time in
proportion to the text, whatever the pattern.
"""

import re
from collections.abc import Sequence
from functools import cache

import re2

_QUIET = re2.Options()
_QUIET.log_errors = False
_BEYOND = (
    "; it is RE2 that reads patterns (https://github.com/google/re2/wiki/Syntax), which knows no look-around, no back-references and no "
    "more than 1000 repeats, so that no text can keep it busy for ever"
)


class Regex:
    """A regular expression, ready to be searched for."""

    def __init__(self, pattern: str) -> None:
        """Raises: ValueError: it is no regular expression, or needs more than an engine without backtracking can do."""
        try:
            self._compiled = re2.compile(pattern.encode(), _QUIET)
        except re2.error as error:
            message = f"is no regular expression: {_reason(error)}{_BEYOND}"
            raise ValueError(message) from None

    def is_in(self, text: str) -> bool:
        """Whether a part of a text fits. Never raises."""
        return self._compiled.search(_encoded(text)) is not None

    def is_whole(self, text: str) -> bool:
        """Whether all of a text fits. Never raises."""
        return self._compiled.fullmatch(_encoded(text)) is not None


@cache
def regex(pattern: str) -> Regex:
    """A pattern that was checked before; see `Regex`."""
    return Regex(pattern)


def checked_regex(pattern: str) -> str:
    """The pattern.

    Raises:
        ValueError: it is none, see `Regex`.
    """
    Regex(pattern)
    return pattern


def checked_glob(pattern: str) -> str:
    """The pattern.

    Raises:
        ValueError: it holds what would mean something to git and means nothing here.
    """
    if strange := sorted({*pattern} & {"[", "]", "\\"}):
        message = f"holds `{strange[0]}`; a pattern of paths knows `*`, `?` and `**` only, so write one pattern for each of several"
        raise ValueError(message)
    if pattern.startswith("!"):
        message = "begins with `!`; a pattern of paths says what fits, never what does not"
        raise ValueError(message)
    return pattern


def checked_place(path: str) -> str:
    """The path of one file of another repository.

    Raises:
        ValueError: it is no such path, or of a folder that nobody is shown.
    """
    parts = path.split("/")
    if path != path.strip() or not path.isprintable() or ":" in path or {"", ".", ".."} & {*parts}:
        message = "is no path of a file below the root of a repository, like `src/uart.rs`"
        raise ValueError(message)
    if parts[0].casefold() in (".cogworks", ".git"):
        message = f"lies in `{parts[0]}/`, which nobody is shown: scenarios are held back there"
        raise ValueError(message)
    return path


def fits(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path fits one of some patterns."""
    return any(_glob(pattern).is_whole(path) for pattern in patterns)


def _reason(error: Exception) -> str:
    """What the engine says, which it says in bytes."""
    message = error.args[0] if error.args else error
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


def _encoded(text: str) -> bytes:
    # A path or a line that is no UTF-8 carries surrogates, which have no bytes of their own.
    return text.encode("utf-8", "replace")


@cache
def _glob(pattern: str) -> Regex:
    """`*` and `?` stay in their folder, `**/` is any number of folders."""
    anywhere = "" if "/" in pattern.rstrip("/") else "**/"
    below = "**" if pattern.endswith("/") else ""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", f"{anywhere}{pattern.removeprefix('/')}{below}")
    expressions = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return Regex("(?s)" + "".join(expressions.get(part, re2.escape(part)) for part in parts))
