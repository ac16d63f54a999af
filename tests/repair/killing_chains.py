"""Kills processes in the middle of two changes that only land together, then in the middle of undoing them; one JSON line each.

`python -m tests.repair.killing_chains FOLDER FIRST COUNT`
"""

import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

from cogworks.codebase.patchtree import PatchTree
from cogworks.repair.transact.gates import Selection
from cogworks.repair.transact.transaction import TransactionPorts, transact
from tests.codebase.repositories import git
from tests.limits import reaped
from tests.repair.benches import FILES, FactChecks, make_worktree, patch_tree, real_git, terms
from tests.repair.killing import DyingGit, change, committed, spoil

MOST_COMMANDS = 90
"""About as many git commands as two transactions take."""
KEPT = ("cache/kept", "old.log")


def both(tree: PatchTree, place: Path) -> None:
    """One change that improves nothing by itself, and one that repairs, under one savepoint."""
    ports = TransactionPorts(tree, FactChecks(place, spoil))
    half = FILES["a.txt"].replace("a = bad", "a = worse")
    with tree.hold():
        tree.save()
    part = terms(place, Selection(targeted=("a.txt",), is_part=True))
    for one, other in ((FILES["a.txt"], half), (half, half.replace("a = worse", "a = good"))):
        assert transact(change("a.txt", one, other), part, ports).is_kept
    with tree.hold():
        tree.release()


def undone(tree: PatchTree, place: Path) -> None:
    """What the next one to work here does first."""
    del place
    with tree.hold():
        tree.go_back()
        tree.recover()


def killed(act: Callable[[PatchTree, Path], None], place: Path, number: int, *, before: bool) -> bool:
    """Whether a child process that did this was killed at one of its git commands."""
    child = os.fork()
    if child == 0:
        act(patch_tree(place, DyingGit(place.parent, number, before=before)), place)
        os._exit(0)
    return reaped(child) < 0


def main(folder: Path, first: int, count: int) -> None:
    for number in range(first, first + count):
        chance = random.Random(number)
        (folder / str(number)).mkdir()
        place = make_worktree(folder / str(number))
        was_killed = killed(both, place, chance.randrange(1, MOST_COMMANDS), before=chance.random() < 0.5)
        again = killed(undone, place, chance.randrange(1, 25), before=chance.random() < 0.5)
        undone(patch_tree(place, real_git(place.parent)), place)
        wanted = committed(place, KEPT)
        found = {path: (place / path).read_bytes() for path in wanted if (place / path).is_file()}
        told = {
            "killed": was_killed,
            "again": again,
            "commits": git(place, "log", "--format=%s", "main..").splitlines(),
            "same": found == wanted,
            "dirt": git(place, "status", "--porcelain"),
        }
        sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
