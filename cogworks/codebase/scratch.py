"""Temporary folders that do not outlive a killed process for long: the next to ask removes what nobody uses.

Tries whether a directory takes files, by making one and removing it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cogworks.own_folders import own_folder
from cogworks.removal import remove_tree

_MARK = ".in-use"


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder among the system's temporary ones, until the block ends; those of dead processes with this prefix go now.

    Only a folder that says whose it is, by a lock in it, is ever removed.
    """
    parent = Path(tempfile.gettempdir()).resolve()
    for abandoned in sorted(parent.glob(f"{prefix}*/{_MARK}")):
        descriptor = _held(abandoned)
        if descriptor is not None:
            remove_tree(abandoned.parent, ignore_errors=True)
            os.close(descriptor)
    folder, lock = _made(prefix, parent)
    try:
        yield folder
    finally:
        remove_tree(folder, ignore_errors=True)
        os.close(lock)


def _made(prefix: str, parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = os.open(folder / _MARK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Somebody who looks for abandoned ones was faster than we.
            os.close(descriptor)
        else:
            if (folder / _MARK).exists():
                return folder, descriptor
            os.close(descriptor)


def _held(mark: Path) -> int | None:
    """The lock of a folder nobody uses; None: somebody does, or it is not ours to take."""
    try:
        descriptor = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


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
        own_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL_BYTES))
            file.flush()
        return Tried("", shutil.disk_usage(folder).free)
    except OSError as error:
        return Tried(error.strerror or str(error), 0)
