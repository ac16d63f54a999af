"""How often the files that a fix changed are in front of the model, on histories of public projects.

    scripts/bench sight [--count N] [--misses] [--aider PYTHON] [--json] REPOSITORY...

Each REPOSITORY is a clone with its history, bare or not. Of each, at most N fixes are drawn (25): commits without a second parent that say so
(`fix`, `bug`, `regression`, `closes #1`, …) in at least six words and change one to six source files; the same ones every time, spread over the
history by a hash of the commit. The request is the commit's message without trailers and numbers of issues, the tree is that of its parent, the
truth are the source files that the commit changed and that were there before. *tests* counts the fixes that changed tests as well, and of these the
ones whose every such test file whoever writes tests sees, and whose every one is shown with text.

`plain BM25` ranks sources by their text alone, `aider` by the repository map of `aider-chat` where PYTHON has that package.
"""

import argparse
import hashlib
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.index import Index
from cogworks.sight.kinds import FILLING, Kind, kind_of
from cogworks.sight.question import About
from cogworks.sight.ranking import rank
from cogworks.sight.store import Store
from cogworks.sight.view import first_view
from cogworks.sight.words import terms_of
from scripts.benchmarks.sight_places import share_shown

MOST_COMMITS = 4_000
MOST_FILES = 6
LEAST_WORDS = 6
_FIX = re.compile(
    r"\b(fix(e[sd])?|bug|close[sd]? #\d+|regression|incorrect|crash(es|ed)?|broken|wrong)\b", re.IGNORECASE
)
_NO_FIX = re.compile(
    r"\b(typos?|lint|flake8|ruff|mypy|pre-commit|formatting|whitespace|release|bump|changelog|docs?:|ci:|style:|revert)\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^(co-authored-by|signed-off-by|reviewed-by|change-id|\(cherry picked).*$", re.IGNORECASE | re.MULTILINE
)
_NUMBER = re.compile(r"\(?#\d+\)?")
_WORD = re.compile(r"[A-Za-z]{3,}")


class Fix(NamedTuple):
    """One commit that mended something."""

    oid: str
    parent: str
    request: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    """Files of tests that it changed and that were there before."""


class Scores(NamedTuple):
    """Of one chooser on one history."""

    fixes: int = 0
    first_5: int = 0
    first_10: int = 0
    visible: int = 0
    """All changed files at some level of the first view; counted for cogworks alone."""
    view_tokens: int = 0
    filler_tokens: int = 0
    """Of files that nobody wrote by hand and that the request does not name."""
    seconds: float = 0.0
    with_tests: int = 0
    """Fixes that changed tests."""
    tests_visible: int = 0
    tests_shown: int = 0
    places: float = 0.0
    """Of the places that a fix changed, the share of which lines are shown; summed over the fixes."""

    def plus(self, other: "Scores") -> "Scores":
        return Scores._make(one + another for one, another in zip(self, other, strict=True))


class History:
    """A clone, read without a working copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._objects: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End what reads its objects."""
        if self._objects is not None:
            self._objects.communicate()
            self._objects = None

    @property
    def name(self) -> str:
        return self.folder.parent.name if self.folder.name in ("repo", ".git") else self.folder.name

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(self.folder), *arguments], capture_output=True, check=True)
        return done.stdout.decode(errors="replace")

    def content(self, oid: str) -> bytes:
        if self._objects is None:
            command = ["git", "-C", str(self.folder), "cat-file", "--batch"]
            self._objects = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pipe = self._objects
        if pipe.stdin is None or pipe.stdout is None:
            return b""
        pipe.stdin.write(f"{oid}\n".encode())
        pipe.stdin.flush()
        head = pipe.stdout.readline().split()
        if head[-1] == b"missing":
            return b""
        data = pipe.stdout.read(int(head[2]))
        pipe.stdout.read(1)
        return data

    def changed(self, fix: Fix, path: str) -> str:
        """What a fix changed in a file, without context."""
        return self.git("diff", "--no-renames", "-U0", fix.parent, fix.oid, "--", path)

    def log(self, start: str, limit: int) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
        """Id, parents, message and files of commits without merges, the newest first."""
        form = "--format=%x1e%H%x1f%P%x1f%B%x1f"
        text = self.git("log", "--no-merges", "--no-renames", "--name-only", "-n", str(limit), form, start)
        for part in text.split("\x1e")[1:]:
            oid, parents, message, names = part.split("\x1f", 3)
            yield oid, parents, message, tuple(name for name in names.split("\n") if name)

    def fixes(self, count: int) -> list[Fix]:
        """The fixes that are drawn."""
        drawn = sorted(self._fixes(), key=lambda fix: hashlib.sha256(fix.oid.encode()).hexdigest())
        found = []
        for fix in drawn:
            there = set(self.git("ls-tree", "-r", "--name-only", fix.parent).split("\n"))
            if files := tuple(path for path in fix.files if path in there):
                found.append(
                    fix._replace(files=files, tests=tuple(path for path in fix.tests if path in there))
                )
            if len(found) == count:
                break
        return found

    def _fixes(self) -> Iterator[Fix]:
        for oid, parents, message, names in self.log("HEAD", MOST_COMMITS):
            subject = message.partition("\n")[0]
            request = _NUMBER.sub("", _TRAILER.sub("", message)).strip()
            sources = tuple(name for name in names if kind_of(name) is Kind.SOURCE)
            tests = tuple(name for name in names if kind_of(name) is Kind.TEST)
            is_fix = _FIX.search(message) and not _NO_FIX.search(subject)
            if (
                is_fix
                and " " not in parents
                and 1 <= len(sources) <= MOST_FILES
                and len(_WORD.findall(request)) >= LEAST_WORDS
            ):
                yield Fix(oid, parents, request, sources, tests)


