"""The lock files of a git command that died, and how they go."""

import time
from collections.abc import Callable
from pathlib import Path

_NAMES = ("index.lock", "HEAD.lock")
_PAUSE_S = 0.05


def break_locks(folder: Path, run: Callable[..., str], *, wait_s: float) -> None:
    """Remove the locks of a git command that died; one that only outlived its caller is waited for.

    Args:
        folder: the worktree's own git directory.
        run: runs git in the worktree.
        wait_s: how long such a command may go on.
    """
    branch = run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).strip()
    common = Path(run("rev-parse", "--path-format=absolute", "--git-common-dir").removesuffix("\n"))
    locks = [folder / name for name in _NAMES] + ([common / f"{branch}.lock"] if branch else [])
    until = time.monotonic() + wait_s
    while any(lock.exists() for lock in locks) and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    for lock in locks:
        lock.unlink(missing_ok=True)
