"""The rule by which a difference between two releases counts as a bug of the benchmark; written down in docs/benchmarks/real-bugs.md."""

import ast
from collections.abc import Sequence

from cogworks.domain_services.exploring import Signatures
from cogworks.repair.transact.validators import api_changes
from cogworks.vocabulary import Value
from scripts.benchmarks.realbugs.hunks import Hunk, changed_lines

MAX_CHANGED_LINES = 40
MAX_FILES = 3
MAX_PIECES = 3
"""A plan has no more landmarks."""
MAX_HUNKS = 90
"""Of a pair of releases."""
MAX_BUGS_PER_PAIR = 6


class Piece(Value):
    """One small diff of a true fix."""

    hunks: tuple[int, ...]
    tests: tuple[str, ...]
    """Those that it turns green, after the pieces before it."""


class Bug(Value):
    """A set of hunks of a newer release that turns failing tests of it green on the older sources."""

    id: str
    pieces: tuple[Piece, ...]

    @property
    def hunks(self) -> frozenset[int]:
        return frozenset(number for piece in self.pieces for number in piece.hunks)

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(test for piece in self.pieces for test in piece.tests)


class Exclusion(Value):
    """What does not count, and why."""

    what: str
    reason: str


def size_refusal(hunks: Sequence[Hunk]) -> str | None:
    """Why a fix is too large for the benchmark, None when it is not."""
    lines, files = changed_lines(hunks), len({hunk.path for hunk in hunks})
    if lines > MAX_CHANGED_LINES:
        return f"{lines} changed lines, more than {MAX_CHANGED_LINES}"
    if files > MAX_FILES:
        return f"{files} files, more than {MAX_FILES}"
    return None


def kind_refusal(hunks: Sequence[Hunk]) -> str | None:
    """Why a fix is none of the code, None when it is: a new version number repairs nothing."""
    lines = [line.strip() for hunk in hunks for line in (*hunk.removed, *hunk.added) if line.strip()]
    if all(line.startswith(("__version__", "__version_info__", "VERSION", "version")) for line in lines):
        return "changes nothing but the version"
    return None


def api_refusal(before: Signatures, after: Signatures) -> str | None:
    """Why a fix changes what callers may rely on, None when it does not: no public signature that was there differs."""
    breaking = [f"{each.id}: {each.text}" for each in api_changes(before, after) if each.is_breaking]
    there = {each.id: each for each in after.signatures}
    breaking += [
        f"{old.id}: has further parameters"
        for old in before.signatures
        if (new := there.get(old.id)) is not None and _parameters(new) > _parameters(old)
    ]
    return f"changes a public signature: {breaking[0]}" if breaking else None


def has_effect(before: str, after: str) -> bool:
    """Whether two texts of a Python file differ in more than comments, documentation and layout."""
    return _bare(before) != _bare(after)


def _parameters(signature: object) -> set[str]:
    names = ("positional_only", "positional", "keyword_only")
    return {name for group in names for name in getattr(signature, group)}


def _bare(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return ast.dump(tree)
