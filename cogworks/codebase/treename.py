"""A name for the files of a git repository as they lie on the disk, committed or not."""

from hashlib import sha256
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.codebase.git import Git


def tree_name(git: Git, folder: Path) -> str:
    """64 hex digits; another for any changed, new or deleted file that git does not ignore.

    Raises:
        GitFailed: the folder is in no git repository, or that one has no commit yet.
    """
    root = Path(git.run("rev-parse", "--show-toplevel", cwd=folder).rstrip("\n"))
    named = sha256(git.run("rev-parse", "HEAD^{tree}", cwd=root).encode())
    changed = git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", cwd=root)
    for entry in sorted(filter(None, changed.split("\0"))):
        # The length keeps one entry from being read as another.
        line = f"{len(entry)} {entry} {_content(root, entry[3:])}\n"
        named.update(line.encode(errors="surrogateescape"))
    return named.hexdigest()


def _content(root: Path, path: str) -> str:
    if file := read_file(root, path):
        return f"{file.mode:o} {sha256(file.data).hexdigest()}"
    place = root / path
    return f"-> {place.readlink()}" if place.is_symlink() else "none"
