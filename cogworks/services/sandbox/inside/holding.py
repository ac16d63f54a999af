"""What processes hold that no folder and no resident size shows: files in memory, files without a name, segments of System V."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

_PAUSE_S = 0.2
"""Between two looks at one process."""
_SLICE_S = 0.01
"""So long is looked at a time: among many that spin, the process that counts them must get on to count them again."""
_GONE = " (deleted)"
_IN_MEMORY = "/memfd:"
_NO_FILES = ("/dev/zero", "/SYSV", "/anon_hugepage", "/[aio]")
"""What a mapping that never was a file is called."""
_BLOCK = 512
_HIDDEN_LOOKS = 5
"""A process that begins or ends may be out of sight for a moment."""

File = tuple[int, int]
"""Device and number, the same for every process that has it open."""


class Held(NamedTuple):
    """Bytes that count although nothing shows them."""

    memory: int = 0
    disk: int = 0
    hidden: bool = False
    """Whether a process keeps us from looking."""


class _Seen(NamedTuple):
    """What one process holds."""

    at_s: float
    files: Mapping[File, tuple[str, int]] = MappingProxyType({})
    """With their name and size."""
    unseen: int = 0
    """How often in a row it kept us from looking."""


class Holdings:
    """Looks through what processes have open and mapped, a few of them at a time."""

    def __init__(self, *, has_own_ipc: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Args:
        has_own_ipc: whether every segment of System V that can be seen is theirs.
        """
        self._has_own_ipc = has_own_ipc
        self._clock = clock
        self._seen: dict[int, _Seen] = {}

    def held(self, pids: list[int]) -> Held:
        """What these processes hold, each as it was at the last look at it."""
        self._seen = {pid: self._seen[pid] for pid in pids if pid in self._seen}
        until_s = self._clock() + _SLICE_S
        longest_ago = sorted(pids, key=lambda pid: self._seen[pid].at_s if pid in self._seen else 0.0)
        for pid in longest_ago:
            now_s = self._clock()
            if now_s > until_s or (pid in self._seen and now_s - self._seen[pid].at_s < _PAUSE_S):
                break
            self._seen[pid] = self._looked(pid, now_s)
        files = {file: about for each in self._seen.values() for file, about in each.files.items()}
        memory = sum(size for name, size in files.values() if name.startswith(_IN_MEMORY))
        return Held(
            memory=memory + (_segments() if self._has_own_ipc else 0),
            disk=sum(size for _, size in files.values()) - memory,
            hidden=any(each.unseen >= _HIDDEN_LOOKS for each in self._seen.values()),
        )

    def _looked(self, pid: int, now_s: float) -> _Seen:
        before = self._seen.get(pid, _Seen(0.0))
        try:
            mapped = {file: (name, size) for file, name, size in _mappings(pid)}
            opened = {file: (name, size) for file, name, size in _open_files(pid)}
        except PermissionError:
            return before._replace(at_s=now_s, unseen=before.unseen + 1)
        except OSError:
            return _Seen(now_s)
        # Who keeps a mapping alone has the whole file all the same.
        known = {file: before.files.get(file, about) for file, about in mapped.items()}
        return _Seen(now_s, {**known, **opened})


def text_of(path: str) -> str:
    """Of a file of the kernel's; what is no text in it is replaced."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _open_files(pid: int) -> Iterator[tuple[File, str, int]]:
    """The open files without a name, with their name of before and their size on the disk or in memory."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            name = os.readlink(place := f"/proc/{pid}/fd/{number}")
            if name.endswith(_GONE):
                about = os.stat(place)
                yield (about.st_dev, about.st_ino), name, about.st_blocks * _BLOCK


def _mappings(pid: int) -> Iterator[tuple[File, str, int]]:
    """The same of what is mapped; the size is that of the mapping."""
    for line in text_of(f"/proc/{pid}/maps").splitlines():
        if line.endswith(_GONE):
            addresses, _, _, device, number, name = line.split(maxsplit=5)
            if not name.startswith(_NO_FILES):
                first, _, last = addresses.partition("-")
                major, _, minor = device.partition(":")
                file = os.makedev(int(major, 16), int(minor, 16)), int(number)
                yield file, name, int(last, 16) - int(first, 16)


def _segments() -> int:
    """What the segments of System V hold, attached or not."""
    try:
        lines = text_of("/proc/sysvipc/shm").splitlines()
    except OSError:
        return 0
    columns = lines[0].split()
    places = [columns.index(name) for name in ("rss", "swap")]
    return sum(int(line.split()[place]) for line in lines[1:] for place in places)
