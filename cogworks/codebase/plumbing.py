"""Small pieces of git's plumbing that every working copy uses.

The lock files of a git command that died, and how they go.
"""

import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cogworks.codebase.git import Identity


def zsplit(text: str) -> list[str]:
    """The parts of an answer whose parts end with NUL."""
    return [part for part in text.split("\0") if part]


def blobs_of(answer: str) -> list[str | None]:
    """What `git cat-file --batch` answered: the text of each file, None for what is missing or something else."""
    raw, at = answer.encode(errors="surrogateescape"), 0
    texts: list[str | None] = []
    while at < len(raw):
        end = raw.index(b"\n", at)
        header = raw[at:end].split(b" ")
        at = end + 1
        # `<oid> <type> <size>`, or the name that was asked for and `missing`.
        if len(header) == 3 and header[1] in (b"blob", b"tree", b"commit", b"tag") and header[2].isdigit():
            content = raw[at : at + int(header[2])].decode(errors="surrogateescape")
            texts.append(content if header[1] == b"blob" else None)
            at += int(header[2]) + 1
        else:
            texts.append(None)
    return texts


_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def detached_head(folder: Path) -> str | None:
    """The commit that a worktree stands at, by the file in its own git directory; None where that names a branch.

    Git would say the same, as a program that has to be started.
    """
    try:
        text = (folder / "HEAD").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if _OID.fullmatch(text) else None


@contextmanager
def spare_index() -> Iterator[dict[str, str]]:
    """The environment of git commands that shall use an index of their own, empty at first."""
    with tempfile.TemporaryDirectory(prefix="cogworks-index-") as directory:
        yield {"GIT_INDEX_FILE": str(Path(directory, "index"))}


def authorship(identity: Identity, seconds: str) -> dict[str, str]:
    """The environment of a commit by this identity at this moment (seconds since 1970), the same in every time zone."""
    name, email = identity
    date = f"{seconds} +0000"
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "GIT_COMMITTER_DATE": date,
    }


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
