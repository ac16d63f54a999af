"""Reads TOML that others wrote: whatever stands there, it takes little time and one kind of error."""

import re
import tomllib
from typing import Any

MAX_CHARS = 8 * 1024**2
"""As many as a large lock file has."""
MAX_KEY_PARTS = 50
_PART = re.compile(r"[ \t]*(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*")


def tables_in(text: str) -> dict[str, Any]:
    """The tables of a document.

    Raises:
        TOMLDecodeError: it is no TOML, or longer, deeper or stranger than people write it.
    """
    if problem := strangeness(text):
        raise tomllib.TOMLDecodeError(problem)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        # What `int` says of thousands of digits.
        raise tomllib.TOMLDecodeError(str(error)) from None


def strangeness(text: str) -> str:
    """Why a text is not even tried; empty where it is. For a key of many parts, the reader's time grows with their square."""
    if len(text) > MAX_CHARS:
        return f"it has {len(text)} characters, at most {MAX_CHARS} are read"
    parts = 0
    for piece in text.split("."):
        parts = parts + 1 if _PART.fullmatch(piece) else 0
        if parts > MAX_KEY_PARTS:
            return f"a key has more than {MAX_KEY_PARTS} parts"
    return ""
