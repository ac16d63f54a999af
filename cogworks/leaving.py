"""What other people's and models' words may do where they are shown: be read, and nothing else.

One function for each destination. A zero-width space keeps a word as people see it and takes its effect. What goes to GitHub
goes without tokens of known services: a model may repeat one that it read.
"""

import re

from cogworks.masking import masked

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
    return _IMAGE.sub(lambda found: "" if found[0] == "!" else "&lt;", _calm(text))


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
