"""Tests that run from what a build made of them: which sources these are, and how a command finds them; pure rules."""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cogworks.services.command.recipe import INSIDE

_SOURCES = ("ts", "tsx", "mts", "cts", "jsx", "js", "mjs", "cjs")
_OUTPUT = re.compile(r"^(?P<stem>.+)\.[cm]?jsx?$")
_TYPED = re.compile(r"\.[cm]?tsx?\b")
_LOADS = re.compile(r"\b(?:tsx|jiti|swc|ts-node|strip-types|transform-types|babel/register|esbuild-\w+)\b")
"""What makes Node run sources that it does not know."""
_WITH_VALUE = re.compile(
    r"^(?:-r|-C|-e|--require|--import|--(?:experimental-)?loader|--conditions|--env-file|--input-type|--test-(?:reporter|reporter-destination|"
    r"name-pattern|skip-pattern|concurrency|timeout|shard|coverage-\w+))$"
)
_OF_TAPE = re.compile(rf"{_WITH_VALUE.pattern}|^(?:-i|--ignore(?:-pattern)?)$")
_PATTERN = re.compile(r"[*?{\[]")


def source_of(path: str, named: Callable[[str], Iterable[str]]) -> str:
    """The source that a file was built of, by its name and by the folders around it; empty where several come into question.

    Args:
        path: relative to the root.
        named: every file of the repository with a name, whichever folder it lies in.
    """
    folder, _, name = path.rpartition("/")
    output = _OUTPUT.match(name)
    if not output or not folder:
        return ""
    around = folder.split("/")
    likely = [each for ending in _SOURCES for each in named(f"{output['stem']}.{ending}")]
    common = {each: _common(around, each.split("/")[:-1]) for each in likely}
    best = [each for each in likely if common[each] == max(common.values())]
    return best[0] if len(best) == 1 else ""


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many folders two paths end with alike."""
    pairs = list(zip(reversed(first), reversed(second), strict=False))
    return next((count for count, (one, other) in enumerate(pairs) if one != other), len(pairs))


class NodeLine(NamedTuple):
    """A command of Node's own runner of tests, or of tape, in its parts."""

    words: tuple[str, ...]
    """Without the places."""
    roots: tuple[str, ...]
    """The folders and files that it names; none: it looks everywhere."""
    is_built: bool
    """Whether what it runs may come of a build before it."""
    is_typed: bool
    """Whether it runs sources of TypeScript."""


def node_line(before: str, line: str) -> NodeLine | None:
    """The command after the steps `before`; None where it names no `--test`."""
    words = line.split()
    if "--test" not in words:
        return None
    return _parted(before, line, words.index("--test") + 1, _WITH_VALUE)


def tape_line(before: str, line: str) -> NodeLine | None:
    """The same of a command that starts tape, or a program that does; None where it starts neither."""
    names = [word.rpartition("/")[2] for word in line.split()]
    starts = [names.index(name) + 1 for name in ("tape", "node") if name in names]
    return _parted(before, line, starts[0], _OF_TAPE) if starts else None


def _parted(before: str, line: str, start: int, with_value: re.Pattern[str]) -> NodeLine:
    """What stands behind the word `start` and is neither an option nor the value of one is a place."""
    words = line.split()
    places = [
        word
        for previous, word in zip(words[start - 1 :], words[start:], strict=False)
        if not word.startswith("-") and not with_value.match(previous)
    ]
    kept = (*words[:start], *(word for word in words[start:] if word not in places))
    roots = tuple(dict.fromkeys(filter(None, map(_root, places))))
    is_typed = bool(_LOADS.search(line) or _TYPED.search(" ".join(places)))
    return NodeLine(kept, roots, bool(before.strip()), is_typed)


def _root(place: str) -> str:
    """The folder that a pattern looks in, or the place itself."""
    bare = place.strip("'\"").removeprefix("./")
    pattern = _PATTERN.search(bare)
    return (bare[: pattern.start()].rpartition("/")[0] if pattern else bare).rstrip("/")


def runnable(line: NodeLine, file: str) -> str:
    """A word for `sh` that names what runs a test file: itself, or what the build before made of it."""
    is_inside = not line.roots or any(file == root or file.startswith(f"{root}/") for root in line.roots)
    is_foreign = _TYPED.search(file) is not None and not line.is_typed
    if not line.is_built or line.is_typed or (is_inside and not is_foreign):
        return shlex.quote(file)
    places = " ".join(map(shlex.quote, line.roots or (".",)))
    return f'"$(NODE_OPTIONS= node "{INSIDE}/built.mjs" {shlex.quote(file)} {places})"'
