"""What pytest does not know: options, keys, marks and fixtures, and the plugin that each belongs to."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from cogworks.services.python.recipe.pytest_settings import (
    plugin_of_fixture,
    plugin_of_key,
    plugin_of_mark,
    plugin_of_option,
)

_MOST_OTHERS = 5
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_FROM_WHERE = "name the package of the plugin that brings it under `[environment]` in `.cogworks/config.toml` (`packages`)"


class _Sign(NamedTuple):
    """Words of pytest, what they name, whose that is, and what to do where that is unknown."""

    pattern: re.Pattern[str]
    what: str
    plugin: Callable[[str], str | None]
    otherwise: str


_SIGNS = (
    _Sign(
        re.compile(r"unrecognized arguments: (?P<names>[^\n]{1,1000})"),
        "The option {} of pytest",
        plugin_of_option,
        f"is known to no plugin that is installed: {_FROM_WHERE}, or take it out of the configuration of pytest.",
    ),
    _Sign(
        re.compile(r"Unknown config option: (?P<names>[\w.-]{1,100})"),
        "The setting {} of pytest",
        plugin_of_key,
        f"is known to no plugin that is installed: {_FROM_WHERE}, or take it out of the configuration of pytest.",
    ),
    _Sign(
        re.compile(r"'(?P<names>[^'\n]{1,100})' not found in `markers` configuration option"),
        "The mark {} of tests",
        plugin_of_mark,
        "is not declared, and marks have to be here (`--strict-markers`): add it to `markers` in the configuration of pytest "
        f"on the base branch, or {_FROM_WHERE}.",
    ),
    _Sign(
        re.compile(r"fixture '(?P<names>[^'\n]{1,100})' not found"),
        "The fixture {} of tests",
        plugin_of_fixture,
        f"is defined nowhere: {_FROM_WHERE}, or define it in a `conftest.py` of the base branch.",
    ),
)


def asked_of_plugins(errors: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is known to belong to a plugin, in words, with that plugin's distribution; and a sentence for everything else.

    Args:
        errors: what pytest said.
    """
    known: dict[str, str] = {}
    others: list[str] = []
    for sign, name in dict.fromkeys(pair for error in errors for pair in _named(error)):
        what = sign.what.format(f"`{name}`")
        if plugin := sign.plugin(name):
            known[what] = plugin
        else:
            others.append(f"{what} {sign.otherwise}")
    return known, tuple(others[:_MOST_OTHERS])


def _named(error: str) -> Iterator[tuple[_Sign, str]]:
    for sign in _SIGNS:
        for match in sign.pattern.finditer(error):
            names = match["names"]
            if sign.plugin is plugin_of_option:
                yield from ((sign, each) for each in _OPTION.findall(_without_values(names)))
            else:
                yield sign, names


def _without_values(words: str) -> str:
    return " ".join(word.partition("=")[0] for word in words.split() if word.startswith("-"))
