"""Which lines of a text look like secrets? Named by their place; what stands there is never repeated."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from cogworks.codebase.changes import FileChange

_TOKENS = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})")),
    ("an AWS key id", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a model provider's key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    ("a GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    ("a Google key", re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b")),
    ("a key of a payment service", re.compile(r"\b[sr]k_live_[A-Za-z0-9]{20,}")),
    ("a token of a package registry", re.compile(r"\b(?:npm_[A-Za-z0-9]{36}\b|pypi-AgEI[A-Za-z0-9_-]{40,})")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}")),
    ("a JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
)
"""What nobody writes by chance."""
_PASSWORD = (
    "a password or key",
    re.compile(
        r"(?i)\b\w{0,60}(?:password|passwd|secret|api_?key|access_?token)\w{0,60}\s{0,20}[:=]\s{0,20}[\"'][^\"'\s{}$<>]{12,}[\"']"
    ),
)
"""Tests have made-up ones, so only diffs of code are measured by it."""
_NAMED = re.compile(
    r"(?i)(?:password|passwd|secret|token|credential|api_?key|access_?key|private_?key|auth)\w{0,40}[\"']?\s{0,20}[:=]\s{0,20}"
    # Without quotation marks it may be code, with a dot or an underscore it is.
    r"(?:[\"'](?P<quoted>[A-Za-z0-9+=_.~-][A-Za-z0-9+/=_.~-]{19,200})|(?P<bare>[A-Za-z0-9+/=-]{20,200}))"
)
_IN_URL = re.compile(r"://[^\s/:@\"']{1,100}:(?P<quoted>[^\s/:@\"']{16,200})@")
_MADE_UP = re.compile(
    r"(?i)example|test|dummy|fake|sample|placeholder|change|your|mock|redacted|xxx|1234|abcd|\*\*\*"
)
_RANDOM_BITS = 3.4
"""Bits for each character: words have less, keys and hexadecimal digits more."""


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
        else:
            if any(map(_is_random, _named(text))):
                yield number, "a random key that is called a secret"


def _named(text: str) -> Iterator[str]:
    """The values that are called secrets."""
    for form in (_NAMED, _IN_URL):
        for found in form.finditer(text):
            yield next(value for value in found.groups() if value is not None)


def _is_random(value: str) -> bool:
    """Whether this was drawn and not thought up: letters and digits in no order that people write."""
    if (
        _MADE_UP.search(value)
        or sum(char.isdigit() for char in value) < 3
        or not re.search("[A-Za-z]", value)
    ):
        return False
    counts, length = Counter(value), len(value)
    return -sum(count / length * math.log2(count / length) for count in counts.values()) >= _RANDOM_BITS


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
