"""What git knows of a working copy's files and of the checked-out commit without reading them: names of contents, attributes, commits."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git, zsplit
from cogworks.codebase.reading import read_text
from cogworks.vocabulary import VISIT_TRAILER

_REGULAR = ("100644", "100755")
_ATTRIBUTES = {"linguist-generated": "generated", "linguist-vendored": "vendored"}
_NO = frozenset({"unspecified", "unset", "false"})
_HISTORY = ("--no-merges", "--no-renames", "--name-only", "-z")
_BEGIN, _MIDDLE = "\x1e", "\x1f"
"""Around each message: no path of git's holds them unquoted."""
Runs = Callable[..., str]


class PastCommit(NamedTuple):
    """One commit before the present state."""

    text: str
    """Its message."""
    paths: tuple[str, ...]
    """The files it changed."""


def contents(run: Runs) -> Mapping[str, str]:
    """Path -> object id of the content of every tracked regular file, as last written down in the index."""
    oids: dict[str, str] = {}
    for entry in zsplit(run("ls-files", "--stage", "-z")):
        facts, path = entry.split("\t", 1)
        mode, oid, _ = facts.split(" ")
        if mode in _REGULAR:
            oids[path] = oid
    return oids


def attributes(run: Runs, paths: Callable[[], Sequence[str]]) -> Mapping[str, Collection[str]]:
    """Path -> `generated`, `vendored`, as `.gitattributes` says of it; others are left out.

    Args:
        paths: of all files; asked for only where there are attributes.
    """
    if not run("ls-files", "-z", "--", ":(glob)**/.gitattributes"):
        return {}
    text = run("check-attr", "-z", "--stdin", *_ATTRIBUTES, stdin="".join(f"{path}\0" for path in paths()))
    values = zsplit(text)
    kinds: dict[str, set[str]] = defaultdict(set)
    for path, name, value in zip(values[::3], values[1::3], values[2::3], strict=True):
        if value not in _NO:
            kinds[path].add(_ATTRIBUTES[name])
    return kinds


def past(run: Runs, limit: int) -> tuple[PastCommit, ...]:
    """The commits that the head stands on, the newest first, without merges and those of visits.

    Renames are not looked for: that would need contents, which a copy without them would have to fetch.
    """
    # What the work under way made is no history of the repository.
    options = (*_HISTORY, f"--max-count={limit}", "--invert-grep", f"--grep=^{VISIT_TRAILER}")
    text = run("-c", "core.quotePath=false", "log", *options, f"--format={_BEGIN}%B{_MIDDLE}", "HEAD")
    commits = []
    for part in text.split(_BEGIN)[1:]:
        message, _, names = part.partition(_MIDDLE)
        paths = tuple(name.strip("\n") for name in names.split("\0") if name.strip("\n"))
        commits.append(PastCommit(message.strip(), paths))
    return tuple(commits)


class Hit(NamedTuple):
    """One line that holds what was looked for."""

    path: str
    line: int
    """From 1."""
    text: str
    """The line; of a long one the part around what was looked for."""
    before: int = 0
    """Characters of the line before that part."""


MAX_HITS = 100_000
_HIT_CHARS = 2_000
_EARLY_CHARS = 300
"""What stands later than that in its line is shown with only a part of what is before it."""
_AROUND_CHARS = 150


def grep(run: Runs, text: str, *, is_regex: bool) -> tuple[Hit, ...] | str:
    """The lines of tracked text files that hold a text, by path and line; why it could not be looked for.

    git's own engine for extended expressions does not backtrack.
    """
    how = "--extended-regexp" if is_regex else "--fixed-strings"
    pattern = text.replace(r"\d", "[0-9]") if is_regex else text
    if "\n" in pattern or "\0" in pattern:
        return "A search is for text within one line."
    options = ("-n", "--column", "-I", "--full-name", "--no-color", "-z", "--max-depth=-1", how)
    try:
        output = run("grep", *options, "-e", pattern, "--", ok=(0, 1), extra={"LC_ALL": "C.UTF-8"})
    except GitFailed as error:
        return f"{text!r} cannot be looked for: {(error.stderr.strip().splitlines() or ['git failed'])[-1][:200]}"
    hits = []
    for entry in output.split("\n")[:MAX_HITS]:
        path, _, rest = entry.partition("\0")
        number, _, rest = rest.partition("\0")
        column, _, line = rest.partition("\0")
        if path and number.isdigit() and column.isdigit():
            begin = _begin(line, int(column))
            hits.append(Hit(path, int(number), line[begin : begin + _HIT_CHARS], begin))
    return tuple(hits)


def _begin(line: str, column: int) -> int:
    """Where the part of a line begins that is shown; the column counts bytes from 1."""
    if column <= _EARLY_CHARS:
        return 0
    at = len(line.encode(errors="replace")[: column - 1].decode(errors="ignore"))
    return 0 if at < _EARLY_CHARS else at - _AROUND_CHARS


def commits(run: Runs, path: str, limit: int) -> tuple[tuple[str, PastCommit], ...]:
    """The commits before the head that changed a path, the newest first: id and what it was."""
    options = (*_HISTORY, f"--max-count={limit}", "--full-diff")
    text = run(
        "-c",
        "core.quotePath=false",
        "log",
        *options,
        f"--format={_BEGIN}%H %B{_MIDDLE}",
        "HEAD",
        "--",
        path or ".",
    )
    by_oid = []
    for part in text.split(_BEGIN)[1:]:
        message, _, names = part.partition(_MIDDLE)
        oid, _, words = message.partition(" ")
        paths = tuple(name.strip("\n") for name in names.split("\0") if name.strip("\n"))
        by_oid.append((oid, PastCommit(words.strip(), paths)))
    return tuple(by_oid)


def patch(run: Runs, oid: str) -> str | None:
    """What a commit changed; None where it is not before the head, or its contents are not here."""
    try:
        run("merge-base", "--is-ancestor", oid, "HEAD")
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat", "--patch")
        return run("show", *options, "--format=%h %s%n%n%b", oid)
    except GitFailed:
        return None


class Checkout:
    """A worktree that is as its last commit has it, or was when it was looked at."""

    def __init__(self, path: Path, git: Git) -> None:
        self._path = path
        self._run = partial(git.run, cwd=path)

    def files(self) -> Sequence[str]:
        """The regular files of the commit, sorted."""
        return sorted(self.contents())

    def read(self, path: str) -> str | None:
        """Its text; None where it has none."""
        return read_text(self._path, path)

    def contents(self) -> Mapping[str, str]:
        """Path -> object id of its content in the commit."""
        oids = {}
        for entry in zsplit(self._run("ls-tree", "-r", "-z", "HEAD")):
            facts, path = entry.split("\t", 1)
            mode, _, oid = facts.split(" ")
            if mode in _REGULAR and path.encode(errors="replace").decode() == path:
                oids[path] = oid
        return oids

    def attributes(self) -> Mapping[str, Collection[str]]:
        """Path -> `generated`, `vendored`, as the repository says of it."""
        return attributes(self._run, self.files)

    def past(self, limit: int) -> Sequence[PastCommit]:
        """The commits that the head stands on, the newest first, without merges."""
        return past(self._run, limit)
