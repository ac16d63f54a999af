"""Which tests that were there before are stated in another way now: another expectation may need another name."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

from cogworks.nodes.contract import Workspace
from cogworks.repair.transact.measure import file_of, restated

MAX_LINES = 4_000
"""Of each side that differ; nobody states so much anew, and comparing more takes long."""
_LAST_PART = re.compile(r"::| > ")
_CASES = re.compile(r"\[.*\]$", re.DOTALL)
_WORD = re.compile(r"\w+")
_LEAST_SHARED = 0.4
"""Of the words of the lines that are replaced: what is called stays when another result is expected."""


class Rewritten(NamedTuple):
    """A file that was there before, and what it says now."""

    before: str
    after: str


def rewritten(workspace: Workspace, paths: Iterable[str]) -> dict[str, Rewritten]:
    """Path -> both texts of the files that the last commit has with another text."""
    texts = {path: (workspace.read_at(workspace.head, path), workspace.read(path)) for path in paths}
    return {
        path: Rewritten(before, after)
        for path, (before, after) in texts.items()
        if before is not None and after is not None and before != after
    }


def stated_otherwise(
    before: Collection[str], after: Collection[str], files: Mapping[str, Rewritten], paths: Collection[str]
) -> frozenset[str]:
    """The tests that are gone because another one, or another case, stands in their place.

    A case of a parametrized test counts where its function has as many cases as before. A test with a name of its own counts
    where the lines with its name were replaced by lines that say much the same, with the names of at least as many tests that
    were not there before, and where at least as many tests of the file keep their names. So no more is lost than by changing
    what a test asserts under its old name, and a file that was overwritten has lost its tests.

    Args:
        before, after: ids of the tests that ran.
        files: path -> texts of files that were changed.
        paths: of all files that may state tests anew.
    """
    replaced = [
        test
        for path in paths
        if path in files
        for test in _replaced(files[path], _of_file(before, path), _of_file(after, path))
    ]
    return restated(before, after, paths) | frozenset(replaced)


def _of_file(tests: Iterable[str], path: str) -> set[str]:
    return {test for test in tests if file_of(test) == path}


def _replaced(file: Rewritten, before: AbstractSet[str], after: AbstractSet[str]) -> Iterator[str]:
    gone, left = before - after, {*(after - before)}
    if not (gone and left) or len(gone) > len(before & after):
        return
    for removed, added in _replacements(file.before.splitlines(), file.after.splitlines()):
        old, instead = _named_in(removed, gone), _named_in(added, left)
        if old and len(instead) >= len(old) and _say_much_the_same(removed, added):
            # Each stands for one place alone.
            left.difference_update(instead)
            yield from old


def _say_much_the_same(removed: Sequence[str], added: Sequence[str]) -> bool:
    old, new = ({*_WORD.findall("\n".join(lines))} for lines in (removed, added))
    return len(old & new) >= _LEAST_SHARED * len(old)


def _named_in(lines: Sequence[str], tests: Collection[str]) -> list[str]:
    text = "\n".join(lines)
    return [test for test in tests if _says(text, _name_of(test))]


def _says(text: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _name_of(test: str) -> str:
    """What the file itself calls a test, without its groups and its parameters."""
    return _LAST_PART.split(_CASES.sub("", test))[-1].strip()


def _replacements(
    before: Sequence[str], after: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The stretches of lines that others stand in the place of."""
    pairs = [*zip(before, after, strict=False)]
    start = sum(1 for _ in takewhile(_are_equal, pairs))
    before, after = before[start:], after[start:]
    end = sum(1 for _ in takewhile(_are_equal, zip(reversed(before), reversed(after), strict=False)))
    before, after = before[: len(before) - end], after[: len(after) - end]
    if max(len(before), len(after)) > MAX_LINES:
        return
    for tag, first, last, first_new, last_new in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if tag == "replace":
            yield before[first:last], after[first_new:last_new]


def _are_equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]
