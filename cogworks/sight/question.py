"""What a request names: words, code, paths, and the places of tracebacks."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from cogworks.sight.seen import Stretch
from cogworks.sight.words import terms_of

MAX_CHARS = 60_000
"""Of a longer request only the beginning is looked at."""
_HEADLINE_WEIGHT = 3.0
_CODE_WEIGHT = 1.5
_FRAME = re.compile(
    r'File "(?P<python>[^"\n]{1,300})", line \d+(?:, in (?P<in_python>[\w.]{1,200}))?'
    r"|\bat (?:(?P<in_script>[^\s()]{1,200}) )?\(?(?P<script>[^\s():]{1,300}):\d+:\d+\)?"
    r"|^[ \t]*(?P<plain>[\w./\\-]{1,300}\.\w{1,6}):\d+(?:: in (?P<in_plain>[\w.]{1,200}))?",
    re.MULTILINE,
)
_RAISED = re.compile(
    r"(?:Error|Exception|[Pp]anic)\b[^\n]{0,200}?\b(?:in|from|by) `(?P<function>[A-Za-z_]\w{2,100})(?:\(\))?`"
)
_MOST_RAISING = 3
_QUOTED = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_PATH = re.compile(
    r"(?<![\w/])(?:[\w.+-]{1,200}/)*[\w+-]{1,200}(?:\.[\w+-]{1,40}){0,3}\.[A-Za-z]\w{0,7}\b|(?:[\w.+-]{1,200}/)+[\w.+-]{1,200}"
)
_SYMBOL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_OFTEN, _MOST_OFTEN = 0.08, 6
"""What each further mention of a name adds, and how many count: a long request names much on its way."""
_IS_NAME = re.compile(r"[A-Za-z_]\w*")
_IN_BLOCK = 0.85
"""How sure a name in a block of code is."""
_CALLED = (1.5, 1.3, 1.1)
"""How sure the innermost functions of tracebacks are, nearest to the error first: a traceback names many that only lead there."""
_SCOPE = re.compile(
    r"\[([^\]\n]{1,60})\]|([\w./*&-]{1,40}(?:(?:, ?| )[\w./*&-]{1,40}){0,2})?(?:\(([^()\n]{1,60})\))?!?:\s"
)
"""What a title may begin with: `parser: …`, `fix(parser): …`, `[Http] …`."""
_SORTS = "fix bug bugfix feat feature request chore refactor perf test style build docs ci issue question"
"""What stands there as well and says of what sort the work is, not where."""
_IS_CODE = re.compile(r"_|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|\.|::|#")


class Beside(NamedTuple):
    """A file of another repository that may be shown as an example."""

    name: str
    """As it is shown, e.g. `octo-org/hal:src/uart.rs`."""
    path: str
    text: str
    why: str = ""
    """Why somebody wants it shown."""


class About(NamedTuple):
    """What a prompt is about."""

    title: str = ""
    text: str = ""
    wanted: tuple[str, ...] = ()
    """Paths and module names that are certain to be needed, most important first."""
    without: frozenset[str] = frozenset()
    """Paths that the prompt shows elsewhere."""
    hidden: frozenset[str] = frozenset()
    """Paths that are not even named."""
    wants_tests: bool = False
    """Whether the tests nearest to what it is about are shown, for a writer of more of them."""
    wants_change_log: bool = False
    """Whether the top of a change log is shown, for whoever may write an entry into it."""
    most_tests: int = 2
    """How many files of tests that are; who only says where tests go needs one."""
    touched: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """Path -> lines that a change touched; the definitions around them are shown, and every line has its number."""
    looked: Mapping[str, Sequence[Stretch]] = MappingProxyType({})
    """Path -> lines that somebody looked at for the same work before; who goes on from there needs them as well."""
    standards: Mapping[str, str] = MappingProxyType({})
    """Path of a file by which people judge such work -> who says so."""
    beside: tuple[Beside, ...] = ()
    """Files of other repositories; the likeliest are shown."""


class Named(NamedTuple):
    """What a request says, ready to be looked up."""

    terms: Mapping[str, float]
    """Term -> how much it counts."""
    symbols: Mapping[str, float]
    """Name of a definition -> how sure it is that one is meant."""
    stressed: Mapping[str, float]
    """The same for telling which of those in one file matters most: what the title says, and what comes up again and again."""
    paths: tuple[str, ...]
    """As written."""
    scope: tuple[str, ...]
    """Terms of what the title begins with, where that says which part of the code is meant."""
    frames: tuple[str, ...]
    """Paths of tracebacks as written, the innermost first."""
    raising: tuple[str, ...]
    """Functions of which the request says that an error comes from them."""


def named_in(about: About) -> Named:
    """What a request names. Never raises."""
    title, text = about.title[:MAX_CHARS], about.text[:MAX_CHARS]
    quoted = _QUOTED.findall(text)
    weights: Counter[str] = Counter()
    for part, weight in (
        (title, _HEADLINE_WEIGHT),
        (text, 1.0),
        ("\n".join(each for each in quoted if not each.startswith("```")), _CODE_WEIGHT),
    ):
        for term, times in Counter(terms_of(part)).items():
            weights[term] += weight * (1.0 + 0.5 * min(times - 1, 3))  # type: ignore[assignment]  # A counter of floats.
    both = f"{title}\n{text}"
    # The innermost comes last.
    frames = [*reversed([*_FRAME.finditer(text)])]
    raising = [match["function"] for match in _RAISED.finditer(both)]
    symbols = _symbols(both, [title, *quoted], [*map(_function, frames), *raising])
    return Named(
        terms=dict(weights),
        symbols=symbols,
        stressed=_stressed(symbols, title, text),
        paths=tuple(dict.fromkeys(_PATH.findall(both)))[:50],
        scope=_scope(title),
        frames=tuple(dict.fromkeys(map(_frame, frames)))[:50],
        raising=tuple(dict.fromkeys(raising))[:_MOST_RAISING],
    )


def _scope(title: str) -> tuple[str, ...]:
    match = _SCOPE.match(title.strip())
    scope = " ".join(part for part in match.groups() if part) if match else ""
    sorts = _sorts() if scope else frozenset[str]()
    return tuple(dict.fromkeys(term for term in terms_of(scope) if term not in sorts))


# The library that stems words is slow to load, and a repair wants it only once its tests run.
@cache
def _sorts() -> frozenset[str]:
    return frozenset(terms_of(_SORTS))


def _frame(match: re.Match[str]) -> str:
    path = match["python"] or match["script"] or match["plain"]
    return path.replace("\\", "/")


def _function(match: re.Match[str]) -> str:
    """The last part of the name of the function that a frame is in; empty where it says none."""
    name = match["in_python"] or match["in_script"] or match["in_plain"] or ""
    return re.split(r"\.|::|#", name)[-1]


def _symbols(text: str, sure: Sequence[str], called: Sequence[str]) -> Mapping[str, float]:
    """Names in code or that look like code count more than plain words, functions in which an error arose most.

    Args:
        called: functions of tracebacks, the innermost first.
    """
    symbols: dict[str, float] = {}
    named = dict.fromkeys(each for each in called if _IS_NAME.fullmatch(each))
    for name, weight in zip(named, _CALLED, strict=False):
        _add(symbols, name, weight)
    for match in _SYMBOL.finditer(text):
        word = match.group()
        if _IS_CODE.search(word) or text[match.end() : match.end() + 1] == "(":
            _add(symbols, word, 0.7)
    for part in sure:
        # A block shows how something is used; what is named on its own is meant.
        weight = _IN_BLOCK if part.startswith("```") else 1.0
        for match in _SYMBOL.finditer(part):
            _add(symbols, match.group(), weight)
    return symbols


def _stressed(symbols: Mapping[str, float], title: str, text: str) -> Mapping[str, float]:
    often, in_title = Counter(_WORD.findall(text)), frozenset(_WORD.findall(title))
    return {
        name: weight * (1.0 + _OFTEN * min(max(often[name] - 1, 0), _MOST_OFTEN) + (name in in_title))
        for name, weight in symbols.items()
    }


def _add(symbols: dict[str, float], word: str, weight: float) -> None:
    *around, last = re.split(r"\.|::|#", word)
    for name, share in ((last, 1.0), *((each, 0.6) for each in around)):
        if len(name) > 2:
            symbols[name] = max(symbols.get(name, 0.0), weight * share)
