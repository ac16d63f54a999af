"""What to do where a build of Java wants packages that are not on this machine; pure rules from words."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple


class _Store(NamedTuple):
    said: re.Pattern[str]
    """How the tool says that something is missing and that it may not fetch it."""
    remedy: str


_FILLED = "let a step before cogworks run `{line}` as the same user, which fills `{folder}`"
_STORES: Mapping[str, _Store] = MappingProxyType(
    {
        "maven": _Store(
            re.compile(r"in offline mode|has not been downloaded from it before"),
            f"Maven fetches nothing here: {_FILLED.format(line='mvn -B test', folder='~/.m2/repository')}. "
            "With the packages of Debian alone: `MAVEN_OPTS`, see docs/environments.md.",
        ),
        "gradle": _Store(
            re.compile(r"available for offline mode"),
            f"Gradle fetches nothing here: {_FILLED.format(line='gradle test', folder='~/.gradle/caches')}, "
            "with Gradle 6.2 or newer.",
        ),
    }
)


def not_fetched(runner: str, errors: Iterable[str]) -> tuple[str, ...]:
    """How the packages come onto this machine; nothing where none of the errors is about that."""
    store = _STORES.get(runner)
    return (store.remedy,) if store and any(store.said.search(each) for each in errors) else ()
