"""What may leave for people, models and logs: nothing that is secret, and words of others only to be read.

One function for each destination. A zero-width space keeps a word as people see it and takes its effect. What goes to GitHub
goes without tokens of known services: a model may repeat one that it read.
"""

import re
from collections.abc import Iterable, Mapping

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_INERT = "\u200b"
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")
_MENTION = re.compile(r"(?<![\w/])@(?=[A-Za-z0-9])")
_CLOSING = re.compile(
    r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=(?:\s*+:)?\s++(?:[\w./-]*#\d|gh-\d|https?://))",
    re.IGNORECASE,
)
_SKIP = re.compile(r"\[(?=(?:skip ci|ci skip|no ci|skip actions|actions skip)\])", re.IGNORECASE)
_TRAILER = re.compile(r"^([ \t]*[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)(?=[ \t]*:)", re.MULTILINE)
_IMAGE = re.compile(r"!(?=\[)|<(?=img\b|image\b|picture\b|source\b|video\b|svg\b|!--)", re.IGNORECASE)


def on_terminal(text: str) -> str:
    """Without what moves a cursor, colours, or turns the direction of a line."""
    return _UNSEEN.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def in_log_of_actions(text: str) -> str:
    """As on a terminal, and no line is a command of the workflow's runner."""
    return re.sub(r"^(\s*)(?=::|##\[)", rf"\1{_INERT}", on_terminal(text), flags=re.MULTILINE)


def in_markdown(text: str) -> str:
    """A part of a body: it calls nobody, closes nothing, hides nothing and loads nothing from elsewhere."""
    return _IMAGE.sub(lambda match: "" if match[0] == "!" else "&lt;", _calm(text))


def in_code(text: str) -> str:
    """As code on one line of a body: it addresses nobody, links nowhere and ends no line."""
    plain = " ".join(masked(on_terminal(text), is_code=True).replace("`", "'").split())
    return f"`{plain}`"


def in_title(text: str) -> str:
    """One line for a title or the headline of a commit."""
    return " ".join(_SKIP.sub(rf"[{_INERT}", _calm(text)).split())


def in_commit_message(text: str) -> str:
    """A part of a commit's message that is no trailer and switches no check off."""
    return _TRAILER.sub(rf"\1{_INERT}", _SKIP.sub(rf"[{_INERT}", _calm(text)))


def _calm(text: str) -> str:
    plain = masked(on_terminal(text), is_code=True)
    return _CLOSING.sub(rf"\1{_INERT}", _MENTION.sub(f"@{_INERT}", plain))


def called(name: str) -> str:
    """A person called by their login; what is no login, e.g. an App's name, only named."""
    return f"@{name}" if _LOGIN.fullmatch(name) else name


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
_AFTER_ESCAPE = r"(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})"
"""Behind a line end, say, as a text in JSON has it: what looks like a letter there is none."""
_SHAPES_IN_CODE = re.compile(rf"(?:(?<![\w-])|{_AFTER_ESCAPE})(?:{_TOKENS})(?![\w-])")
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
    """The values of variables whose names are those of secrets."""
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
