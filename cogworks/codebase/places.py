"""Places on the disk that one process uses at a time: kept ones, and temporary ones that do not outlive a killed process for long."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cogworks.errors import TryAgainLater
from cogworks.own_folders import own_folder
from cogworks.removal import remove_tree

MAX_BESIDE = 8
"""Places of one name, the first included: more runners than that do not hang on one machine by accident."""
_POLL_S = 0.1


class Places:
    """Holds places below one directory until they are released, or the process ends in whatever way.

    The locks are kept apart from the places, so that a place can be removed while it is held.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._held: dict[Path, int] = {}

    def take(self, first: Path, what: str, *, wait_s: float = 0.0) -> Path:
        """The first place that nobody else holds: `first`, or one beside it.

        A process that is stopped keeps what it holds, though its lease may be somebody else's by now.

        Args:
            wait_s: how long `first` itself is waited for.

        Raises:
            TryAgainLater: every one of them is held.
        """
        until = time.monotonic() + wait_s
        while not self.hold(first) and time.monotonic() < until:
            time.sleep(_POLL_S)
        # One that is ours already comes before one that has become free.
        for path in sorted(beside(first), key=lambda path: path not in self._held):
            if self.hold(path):
                return path
        raise TryAgainLater(
            f"{what} ({first} and {MAX_BESIDE - 1} beside it) is in use by other processes. Let them finish, or end "
            "them, and run the step again."
        )

    @contextmanager
    def taken(self, first: Path, what: str, *, wait_s: float) -> Iterator[Path]:
        """Like `take`, until the block ends."""
        path = self.take(first, what, wait_s=wait_s)
        try:
            yield path
        finally:
            self.release(path)

    def hold(self, path: Path) -> bool:
        """Whether the place is ours now; it stays ours when it was."""
        if path in self._held:
            return True
        lock = self._root / "locks" / path.relative_to(self._root)
        own_folder(lock.parent)
        descriptor = os.open(f"{lock}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._held[path] = descriptor
        return True

    def each_free(self, paths: Iterable[Path]) -> Iterator[Path]:
        """Those that nobody holds, not even we, each held while it is dealt with."""
        for path in paths:
            if path not in self._held and self.hold(path):
                try:
                    yield path
                finally:
                    self.release(path)

    def release(self, path: Path) -> None:
        """Let others have it; nothing happens when it is not ours."""
        descriptor = self._held.pop(path, None)
        if descriptor is not None:
            os.close(descriptor)

    def release_all(self, below: Path) -> None:
        """The same for every place below a directory."""
        for path in [path for path in self._held if path.is_relative_to(below)]:
            self.release(path)


def beside(first: Path) -> Iterator[Path]:
    """The place itself and those beside it, in the order they are taken."""
    yield first
    for number in range(2, MAX_BESIDE + 1):
        yield first.with_name(f"{first.name}+{number}")


_MARK = ".in-use"


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder among the system's temporary ones, until the block ends; those of dead processes with this prefix go now.

    Only a folder that says whose it is, by a lock in it, is ever removed.
    """
    parent = Path(tempfile.gettempdir()).resolve()
    for abandoned in sorted(parent.glob(f"{prefix}*/{_MARK}")):
        descriptor = _free_lock(abandoned)
        if descriptor is not None:
            remove_tree(abandoned.parent, ignore_errors=True)
            os.close(descriptor)
    folder, lock = _make_folder(prefix, parent)
    try:
        yield folder
    finally:
        remove_tree(folder, ignore_errors=True)
        os.close(lock)


def _make_folder(prefix: str, parent: Path) -> tuple[Path, int]:
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


def _free_lock(mark: Path) -> int | None:
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
    """The result of it."""

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
