"""Writes several files below one directory, or takes back what was written of them; separates names and texts from bytes."""

import re
from collections.abc import Sequence
from pathlib import Path

from cogworks.codebase.changes import FileChange, normalised
from cogworks.codebase.confined import StoredFile, delete_file, read_file, write_file
from cogworks.codebase.failures import CodebaseError

_NEW_FILE_MODE = 0o644
_SURROGATE = re.compile("[\ud800-\udfff]")
Before = tuple[str, StoredFile | None]
"""A path and what was there; None: nothing."""


def write_all(root: Path, changes: Sequence[FileChange]) -> Sequence[Before]:
    """Write all changes; what was there before, for `put_back`.

    Raises:
        CodebaseError: the disk refused half-way; what was written until then is taken back.
    """
    before: list[Before] = []
    try:
        # Deletions first: a removed file may make room for a directory.
        for change in sorted(changes, key=lambda change: change.action != "delete"):
            path = normalised(change.path)
            old = read_file(root, path)
            before.append((path, old))
            if change.action == "delete":
                delete_file(root, path)
            else:
                mode = old.mode if old else _NEW_FILE_MODE
                write_file(root, path, StoredFile(change.content.encode(), mode))
    except OSError as error:
        put_back(root, before)
        raise CodebaseError(
            f"{root}: the changes could not be written: {error}. Nothing was changed."
        ) from error
    return before


def put_back(root: Path, before: Sequence[Before]) -> None:
    """Make the files what they were."""
    for path, old in reversed(before):
        delete_file(root, path) if old is None else write_file(root, path, old)


def is_text(text: str) -> bool:
    """Whether what git said was UTF-8: bytes that are none are read as surrogates."""
    return _SURROGATE.search(text) is None
