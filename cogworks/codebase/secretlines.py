"""Which lines of a text look like secrets? Named by their place; what stands there is never repeated."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from cogworks.codebase.changes import FileChange

_TOKENS = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})")),
    ("an AWS key id", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a model provider's key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("a JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
)
"""What nobody writes by chance."""
_PASSWORD = (
    "a password or key",
    re.compile(
        r"(?i)\b\w*(?:password|passwd|secret|api_?key|access_?token)\w*\s*[:=]\s*[\"'][^\"'\s{}$<>]{12,}[\"']"
    ),
)
"""Tests have made-up ones, so only diffs of code are measured by it."""


def secrets_among(lines: Iterable[tuple[int, str]], *, passwords: bool = False) -> Iterator[tuple[int, str]]:
    """The numbers of the lines that look like a secret, each with what it looks like.

    Args:
        lines: numbers and texts.
        passwords: whether something called a password counts, too.
    """
    forms = (*_TOKENS, _PASSWORD) if passwords else _TOKENS
    for number, text in lines:
        for what, form in forms:
            if form.search(text):
                yield number, what
                break


def secrets_in(text: str, *, known: Collection[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """As `secrets_among`, of a whole text; lines that are `known` were there before."""
    return secrets_among(
        (number, line) for number, line in enumerate(text.splitlines(), 1) if line not in known
    )


def secret_refusal(changes: Sequence[FileChange], read: Callable[[str], str | None]) -> str | None:
    """Why some changes may not be written: a secret, with its place; None when there is none.

    Args:
        read: the text of a file as it is now.
    """
    problems = [
        f"{change.path!r} line {number} looks like {what}; use a placeholder, and say what has to be configured"
        for change in changes
        if change.action != "delete"
        for number, what in secrets_in(
            change.content, known=frozenset((read(change.path) or "").splitlines())
        )
    ]
    return "\n".join(problems) or None