class CommitTree:
    """The files of one commit; obeys `cogworks.sight.index.Tree`."""

    def __init__(self, history: History, commit: str) -> None:
        self._history = history
        self._commit = commit

    @cached_property
    def _oids(self) -> Mapping[str, str]:
        entries = (
            entry.split("\t", 1)
            for entry in self._history.git("ls-tree", "-r", "-z", self._commit).split("\0")
            if entry
        )
        return {path: facts.split()[2] for facts, path in entries if facts.startswith("100")}

    def files(self) -> Sequence[str]:
        return sorted(self._oids)

    def contents(self) -> Mapping[str, str]:
        return self._oids

    def read(self, path: str) -> str | None:
        try:
            return self._history.content(self._oids[path]).decode() if path in self._oids else None
        except UnicodeDecodeError:
            return None

    def attributes(self) -> Mapping[str, Collection[str]]:
        return {}

    def past(self, limit: int) -> Sequence[PastCommit]:
        return [PastCommit(message, names) for _, _, message, names in self._history.log(self._commit, limit)]


def bm25(tree: CommitTree, request: str) -> list[str]:
    """Plain BM25 over the text of source files."""
    texts = {
        path: Counter(terms_of(tree.read(path) or ""))
        for path in tree.files()
        if kind_of(path) in (Kind.SOURCE, Kind.TEST)
    }
    average = sum(map(Counter.total, texts.values())) / max(1, len(texts))
    scores: Counter[str] = Counter()
    for term in set(terms_of(request)):
        holding = [path for path, terms in texts.items() if term in terms]
        rarity = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for path in holding:
            often, length = texts[path][term], texts[path].total() / average
            scores[path] += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length))  # type: ignore[assignment]  # A counter of floats.
    return sorted(texts, key=lambda path: (-scores[path], path))


_AIDER = """
import json, sys
from aider.io import InputOutput
from aider.models import Model
from aider.repomap import RepoMap
import re
root, request, files = json.load(sys.stdin)
words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]{2,}", request))
names = {path for path in files if path in request or any(word.lower() == path.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower() for word in words)}
repo_map = RepoMap(root=root, main_model=Model("gpt-4o"), io=InputOutput(yes=True, pretty=False))
places = [root + "/" + path for path in files]
ranked = repo_map.get_ranked_tags([], places, {root + "/" + path for path in names} | names, words)
seen = []
for each in ranked:
    path = each[0]
    if path not in seen:
        seen.append(path)
json.dump(seen, sys.stdout)
"""


