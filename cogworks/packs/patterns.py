"""The patterns that packs declare: which are refused because a text may keep them busy for ever, and which paths fit."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from re import _parser  # type: ignore[attr-defined]  # typeshed leaves out what parses patterns
from typing import Any

_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ENDLESS = (
    "repeats a group in which something else is repeated, optional or one of several (`|`), which can take for ever; "
    "write it with one repeat and without such a group"
)


def checked_regex(pattern: str) -> str:
    """The pattern.

    Raises:
        ValueError: it is no regular expression, or one that can take for ever on a text that nearly fits.
    """
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"is no regular expression: {error}"
        raise ValueError(message) from None
    if _is_endless(_parser.parse(pattern), is_repeated=False):
        raise ValueError(_ENDLESS)
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


def fits(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path fits one of some patterns."""
    return any(_glob(pattern).fullmatch(path) for pattern in patterns)


def _is_endless(items: Any, *, is_repeated: bool) -> bool:
    """Whether a part that is repeated could divide the same text in many ways, which is tried way by way.

    The tree is that of the very parser which `re` compiles with: no second reading of the pattern can differ from it.
    """
    for kind, given in items:
        name = str(kind)
        if is_repeated and name in (*_REPEATS, "BRANCH", "GROUPREF_EXISTS") and not _is_fixed(name, given):
            return True
        repeats = is_repeated or (name in _REPEATS and given[1] > 1)
        if any(_is_endless(part, is_repeated=repeats) for part in _parts(given)):
            return True
    return False


def _is_fixed(name: str, given: Any) -> bool:
    return name in _REPEATS and given[0] == given[1]


def _parts(given: Any) -> Iterator[Any]:
    """The patterns inside one item, however deep its arguments hold them."""
    if isinstance(given, _parser.SubPattern):
        yield given
    elif isinstance(given, (list, tuple)):
        for each in given:
            yield from _parts(each)


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    """`*` and `?` stay in their folder, `**/` is any number of folders."""
    anywhere = "" if "/" in pattern.rstrip("/") else "**/"
    below = "**" if pattern.endswith("/") else ""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", f"{anywhere}{pattern.removeprefix('/')}{below}")
    made = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(made.get(part, re.escape(part)) for part in parts))
