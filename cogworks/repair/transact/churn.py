"""How much a diff moves: changed lines weighted by the kind of file, without blanks, comments and re-indented lines."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Literal

from cogworks.codebase.diffmodel import Diff, FileDiff, edits_of
from cogworks.vocabulary import Value

FileKind = Literal["source", "test", "config", "generated"]

_HASH = ("#",)
_SLASHES = ("//", "/*", "*/")
_COMMENTS = dict.fromkeys((".py", ".rb", ".sh", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".tf"), _HASH) | (
    dict.fromkeys(
        (".c", ".cc", ".cpp", ".cs", ".go", ".h", ".java", ".js", ".kt", ".rs", ".ts", ".tsx"), _SLASHES
    )
)


class FileKinds(Value):
    """Which files count as what, by patterns of their paths; the first kind that fits, in this order."""

    generated: tuple[str, ...] = (
        "*.lock",
        "*-lock.json",
        "*_pb2.py",
        "*.min.js",
        "*.snap",
        "dist/*",
        "build/*",
    )
    test: tuple[str, ...] = ("tests/*", "test/*", "*/tests/*", "*/test/*", "test_*", "*/test_*", "*_test.*")
    config: tuple[str, ...] = (
        *("*.toml", "*.cfg", "*.ini", "*.yaml", "*.yml", "*.json", "Makefile", "*/Makefile", "Dockerfile"),
        *("setup.py", "CMakeLists.txt", "*/CMakeLists.txt", ".*"),
    )

    def kind(self, path: str) -> FileKind:
        """What a change of this file counts as."""
        kinds: tuple[tuple[FileKind, tuple[str, ...]], ...] = (
            ("generated", self.generated),
            ("test", self.test),
            ("config", self.config),
        )
        for kind, patterns in kinds:
            if any(fnmatchcase(path, pattern) for pattern in patterns):
                return kind
        return "source"


DEFAULT_KINDS = FileKinds()
DEFAULT_WEIGHTS: Mapping[FileKind, float] = {"source": 1.0, "test": 0.5, "config": 1.5, "generated": 0.0}


def churn(
    diff: Diff, *, kinds: FileKinds = DEFAULT_KINDS, weights: Mapping[FileKind, float] = DEFAULT_WEIGHTS
) -> float:
    """Half of the lines that were added or removed, each with the weight of its file.

    A line that only changed its blanks, an empty line and a comment count nothing.
    """
    return sum(weights[kinds.kind(file.path)] * _telling_lines(file) for file in diff.files) / 2


def blank_pairs(file: FileDiff) -> int:
    """How many lines were replaced by one that differs in nothing but blanks."""
    return sum(
        (Counter(_bare(lines[0])) & Counter(_bare(lines[1]))).total()
        for hunk in file.hunks
        for lines in ((edit.removed, edit.added) for edit in edits_of(hunk))
    )


def _telling_lines(file: FileDiff) -> int:
    """Changed lines that are no comment, less those that have a partner on the other side."""
    marks = _COMMENTS.get(PurePosixPath(file.path).suffix, ())
    total = 0
    for edit in (edit for hunk in file.hunks for edit in edits_of(hunk)):
        removed, added = (
            Counter(line for line in _bare(side) if line and not line.startswith(marks))
            for side in (edit.removed, edit.added)
        )
        total += (removed - added).total() + (added - removed).total()
    return total


def _bare(lines: tuple[str, ...]) -> Iterator[str]:
    return ("".join(line.split()) for line in lines)