class Aider:
    """The order of files in the repository map of `aider-chat`, told the words of the request and the files it names.

    All trees of a history are laid into one folder, so that it reads again only what differs.
    """

    def __init__(self, python: str, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._there: dict[str, str] = {}

    def order(self, tree: CommitTree, request: str) -> list[str]:
        files = {
            path: oid for path, oid in tree.contents().items() if kind_of(path) in (Kind.SOURCE, Kind.TEST)
        }
        for path in self._there.keys() - files.keys():
            (self._folder / path).unlink()
        for path, oid in files.items():
            if self._there.get(path) != oid:
                place = self._folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(tree.read(path) or "")
        self._there = files
        # Thousands of paths are too long for an argument.
        given = json.dumps([str(self._folder), request, sorted(files)])
        command = [self._python, "-c", _AIDER]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
        found: list[str] = json.loads(done.stdout.splitlines()[-1])
        return [*found, *(path for path in sorted(files) if path not in found)]


def own(index: Index, request: str) -> list[str]:
    """The order of cogworks."""
    return [each.path for each in rank(index, about(request))]


def about(request: str) -> About:
    """A message as a request."""
    title, _, body = request.partition("\n")
    return About(title=title, text=body)


def measured(
    history: History, fixes: Sequence[Fix], *, other: Aider | None = None, misses: bool = False
) -> dict[str, Scores]:
    """The scores of every chooser on one history."""
    scores: dict[str, Scores] = {}
    store = Store()
    for fix in fixes:
        tree = CommitTree(history, fix.parent)
        index = Index(tree, store)
        began_s = time.perf_counter()
        view = first_view(index, about(fix.request))
        seconds = time.perf_counter() - began_s
        seen = {each.path for each in (*view.files, *view.named)}
        filler = sum(
            each.tokens
            for each in view.files
            if index.kind(each.path) not in FILLING and "named" not in each.reasons
        )
        orders = {"cogworks": own(index, fix.request), "plain BM25": bm25(tree, fix.request)}
        if other is not None:
            orders["aider"] = other.order(tree, fix.request)
        for name, order in orders.items():
            worst = max(order.index(path) if path in order else len(order) for path in fix.files)
            more = Scores(1, worst < 5, worst < 10)
            if name == "cogworks":
                visible = seen.issuperset(fix.files)
                places = share_shown(view, fix.files, partial(history.changed, fix))
                counted = (view.tokens, filler, seconds, *_tests_of(index, fix), places)
                more = Scores(1, worst < 5, worst < 10, visible, *counted)
                if misses and worst >= 10:
                    ranks = ", ".join(f"{path} {order.index(path) + 1}" for path in fix.files)
                    _print(f"  missed {fix.oid[:12]} {fix.request.splitlines()[0][:80]}: {ranks}")
            scores[name] = scores.get(name, Scores()).plus(more)
    return scores


def _tests_of(index: Index, fix: Fix) -> tuple[int, int, int]:
    """Whether it changed tests, whether whoever writes tests sees all of them, and whether all are shown with text."""
    if not fix.tests:
        return 0, 0, 0
    view = first_view(index, about(fix.request)._replace(wants_tests=True))
    shown = {each.path for each in view.files}
    seen = shown | {each.path for each in view.named}
    return 1, seen.issuperset(fix.tests), shown.issuperset(fix.tests)


def table(rows: Mapping[str, Mapping[str, Scores]], sizes: Mapping[str, int]) -> str:
    """The scores in Markdown."""
    lines = [
        "| repository | files | fixes | chooser | first 5 | first 10 | visible | places | tokens of a view | filler | time of a view | tests |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for history, choosers in rows.items():
        for name, found in choosers.items():
            shown = f"{found.visible / found.fixes:.0%} | {found.places / found.fixes:.0%} | {found.view_tokens // found.fixes} | {found.filler_tokens / max(1, found.view_tokens):.0%} | {found.seconds / found.fixes:.2f} s | {found.tests_visible} and {found.tests_shown} of {found.with_tests}"
            lines.append(
                f"| {history} | {sizes.get(history, '')} | {found.fixes} | {name} | {found.first_5 / found.fixes:.0%} | {found.first_10 / found.fixes:.0%} | "
                f"{shown if found.view_tokens else ' | | | | |'} |"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Draw, measure, print."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench sight", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument(
        "--misses", action="store_true", help="list the fixes whose files are not all among the first ten"
    )
    parser.add_argument("--aider", default="", metavar="PYTHON", help="an interpreter that has aider-chat")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    rows: dict[str, dict[str, Scores]] = {}
    sizes: dict[str, int] = {}
    for folder in given.repositories:
        with closing(History(folder)) as history:
            fixes = history.fixes(given.count)
            if not fixes:
                _print(f"{history.name}: no fix in its history; is it whole?")
                continue
            sys.stderr.write(f"{history.name}: {len(fixes)} fixes\n")
            sizes[history.name] = len(CommitTree(history, "HEAD").files())
            with tempfile.TemporaryDirectory(prefix="bench-sight-") as laid:
                other = Aider(given.aider, Path(laid)) if given.aider else None
                rows[history.name] = measured(history, fixes, other=other, misses=given.misses)
    total: dict[str, Scores] = {}
    for choosers in rows.values():
        for name, found in choosers.items():
            total[name] = total.get(name, Scores()).plus(found)
    if len(rows) > 1:
        rows["all"] = total
    if given.json:
        _print(
            json.dumps(
                {
                    history: {name: found._asdict() for name, found in each.items()}
                    for history, each in rows.items()
                }
            )
        )
    else:
        _print(table(rows, sizes))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
