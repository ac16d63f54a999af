"""What is tested is what is committed: no attribute of a repository makes other bytes of a file on the way."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.git import zsplit
from cogworks.own_folders import closed_folder

# In `info/attributes`, which counts more than any file of the repository. A filter needs a program that git's configuration
# names, and none is read here; the attribute stays, for it shows what Git LFS keeps.
_NEUTRAL = "* -text -ident !eol !working-tree-encoding\n"
_REGULAR = ("100644", "100755")


def neutralise(repository: Path) -> None:
    """Let git write and read every file as it is stored, in this repository and all its worktrees.

    Args:
        repository: the folder of git's own files.
    """
    place = repository / "info" / "attributes"
    if not place.is_file() or place.read_text(encoding="utf-8", errors="replace") != _NEUTRAL:
        closed_folder(place.parent)
        place.write_text(_NEUTRAL, encoding="utf-8")


def refuse_other_bytes(run: Callable[..., str], top: Path, *, since: str | None) -> None:
    """Let nothing be pushed whose files lie otherwise on the disk, where they were tested.

    Args:
        run: `Git.run` in the worktree.
        since: files that differ between this commit and the last one are looked at; None: all of them.

    Raises:
        CodebaseError: a file of the last commit has other bytes on the disk.
    """
    committed = dict(_committed(run))
    named = ("diff-tree", "-r", "--name-only", "--no-renames", "-z", since or "", "HEAD")
    changed = zsplit(run(*named)) if since else sorted(committed)
    other = [path for path in changed if path in committed and not _holds(top, path, committed[path])]
    if other:
        raise CodebaseError(
            f"{top}: what was tested is not what would be pushed: the disk and the commit have different bytes of "
            f"{', '.join(other[:5])}. Nothing was pushed. Remove the directory, and run the step again."
        )


def _committed(run: Callable[..., str]) -> Iterator[tuple[str, str]]:
    for entry in zsplit(run("ls-tree", "-r", "-z", "HEAD")):
        about, path = entry.split("\t", 1)
        mode, _, oid = about.split(" ")
        if mode in _REGULAR:
            yield path, oid


def _holds(top: Path, path: str, oid: str) -> bool:
    file = read_file(top, path)
    if file is None:
        return False
    kind = "sha256" if len(oid) == 64 else "sha1"
    return (
        hashlib.new(kind, b"blob %d\0" % len(file.data) + file.data, usedforsecurity=False).hexdigest() == oid
    )
