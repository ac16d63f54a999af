"""Runs transactions in child processes that are killed at a chosen point, and checks what is left; one JSON line each.

`python -m tests.repair.killing FOLDER FIRST COUNT`
"""

import io
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.codebase.git import Git
from cogworks.repair.transact.outcomes import TransactionEvent
from cogworks.repair.transact.transaction import TransactionPorts, transact
from tests.codebase.repositories import ENVIRONMENT, git
from tests.limits import LONG_RUN_ENDS_WITHIN_S, reaped
from tests.repair.benches import FactChecks, make_worktree, on_disk, patch_tree, real_git, terms

POINTS = (*(f"T{number}" for number in range(1, 11)), "git")


class DyingGit(Git):
    """Kills its own process before or after one of its commands."""

    def __init__(self, folder: Path, number: int, *, before: bool) -> None:
        super().__init__(environment=os.environ, home=folder)
        self._left = number
        self._before = before

    def run(
        self,
        *arguments: str,
        cwd: Path,
        extra: Mapping[str, str] | None = None,
        stdin: str = "",
        ok: tuple[int, ...] = (0,),
    ) -> str:
        self._left -= 1
        if self._left == 0 and self._before:
            _die()
        answer = super().run(*arguments, cwd=cwd, extra=extra, stdin=stdin, ok=ok)
        if self._left == 0:
            _die()
        return answer


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def spoil(tree: Path) -> None:
    """What careless tests leave behind."""
    (tree / "litter.txt").write_text("litter")
    (tree / "cache" / "more").mkdir(exist_ok=True)
    (tree / "b.txt").write_text("spoilt by a test\n")


def diffs(tree: Path, chance: random.Random) -> list[str]:
    """Some random changes, then one that repairs and one that breaks; each of the files as they are at first."""
    now = {path: (tree / path).read_text() for path in ("a.txt", "b.txt", "sub/c.txt")}
    made: list[str] = []
    for _ in range(chance.randrange(3)):
        path = chance.choice(sorted(now))
        lines = now[path].splitlines(keepends=True)
        at = chance.randrange(len(lines))
        new = chance.choice(
            [["y = good\n"], ["y = bad\n"], [], [lines[at], "z = broken\n"], ["line\n", "line\n"]]
        )
        made.append(change(path, now[path], "".join([*lines[:at], *new, *lines[at + 1 :]])))
    new_file = between("new.txt", "", "x\n").model_copy(update={"kind": "create", "new_mode": "100644"})
    made.append(change("sub/c.txt", now["sub/c.txt"], "x = bad\n") + render(Diff(files=(new_file,))))
    made.append(change("a.txt", now["a.txt"], now["a.txt"].replace("a = bad", "a = good")))
    return made if chance.random() < 0.5 else made[::-1]


def change(path: str, before: str, after: str) -> str:
    """A diff of one file."""
    return render(Diff(files=(between(path, before, after),)))


def killed_at(point: str, tree: Path, chance: random.Random) -> bool:
    """Whether a child process that tried the diffs was killed at the point; the others come to their end."""
    wanted = diffs(tree, chance)
    number, before, skip = chance.randrange(1, 60), chance.random() < 0.5, chance.randrange(2)
    child = os.fork()
    if child == 0:
        seen = 0

        def tell(moment: TransactionEvent) -> None:
            nonlocal seen
            seen += moment.step == point
            if seen > skip:
                _die()

        runner = DyingGit(tree.parent, number, before=before) if point == "git" else real_git(tree.parent)
        ports = TransactionPorts(patch_tree(tree, runner), FactChecks(tree, spoil), tell=tell)
        for text in wanted:
            transact(text, terms(tree), ports)
        os._exit(0)
    return reaped(child) < 0


def committed(tree: Path, kept: Sequence[str]) -> dict[str, bytes]:
    """The files of the last commit, and the ignored ones that have to survive."""
    archive = subprocess.run(
        ["git", "archive", "HEAD"],
        cwd=tree,
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        members = [member for member in files.getmembers() if member.isfile()]
        found = {member.name: (files.extractfile(member) or io.BytesIO()).read() for member in members}
    return found | {path: (tree / path).read_bytes() for path in kept}


def main(folder: Path, first: int, count: int) -> None:
    tree = make_worktree(folder)
    base, ignored = git(tree, "rev-parse", "HEAD"), ("cache/kept", "old.log")
    for number in range(first, first + count):
        chance, point = random.Random(number), POINTS[number % len(POINTS)]
        git(tree, "reset", "--quiet", "--hard", base)
        was_killed = killed_at(point, tree, chance)
        resumed = patch_tree(tree)
        with resumed.hold() as is_ours:
            assert is_ours
            resumed.recover()
        commits = git(tree, "log", "--format=%s", f"{base}..HEAD").splitlines()
        files = {path: data for path, (mode, data) in on_disk(tree).items() if (tree / path).is_file()}
        folders = {path for path in on_disk(tree) if (tree / path).is_dir()}
        left = {"dirt": resumed.dirt(), "commits": commits, "same": files == committed(tree, ignored)}
        left["folders"] = sorted(folders - {"cache", "sub"})
        sys.stdout.write(json.dumps({"number": number, "point": point, "killed": was_killed} | left) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
