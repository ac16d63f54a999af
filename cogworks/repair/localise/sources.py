"""Source text as compilers count its lines."""

import re

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_of(text: str) -> list[str]:
    """The lines with their ends; a form feed, unlike with `str.splitlines`, does not end one."""
    return _LINE.findall(text)
