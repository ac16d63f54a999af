"""Plausible mistakes in a piece of Python: one token or one line of it is otherwise."""

import ast
import io
import tokenize
from collections.abc import Collection, Iterator

from cogworks.codebase.diffmodel import lines_of

_SWAPPED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "and": "or",
    "or": "and",
    "+": "-",
    "-": "+",
    "*": "+",
    "in": "not in",
    "is": "is not",
    "True": "False",
    "False": "True",
    "if": "if not",
    "not": "",
    "break": "continue",
    "continue": "break",
    "any": "all",
    "all": "any",
    "None": "False",
}


def mutants(text: str, lines: Collection[int]) -> Iterator[str]:
    """The text with one token of these lines swapped, one number off by one, or one of the lines gone; what parses.

    Args:
        lines: from 1.
    """
    seen = {text}
    for candidate in (*_with_a_token_swapped(text, lines), *_with_a_line_gone(text, lines)):
        if candidate not in seen and _parses(candidate):
            seen.add(candidate)
            yield candidate


def _with_a_token_swapped(text: str, lines: Collection[int]) -> Iterator[str]:
    there = lines_of(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (line, first), (_, last) = token.start, token.end
        new = _mutated(token)
        if new is not None and line in lines and line == token.end[0]:
            changed = there[line - 1][:first] + new + there[line - 1][last:]
            yield "".join((*there[: line - 1], changed, *there[line:]))


def _mutated(token: tokenize.TokenInfo) -> str | None:
    if token.type == tokenize.NUMBER and token.string.isdecimal():
        return str(int(token.string) + 1)
    return _SWAPPED.get(token.string) if token.type in (tokenize.OP, tokenize.NAME) else None


def _with_a_line_gone(text: str, lines: Collection[int]) -> Iterator[str]:
    there = lines_of(text)
    for line in sorted(lines):
        old = there[line - 1]
        if old.strip():
            blank = old[: len(old) - len(old.lstrip())]
            yield "".join((*there[: line - 1], f"{blank}pass\n", *there[line:]))
            yield "".join((*there[: line - 1], *there[line:]))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
