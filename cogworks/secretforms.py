"""What does a secret look like? Forms that nobody writes by chance, and random values that are called secrets."""

import math
import re
from collections import Counter
from collections.abc import Iterator

WITHHELD = "[a secret stood here]"
"""In the place of a secret that a model wrote: no text that people write, and nothing that a file may hold."""
_BEGINS = r"(?:\b|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"
"""Also behind a line end, say, as a text in JSON has it: what looks like a letter there is none."""
TOKENS = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")),
    (
        "a GitHub token",
        re.compile(rf"{_BEGINS}(?:gh[pousr]_[A-Za-z0-9]{{30,}}|github_pat_[A-Za-z0-9_]{{30,}})"),
    ),
    ("an AWS key id", re.compile(rf"{_BEGINS}(?:AKIA|ASIA)[A-Z0-9]{{16}}\b")),
    ("a model provider's key", re.compile(rf"{_BEGINS}sk-[A-Za-z0-9_-]{{20,}}")),
    ("a GitLab token", re.compile(rf"{_BEGINS}glpat-[A-Za-z0-9_-]{{20,}}")),
    ("a Google key", re.compile(rf"{_BEGINS}AIza[A-Za-z0-9_-]{{35}}\b")),
    ("a key of a payment service", re.compile(rf"{_BEGINS}[sr]k_live_[A-Za-z0-9]{{20,}}")),
    (
        "a token of a package registry",
        re.compile(rf"{_BEGINS}(?:npm_[A-Za-z0-9]{{36}}\b|pypi-AgEI[A-Za-z0-9_-]{{40,}})"),
    ),
    ("a Hugging Face token", re.compile(rf"{_BEGINS}hf_[A-Za-z0-9]{{30,}}")),
    ("a Slack token", re.compile(rf"{_BEGINS}xox[abprs]-[A-Za-z0-9-]{{10,}}")),
    (
        "a JSON web token",
        re.compile(rf"{_BEGINS}eyJ[A-Za-z0-9_-]{{10,}}\.eyJ[A-Za-z0-9_-]{{10,}}\.[A-Za-z0-9_-]{{10,}}"),
    ),
    ("a secret that was taken out of the reply", re.compile(re.escape(WITHHELD))),
)
"""What nobody writes by chance."""
_HEADS = {
    "a GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "an AWS key id": ("AKIA", "ASIA"),
    "a model provider's key": ("sk-",),
    "a GitLab token": ("glpat-",),
    "a Google key": ("AIza",),
    "a key of a payment service": ("k_live_",),
    "a token of a package registry": ("npm_", "pypi-"),
    "a Hugging Face token": ("hf_",),
    "a Slack token": ("xox",),
    "a JSON web token": ("eyJ",),
}
"""One of these stands in each of them. What holds none is not searched: what a form begins with keeps it from being searched fast."""
_QUOTE = r"\\{0,3}[\"']"
"""Also in a text of JSON, and in one that stands in another."""
_NAMED = re.compile(
    r"(?i)(?:password|passwd|secret|token|credential|api_?key|access_?key|private_?key|auth)\w{0,40}"
    rf"(?:{_QUOTE})?\s{{0,20}}[:=]\s{{0,20}}"
    # Without quotation marks it may be code, with a dot or an underscore it is.
    rf"(?:{_QUOTE}(?P<quoted>[A-Za-z0-9+=_.~-][A-Za-z0-9+/=_.~-]{{19,200}})|(?P<bare>[A-Za-z0-9+/=-]{{20,200}}))"
)
_IN_URL = re.compile(r"://[^\s/:@\"']{1,100}:(?P<quoted>[^\s/:@\"'\\]{16,200})@")
_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:\\+[nrt]|\s)*[A-Za-z0-9+/=]{16}(?:\\+[nrt]|[A-Za-z0-9+/=]|\s)*"
    r"(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----)?"
)
_MADE_UP = re.compile(
    r"(?i)example|test|dummy|fake|sample|placeholder|change|your|mock|redacted|xxx|1234|abcd|\*\*\*"
)
_RANDOM_BITS = 3.4
"""Bits for each character: words have less, keys and hexadecimal digits more."""


def random_values(text: str) -> Iterator[str]:
    """The values in a text that are called secrets, and were drawn and not thought up."""
    return (text[begin:end] for begin, end in _random_places(text))


def secret_places(text: str) -> Iterator[tuple[int, int]]:
    """Where in a text something begins and ends that looks like a secret; a private key with its whole block."""
    # The first of the forms is the head of a block; a head alone opens nothing.
    for form in (_KEY_BLOCK, *(form for name, form in TOKENS[1:-1] if may_hold(text, name))):
        yield from (match.span() for match in form.finditer(text))
    yield from _random_places(text)


def may_hold(text: str, name: str) -> bool:
    """Whether a token of this name can stand in a text; a megabyte takes a millisecond."""
    return any(head in text for head in _HEADS[name])


def _random_places(text: str) -> Iterator[tuple[int, int]]:
    """Where values that are called secrets stand."""
    for form in (_NAMED, _IN_URL):
        for match in form.finditer(text):
            name = next(name for name, value in match.groupdict().items() if value is not None)
            if _is_random(match[name]):
                yield match.span(name)


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
