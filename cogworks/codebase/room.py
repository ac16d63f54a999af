"""Tries whether a directory takes files, by making one and removing it."""

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

_TRIAL_BYTES = 256 * 1024


class Tried(NamedTuple):
    """What came of it."""

    problem: str
    """Why no file could be made; empty: one could."""
    free_bytes: int


def tried_room(folder: Path) -> Tried:
    """Make and remove a file of some size in a directory, which is made where it is missing. Never raises OSError."""
    if folder.exists() and not folder.is_dir():
        return Tried("it is no directory", 0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL_BYTES))
            file.flush()
        return Tried("", shutil.disk_usage(folder).free)
    except OSError as error:
        return Tried(error.strerror or str(error), 0)
