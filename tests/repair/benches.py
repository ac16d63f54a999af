"""A real git worktree to try diffs in, and checks whose verdict follows from the files alone."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cogworks.codebase.git import Git
from cogworks.codebase.patchtree import PatchTree
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.outcomes import Terms
from cogworks.repair.violations import Reading, Step
from cogworks.vocabulary import CommitOid, RunId, Severity
from tests.codebase.repositories import BOT, git

FILES: Mapping[str, str] = {
    "a.txt": "a = bad\nb = good\nc = good\nd = bad\n",
    "b.txt": "".join(f"line {number}\n" for number in range(1, 31)),
    "sub/c.txt": "x = good\n",
    ".gitignore": "*.log\ncache/\n",
}
_FACT = re.compile(r"^(\w+) = (\w+)$", re.MULTILINE)


def make_worktree(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """A linked worktree on a branch of its own, with ignored files lying in it."""
    main, tree = folder / "main", folder / "tree"
    git(folder, "init", "--quiet", "--initial-branch=main", str(main))
    for path, text in files.items():
        (main / path).parent.mkdir(parents=True, exist_ok=True)
        (main / path).write_text(text)
    git(main, "add", "--all")
    git(main, "commit", "--quiet", "--message", "before")
    git(main, "worktree", "add", "--quiet", "-b", "cogworks/7/swi-1", str(tree))
    (tree / "cache").mkdir()
    (tree / "cache" / "kept").write_text("kept")
    (tree / "old.log").write_text("kept as well")
    return tree


def real_git(folder: Path) -> Git:
    return Git(environment=os.environ, home=folder)


def patch_tree(tree: Path, runner: Git | None = None) -> PatchTree:
    return PatchTree(tree, runner or real_git(tree.parent), identity=BOT, lock_wait_s=0.3)


def terms(tree: Path, selection: Selection | None = None, **more: object) -> Terms:
    """A step that may change every file of the worktree, under tests named for the facts in them."""
    step = Step(
        id="fix-1",
        files=(*FILES, "new.txt", "sub/new.txt"),
        create=("new.txt", "sub/new.txt"),
        delete=("b.txt", "sub/c.txt"),
        max_changed_lines=500,
        max_files=9,
    )
    return Terms(
        run=RunId("run-1"),
        sub_item="A",
        step=step,
        selection=selection or Selection(targeted=("a.txt",), regression=("b.txt", "sub/c.txt")),
        base=CommitOid(git(tree, "rev-parse", "main")),
    ).model_copy(update=more)


class FactChecks:
    """Each line `name = word` of a text file is a test: `good` passes, `broken` is a static error, the rest fails.

    With one that is `unloadable` none of its file runs.

    Obeys `cogworks.repair.transact.transaction.Checks`.
    """

    def __init__(
        self,
        tree: Path,
        spoil: Callable[[Path], object] = lambda _: None,
        *,
        after: Callable[[Path], object] = lambda _: None,
    ) -> None:
        """Args:
        spoil: what each run of tests does to the worktree before it looks at it; `after`: afterwards.
        """
        self._tree = tree
        self._spoil = spoil
        self._after = after
        self.runs: list[tuple[str, ...]] = []
        self.static_runs: list[tuple[str, ...]] = []
        self.reads = 0

    def static(self, paths: Sequence[str]) -> Sequence[Diagnostic]:
        self.static_runs.append(tuple(paths))
        return [
            Diagnostic(
                artifact=path,
                line=1,
                severity=Severity.BLOCKING,
                category="syntax_error",
                message=f"{name} is broken",
            )
            for path in paths
            for name, word in self._facts(path)
            if word == "broken"
        ]

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        self.runs.append(tuple(tests))
        self._spoil(self._tree)
        facts = {path: self._facts(path) for path in sorted(FILES)}
        unloaded = [path for path, own in facts.items() if any(word == "unloadable" for _, word in own)]
        known = [
            TestCase(id=f"{path}::{name}", outcome="passed" if word == "good" else "failed")
            for path, own in facts.items()
            if path not in unloaded
            for name, word in own
        ]
        wanted = tuple(tests)
        cases = (
            case for case in known if not wanted or case.id in wanted or case.id.split("::")[0] in wanted
        )
        asked = {test.split("::")[0] for test in wanted}
        report = TestReport(
            cases=tuple(cases),
            collection_errors=tuple(
                f"{path}: cannot be loaded" for path in unloaded if not asked or path in asked
            ),
        )
        self._after(self._tree)
        return report

    def read(self, images: Mapping[str, str | None]) -> Reading:
        self.reads += 1
        return Reading()

    def _facts(self, path: str) -> list[tuple[str, str]]:
        place = self._tree / path
        return _FACT.findall(place.read_text()) if place.is_file() else []


def on_disk(tree: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, link and folder of a worktree with its mode and content."""
    found = {}
    for path in sorted(tree.rglob("*")):
        name, mode = str(path.relative_to(tree)), path.lstat().st_mode
        if path.relative_to(tree).parts[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = (mode, bytes(path.readlink()))
        else:
            found[name] = (mode, b"" if path.is_dir() else path.read_bytes())
    return found
