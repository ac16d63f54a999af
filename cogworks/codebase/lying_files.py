"""Files of a worktree as they lie there, tracked or not."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def parents_of(path: str) -> Iterator[str]:
    """The folders around a path, the outermost first."""
    parts = path.removesuffix("/").split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts)))


def content_digest(place: Path, mode: int) -> str:
    """What tells the content of a file or link from another; nothing for what is neither."""
    if stat.S_ISLNK(mode):
        return os.fsencode(place.readlink()).hex()
    if not stat.S_ISREG(mode):
        return ""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_folder(place: Path) -> None:
    """Remove a folder with all that is in it, as far as that can be done."""
    # A test may take its own right to write away; root does not notice, others would leave it behind.
    with suppress(OSError):
        place.chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)


def walked(top: Path) -> Iterator[str]:
    """Every file, link and folder below a worktree but git's own, without following links; folders end with a slash."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in sorted(os.scandir(top / folder), key=lambda entry: entry.name):
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if path != ".git":
                    waiting.append(f"{path}/")
                    yield f"{path}/"
            elif path != ".git":
                yield path
