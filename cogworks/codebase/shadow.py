"""A throw-away copy of a worktree in which some files have other texts."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.confined import StoredFile, delete_file, write_file


class Shadow(NamedTuple):
    """Where the copy is."""

    path: Path


@contextmanager
def shadow_of(worktree: Path, images: Mapping[str, str | None]) -> Iterator[Shadow]:
    """The files of a worktree without its history, some of them with these texts (None: deleted), until the block ends.

    Raises:
        OSError: a file cannot be written, or lies behind a symbolic link.
    """
    with tempfile.TemporaryDirectory(prefix="cogworks-shadow-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder).resolve() / "copy"
        shutil.copytree(worktree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        for path, text in images.items():
            if text is None:
                delete_file(copy, path)
            else:
                write_file(copy, path, StoredFile(text.encode(errors="surrogateescape"), 0o644))
        yield Shadow(copy)
