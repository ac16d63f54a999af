"""Reads TOML, INI and lists of requirements that somebody else wrote, whatever stands there."""

import configparser
import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.utils import canonicalize_name

from cogworks.toml_text import tables_in

_COMMENT = re.compile(r"(^|\s)#.*$")
_MOST_LOCK_CHARS = 8 * 1024**2


def toml(text: str) -> tuple[dict[str, Any], str]:
    """A document, and why there is none."""
    try:
        return tables_in(text), ""
    except (ValueError, RecursionError) as error:
        return {}, str(error).splitlines()[0][:200] or type(error).__name__


def ini(text: str) -> tuple[dict[str, dict[str, str]], str]:
    """Section -> option -> text, and why there is none; options are in small letters but for those of `setenv`."""
    parser = configparser.RawConfigParser(
        strict=False, default_section="\0", delimiters=("=", ":"), comment_prefixes=("#", ";")
    )
    parser.optionxform = str.lower  # type: ignore[assignment, method-assign]  # configparser takes it by assignment
    try:
        parser.read_string(text)
        return {section: dict(parser.items(section)) for section in parser.sections()}, ""
    except (configparser.Error, ValueError, AttributeError, TypeError) as error:
        return {}, str(error).splitlines()[0][:200]


def table(data: Any, *keys: str) -> Mapping[str, Any]:
    """A table below others; empty where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def strings(value: Any) -> tuple[str, ...]:
    """The strings of a list, whatever somebody wrote there."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def one_or_more(value: Any) -> tuple[str, ...]:
    """A string, or those of a list."""
    return (value,) if isinstance(value, str) else strings(value)


def named(declared: Mapping[str, Any]) -> dict[str, Any]:
    """The same with names in their normal form."""
    return {canonical(name): value for name, value in declared.items()}


def canonical(name: str) -> str:
    """The normal form of the name of a distribution, extra or group."""
    return str(canonicalize_name(name))


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, continued ones joined, each with the number it begins at."""
    begun, kept = 0, list[str]()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        begun = begun if kept else number
        bare = _COMMENT.sub("", line)
        if bare.endswith("\\"):
            kept.append(bare[:-1])
            continue
        whole = " ".join((*kept, bare)).strip()
        kept = []
        if whole:
            yield begun, whole
    if whole := " ".join(kept).strip():
        yield begun, whole
