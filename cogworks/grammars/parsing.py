"""From bytes to a syntax tree and what a query finds in it, within limits that hold for any bytes."""

import importlib
import re
import time
from functools import cache
from itertools import count
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Query, QueryCursor, QueryError, Tree

from cogworks.grammars.facts import Unreadable
from cogworks.grammars.spec import LanguageSpec

MAX_BYTES = 2_000_000
"""A longer file is hardly written by hand."""
_START_S, _S_PER_MB = 0.6, 2.0
"""Processor time for a parse: 20 times of what sources need."""
# Small, for the text of every node is asked for by such pieces; views instead of copies would crash the binding.
_CHUNK = 2_048
_PATIENCE = 16
"""The parser asks whether to go on several times a millisecond; every so many times the clock is looked at."""
MAX_DEPTH = 500
"""What is nested deeper is passed over: the engine's cursors pay for every level above."""
_MAX_UNCLOSED = 3_000
"""Inside of nested type arguments that never end, parsers look at no clock for minutes."""
_MAX_LOOSE = 2_000
"""Pieces next to each other that the grammar can make nothing of; finding something among more takes their square."""

_CAPTURE = re.compile(rb"@([\w.]+)")
Match = dict[str, list[Node]]


class Parsed(NamedTuple):
    """The tree of one file."""

    tree: Tree
    mistakes: tuple[Node, ...]
    """Errors and missing pieces, the outermost first, in the order of the file; at most `MAX_MISTAKES`."""


MAX_MISTAKES = 20


def parse(spec: LanguageSpec, data: bytes) -> Parsed | Unreadable:
    """The tree of a file, whatever its bytes are."""
    if len(data) > MAX_BYTES:
        return Unreadable(f"is longer than {MAX_BYTES} bytes")
    if b"\0" in data:
        return Unreadable("is no text: it holds NUL bytes")
    if (unclosed := data.count(b"<") - data.count(b">")) > max(_MAX_UNCLOSED, len(data) // 100):
        return Unreadable(f"opens {unclosed} brackets (<) that it never closes")
    try:
        grammar = language(spec)
    except (ImportError, AttributeError, ValueError, OSError) as error:
        return Unreadable(f"cannot be parsed: the grammar of {spec.name} is not installed properly ({error})")
    until, calls = time.thread_time() + _limit_s(data), count(1)
    try:
        tree = Parser(grammar).parse(
            lambda at, _: data[at : at + _CHUNK],
            progress_callback=lambda _, __: next(calls) % _PATIENCE == 0 and time.thread_time() > until,
        )
    except ValueError:
        tree = None  # So the binding says that the callback stopped it.
    except SystemError as error:
        # So it says that a signal broke into the reading of a piece, as Ctrl-C does, and goes on reading meanwhile.
        raise _origin(error) from None
    if tree is None:
        return Unreadable("takes too long to parse; it is hardly written by hand")
    return _examined(tree)


def matches(
    spec: LanguageSpec, parsed: Parsed, *, without: frozenset[str] = frozenset()
) -> list[tuple[int, Match]]:
    """What the language's query finds, as (number of the pattern, captures).

    Args:
        without: captures that are not wanted; `doubt` stands for `doubt.macro` as well.
    """
    cursor = QueryCursor(_query(spec.grammar, spec.query, without), match_limit=65_536)
    # A progress callback would crash the interpreter (tree-sitter 0.26); depth and loose pieces are limited instead.
    cursor.set_max_start_depth(MAX_DEPTH)
    return cursor.matches(parsed.tree.root_node)


def check(spec: LanguageSpec) -> None:
    """Raise `QueryError` where the query does not fit the grammar."""
    _query(spec.grammar, spec.query, frozenset())


def language(spec: LanguageSpec) -> Language:
    """The grammar of a language."""
    return _language(spec.grammar)


def _origin(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _limit_s(data: bytes) -> float:
    return _START_S + _S_PER_MB * len(data) / 1_000_000


@cache
def _language(grammar: str) -> Language:
    module, _, function = grammar.partition(":")
    return Language(getattr(importlib.import_module(module), function)())


@cache
def _query(grammar: str, text: str, without: frozenset[str]) -> Query:
    try:
        query = Query(_language(grammar), text)
    except QueryError as error:
        raise QueryError(f"{grammar}: {error}") from error
    for name in map(query.capture_name, range(query.capture_count)):
        if _family(name) in without:
            query.disable_capture(name)
    for pattern in range(query.pattern_count if without else 0):
        start, end = query.start_byte_for_pattern(pattern), query.end_byte_for_pattern(pattern)
        captured = _CAPTURE.findall(text.encode()[start:end])
        # Without its captures it would still be looked for, and found for nothing.
        if without.issuperset(_family(name.decode()) for name in captured):
            query.disable_pattern(pattern)
    return query


def _family(capture: str) -> str:
    return capture.partition(".")[0]


def _examined(tree: Tree) -> Parsed | Unreadable:
    """The tree with its mistakes, without recursion; no tree where too much of it is loose."""
    mistakes: list[Node] = []
    loose = 0
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            if len(mistakes) < MAX_MISTAKES and not (mistakes and node.start_byte < mistakes[-1].end_byte):
                mistakes.append(node)
            loose = max(loose, node.child_count)
        if loose > _MAX_LOOSE:
            return Unreadable("can hardly be read as its language at all")
        if node.has_error:
            waiting += [each for each in reversed(node.children) if each.has_error or each.is_missing]
    return Parsed(tree, tuple(mistakes))
