"""Where else the definitions of a change are used: whoever judges it has to know what relies on them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from cogworks.sight.cards import Outlined
from cogworks.sight.index import Index
from cogworks.sight.kinds import Kind
from cogworks.sight.matching import LEAST_NAME
from cogworks.sight.question import About
from cogworks.sight.ranking import Document
from cogworks.sight.seen import Stretch
from cogworks.sight.stretches import shortened, tokens_of
from cogworks.sight.words import terms_of

_MOST_NAMES, _MOST_LINES, _MOST_LINES_OF_A_FILE = 5, 6, 2
"""Definitions that are looked for, and lines of each."""
_MOST_FILES = 60
"""What more files use is used everywhere, and a few of them say nothing."""
_ORDER = (Kind.SOURCE, Kind.TEST)
_USABLE = frozenset({"function", "method", "class", "constant", "variable"})
_NO_USE = re.compile(
    r"\s*(?:(?:from|import|use|require|include|export|__all__|#include|package|using)\b|#|//|/?\*|--)"
)
"""A line that only hands a name on, or says something in a comment."""


class Use(NamedTuple):
    """A line that uses a definition."""

    name: str
    path: str
    line: int
    """From 1."""
    text: str
    others: int = 0
    """Of the last one of a name: how many more lines use it and are shown nowhere."""


def changed_definitions(definitions: Sequence[Outlined], touched: Collection[int]) -> tuple[str, ...]:
    """Names of the smallest definitions around the lines that a change touched, those with most of these lines first."""
    often: dict[str, int] = {}
    usable = [each for each in definitions if each.kind in _USABLE]
    for line in touched:
        around = [each for each in usable if each.first <= line <= each.last]
        if around:
            name = min(around, key=lambda each: each.last - each.first).name
            often[name] = often.get(name, 0) + 1
    return tuple(sorted(often, key=lambda name: -often[name]))


def uses_elsewhere(
    index: Index,
    touched: Mapping[str, Collection[int]],
    shown: Mapping[str, Sequence[Stretch]],
    *,
    but: Collection[str] = (),
) -> tuple[Use, ...]:
    """A few lines that use what a change touched and that are shown nowhere else: code first, then tests.

    Names are compared, not bindings: those of methods where something is asked for them or called. What a definition says of
    itself, a comment, and what a file only imports or assigns is no use. A definition whose name is short or everywhere has
    none.

    Args:
        touched: path -> lines, from 1.
        shown: path -> stretches of lines that the reader sees anyway.
        but: paths that are not shown, or elsewhere.
    """
    cards = index.cards([*touched])
    names = dict.fromkeys(
        name
        for path, lines in touched.items()
        if path in cards
        for name in changed_definitions(cards[path].definitions, lines)
    )
    chosen = [name for name in names if len(name) >= LEAST_NAME][:_MOST_NAMES]
    methods = {each.name for card in cards.values() for each in card.definitions if each.kind == "method"}
    return tuple(use for name in chosen for use in _uses(index, name, shown, but, is_method=name in methods))


def _uses(
    index: Index,
    name: str,
    shown: Mapping[str, Sequence[Stretch]],
    but: Collection[str],
    *,
    is_method: bool,
) -> list[Use]:
    files = [each for each in _naming(index, name) if each.path not in but and each.kind in _ORDER]
    if len(files) > _MOST_FILES:
        return []
    # What is in a file of the change is nearest to it.
    files.sort(key=lambda each: (_ORDER.index(each.kind), each.path not in shown, each.path))
    by_file = [
        [
            use
            for use in _in_file(index, each.path, name, is_method=is_method)
            if not _is_in(use.line, shown.get(each.path, ()))
        ]
        for each in files
    ]
    # A line of each file says more than all lines of the first.
    in_turn = [
        (place, at)
        for at in range(_MOST_LINES_OF_A_FILE)
        for place, uses in enumerate(by_file)
        if at < len(uses)
    ]
    uses = [by_file[place][at] for place, at in sorted(in_turn[:_MOST_LINES])]
    others = sum(map(len, by_file)) - len(uses)
    return [*uses[:-1], uses[-1]._replace(others=others)] if uses else []


def _is_in(line: int, stretches: Sequence[Stretch]) -> bool:
    return any(first <= line <= last for first, last in stretches)


def _naming(index: Index, name: str) -> list[Document]:
    """The files whose text has all terms of a name."""
    by_term = [{card for card, in_text, _ in index.postings(term) if in_text} for term in terms_of(name)]
    cards = set.intersection(*by_term) if by_term else set()
    return [each for each in index.documents if each.card in cards]


def _in_file(index: Index, path: str, name: str, *, is_method: bool) -> Iterator[Use]:
    plain = re.escape(name)
    word = re.compile(rf"(?<![\w$]){plain}(?![\w$])")
    if is_method:
        # A word of the language, or a variable, may have the same name.
        word = re.compile(rf"(?:\.|->|::){plain}(?![\w$])|(?<![\w$]){plain}\(")
    # An entry of a list of names, e.g. `__all__`, of exports, or of an import of several lines; something else of that name.
    other = re.compile(
        rf"\s*[\"']?{plain}[\"']?,?\s*$|\s*(?:(?:const|let|var|val|final|auto) )?{plain}\s*(?::[^=\n]{{1,80}})?=(?!=)"
    )
    card = index.cards([path]).get(path)
    own = [(each.first, each.last) for each in card.definitions if each.name == name] if card else []
    for number, text in enumerate(index.text(path).splitlines(), 1):
        is_none = _is_in(number, own) or _NO_USE.match(text) or other.match(text)
        if word.search(text) and not is_none:
            yield Use(name, path, number, shortened(text).strip())


def uses_shown(index: Index, about: About, shown: Mapping[str, Sequence[Stretch]], room: int) -> str:
    """The uses by name, each as `path:line: text`, as far as they fit into so many tokens; empty where a question is about no change."""
    lines: list[str] = []
    name = ""
    for use in uses_elsewhere(index, about.touched, shown, but=about.without | about.hidden):
        head = [] if use.name == name else [f"{use.name}:"]
        rest = [f"  and {use.others} more lines"] if use.others else []
        more = [*lines, *head, f"  {use.path}:{use.line}: {use.text}", *rest]
        if tokens_of("\n".join(more)) > room:
            break
        lines, name = more, use.name
    return "\n".join(lines)
