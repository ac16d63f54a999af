"""How much a command has written below its directories, asked often and answered cheaply."""

import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.services.sandbox.inside.order import Limits

_SHARE_OF_TIME = 20
"""One part of this of our time goes into counting at most, unless the disk fills quickly."""
_LONGEST_PAUSE_S = 5.0


class Usage(NamedTuple):
    """What lies below some directories."""

    size: int
    """Bytes on the disk."""
    entries: int


def usage(folders: Sequence[Path]) -> Usage:
    """Counted without following links; what vanishes meanwhile does not count."""
    size = entries = 0
    waiting = [os.fspath(folder) for folder in folders]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    about = entry.stat(follow_symlinks=False)
                    entries += 1
                    size += about.st_blocks * 512
                    if stat.S_ISDIR(about.st_mode):
                        waiting.append(entry.path)
        except OSError:
            continue
    return Usage(size, entries)


class DiskWatch:
    """Says when a command has written more than it may."""

    def __init__(
        self, folders: Sequence[Path], limits: Limits, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folders = folders
        self._limits = limits
        self._clock = clock
        self._begun = usage(folders)
        self._free = self._left()
        self._next_s = clock() + 1.0

    def excess(self) -> str | None:
        """What is too much, None while all is well."""
        if self._clock() < self._next_s and not self._fills_quickly():
            return None
        started_s = self._clock()
        now = usage(self._folders)
        spent_s = self._clock() - started_s
        self._next_s = self._clock() + min(max(1.0, spent_s * _SHARE_OF_TIME), _LONGEST_PAUSE_S)
        self._free = self._left()
        if now.size - self._begun.size > self._limits.disk_bytes:
            return f"wrote more than {self._limits.disk_bytes // 1024**2} MiB to the disk"
        if now.entries - self._begun.entries > self._limits.disk_entries:
            return f"made more than {self._limits.disk_entries} files and directories"
        return None

    def _fills_quickly(self) -> bool:
        free = self._left()
        return (
            self._free.size - free.size > self._limits.disk_bytes // 4
            or self._free.entries - free.entries > self._limits.disk_entries // 4
        )

    def _left(self) -> Usage:
        about = os.statvfs(self._folders[0])
        return Usage(about.f_bfree * about.f_frsize, about.f_ffree)
