"""Keeps what is secret out of text for people and models: errors, logs, comments, lines of progress, files that are shown."""

import re
from collections.abc import Iterable, Mapping

HIDDEN = "***"
UNMISTAKABLE_CHARS = 16
"""No word of a text is a secret of this length by chance."""

_SECRETIVE = ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY")
"""In the names of variables whose values are hidden wherever they turn up."""
MIN_SECRET_CHARS = 6
"""A shorter value of a declared secret would hide half of every text."""
_TOKEN_CHARACTER = re.compile(r"[\w-]")
_TOKENS = (
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9_-]{16,}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}"
)
_SHAPES = re.compile(
    rf"{_TOKENS}|eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]+"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    # A password with `/`, `?` or `#` in it is no address any more, and a secret all the same; what begins like a port is none.
    r"|(?<=://)(?:[^/\s?#@:]*:(?![0-9]{1,5}(?:[/?#]|\Z))[^\s@'\"]*|[^/\s?#]+)(?=@)|(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9._~+/=-]{8,}"
)
_ESCAPED = r"(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})"
"""Behind a line end, say, as a text in JSON has it: what looks like a letter there is none."""
_SHAPES_IN_CODE = re.compile(rf"(?:(?<![\w-])|{_ESCAPED})(?:{_TOKENS})(?![\w-])")
"""In a file nearly every other shape is code, an example or plain English: `a basic Python-style call`."""


def masked(text: str, secrets: Iterable[str] = (), *, is_code: bool = False, mark: str = HIDDEN) -> str:
    """The text with a mark in the place of each secret and of what has the shape of one; masking twice changes nothing.

    A known secret of 16 characters or more is hidden wherever it stands, a shorter one only as a whole token: letters, digits, `_`
    and `-` beside it make it part of another word. So the key `k` is hidden in `Bearer k` and `?key=k`, not in `token`.

    Args:
        is_code: the text is a file that somebody may have to write again: only tokens of known services are hidden by their shape.
        mark: holds no secret and nothing of the shape of one.
    """
    shapes = _SHAPES_IN_CODE if is_code else _SHAPES
    # One that is made of asterisks hides itself, and would be hidden for ever.
    known = sorted({secret for secret in secrets if secret.strip("*")}, key=lambda each: (-len(each), each))
    form = re.compile("|".join(map(_form, known))) if known else None
    before = None
    # What one replacement brings together may be a secret with asterisks in it.
    while text != before:
        before = text
        text = shapes.sub(mark, form.sub(mark, text) if form else text)
    return text


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables whose names tell of a secret."""
    return tuple(
        value
        for name, value in environment.items()
        if len(value) >= MIN_SECRET_CHARS and any(word in name.upper() for word in _SECRETIVE)
    )


def _form(secret: str) -> str:
    """A pattern that finds the secret."""
    if len(secret) >= UNMISTAKABLE_CHARS:
        return re.escape(secret)
    before = r"(?<![\w-])" if _TOKEN_CHARACTER.match(secret[0]) else ""
    after = r"(?![\w-])" if _TOKEN_CHARACTER.match(secret[-1]) else ""
    return f"{before}{re.escape(secret)}{after}"
