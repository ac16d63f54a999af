"""Which issues a text speaks of."""

import re

_FENCED = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`|<!--.*?-->", re.MULTILINE | re.DOTALL)
_MENTION = re.compile(r"(?<![\w/&#])(?:(?P<owner>[\w.-]+)/(?P<name>[\w.-]+))?#(?P<number>[1-9]\d*)\b")
_URL = re.compile(
    r"https?://[^\s/]+/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/(?:issues|pull)/(?P<number>[1-9]\d*)\b"
)
_CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?#(?P<number>[1-9]\d*)\b",
    re.IGNORECASE,
)


def mentioned_numbers(text: str | None, full_name: str) -> tuple[int, ...]:
    """Numbers of this repository's issues that a Markdown text links to, each once, in order of appearance.

    `#12`, `owner/name#12` and issue URLs count; code and HTML comments do not.
    """
    prose = _FENCED.sub(" ", text or "")
    found = sorted((*_MENTION.finditer(prose), *_URL.finditer(prose)), key=lambda match: match.start())
    numbers = [
        int(match["number"])
        for match in found
        if match["owner"] is None or f"{match['owner']}/{match['name']}".lower() == full_name.lower()
    ]
    return tuple(dict.fromkeys(numbers))


def closing_numbers(text: str | None) -> tuple[int, ...]:
    """Numbers of the issues that merging a pull request with this text closes ("Fixes #12")."""
    prose = _FENCED.sub(" ", text or "")
    return tuple(dict.fromkeys(int(match["number"]) for match in _CLOSING.finditer(prose)))
