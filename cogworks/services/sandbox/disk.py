"""How much a command has written below its directories, asked often and answered cheaply."""

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from cogworks.services.sandbox.inside.order import Limits

_SHARE_OF_TIME = 20
"""One part of this of our time goes into counting at most, unless the disk fills quickly."""
_LONGEST_PAUSE_S = 5.0
_MOST_PATH = 2_000
"""Bytes of a path; the system takes no more than 4,096."""
_READABLE = 0o500
_AS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Usage(NamedTuple):
    """What lies below some directories."""

    size: int
    """Bytes on the disk."""
    entries: int


def usage(folders: Sequence[Path], locks: "Locks | None" = None) -> Usage:
    """Counted without following links; what vanishes meanwhile does not count.

    Args:
        locks: what to do about folders that cannot be read; None: nothing.
    """
    size = entries = 0
    for folder in folders:
        for about in _everything(folder, locks or Locks()):
            entries += 1
            size += about.st_blocks * 512
    return Usage(size, entries)


class Locks:
    """Folders that may not be read: met, or opened for as long as it takes to count them."""

    def __init__(self, *, opening: bool = False) -> None:
        self._opening = opening
        self.met = False
        """Whether one was met that stays as it is."""

    def opened(self, place: str, base: int | None, until: ExitStack) -> bool:
        """Whether a folder can be read now that could not before.

        Args:
            base: the open folder in which the path begins.
            until: when it ends, the folder's mode is what it was.
        """
        # Elsewhere nothing names an open folder, so that its mode could be changed and no other's.
        if not self._opening or sys.platform != "linux":
            self.met = True
            return False
        try:
            folder = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=base)
        except OSError as error:
            _no_more_descriptors(error)
            return False
        until.callback(os.close, folder)
        mode, itself = stat.S_IMODE(os.fstat(folder).st_mode), Path(f"/proc/self/fd/{folder}")
        if mode & _READABLE == _READABLE:
            return False
        # By its descriptor: whatever takes the folder's place meanwhile is not touched.
        with suppress(PermissionError):
            itself.chmod(mode | _READABLE)
            until.callback(itself.chmod, mode)
            return True
        # Not ours, so the command did not make it.
        return False


def _no_more_descriptors(error: OSError) -> None:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise TooDeep from error


def _everything(top: Path, locks: Locks) -> Iterator[os.stat_result]:
    """Whatever lies below a folder, however long the way to it: a path is followed from a folder above it that is held open.

    Raises:
        TooDeep: so deep that no more folders can be held open.
    """
    with ExitStack() as opened:
        above: list[tuple[int, list[str]]] = [(-1, [os.fspath(top)])]
        while above:
            base, waiting = above[-1]
            if not waiting:
                above.pop()
                continue
            place = waiting.pop()
            try:
                folder = os.open(place, _AS_FOLDER, dir_fd=None if base < 0 else base)
                if len(os.fsencode(place)) > _MOST_PATH:
                    opened.callback(os.close, folder)
                    above.append((folder, ["."]))
                    continue
                try:
                    yield from _right_below(folder, place, waiting)
                finally:
                    os.close(folder)
            except PermissionError:
                if locks.opened(place, None if base < 0 else base, opened):
                    waiting.append(place)
            except OSError as error:
                # What vanishes meanwhile does not count.
                _no_more_descriptors(error)


def _right_below(folder: int, place: str, waiting: list[str]) -> Iterator[os.stat_result]:
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                about = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(about.st_mode):
                    waiting.append(f"{place}/{entry.name}")
                yield about


class TooDeep(Exception):
    """Folders are nested so deeply that what is in them cannot be counted."""


class DiskWatch:
    """Says when a command has written more than it may."""

    def __init__(
        self, folders: Sequence[Path], limits: Limits, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folders = folders
        self._limits = limits
        self._clock = clock
        self._is_too_deep = False
        self._met_locks = False
        """At some look so far."""
        try:
            # Nothing runs yet that could notice.
            self._begun = usage(folders, Locks(opening=True))
        except TooDeep:
            # An earlier command left it so; this one is ended at the first look.
            self._is_too_deep = True
            self._begun = Usage(0, 0)
        self._free = self._left()
        self._next_s = clock() + 1.0

    def excess(self) -> str | None:
        """What is too much, None while all is well."""
        if self._is_too_deep:
            return "made folders nested too deeply to be counted"
        if self._clock() < self._next_s and not self._fills_quickly():
            return None
        started_s = self._clock()
        try:
            now = self._counted()
        except TooDeep:
            return "made folders nested too deeply to be counted"
        spent_s = self._clock() - started_s
        self._next_s = self._clock() + min(max(1.0, spent_s * _SHARE_OF_TIME), _LONGEST_PAUSE_S)
        self._free = self._left()
        if now.size - self._begun.size > self._limits.disk_bytes:
            return f"wrote more than {self._limits.disk_bytes // 1024**2} MiB to the disk"
        if now.entries - self._begun.entries > self._limits.disk_entries:
            return f"made more than {self._limits.disk_entries} files and directories"
        return None

    def _counted(self) -> Usage:
        """Tests lock a folder for a moment, and are left alone; once one was seen, later looks open each of them."""
        locks = Locks(opening=self._met_locks)
        now = usage(self._folders, locks)
        self._met_locks = self._met_locks or locks.met
        return now

    def _fills_quickly(self) -> bool:
        free = self._left()
        return (
            self._free.size - free.size > self._limits.disk_bytes // 4
            or self._free.entries - free.entries > self._limits.disk_entries // 4
        )

    def _left(self) -> Usage:
        about = os.statvfs(self._folders[0])
        return Usage(about.f_bfree * about.f_frsize, about.f_ffree)
