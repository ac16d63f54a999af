"""The file that a run of tests writes its events to, one JSON line each; imports nothing of cogworks, and nothing of pytest."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

Seal = Callable[[bytes], bytes]

_MAX_CHARS = 100_000
_TIMED = frozenset({"start", "finish", "load", "loaded"})


class Records:
    """Each line is written at once: a process that is killed leaves behind what it knew.

    What the file holds already was written by a process that died: its tests are not run again, and what it died of while it
    was loaded is not loaded again.

    Code under test can write there as well. So the reader of the file put a key at its end, which is taken out before any code of
    the repository is loaded, and each line carries its seal.
    """

    def __init__(self, descriptor: int, seal: Seal | None = None) -> None:
        """Args:
        seal: by a key that was taken before; None: it is taken now.
        """
        # What the tests start is no business of this file.
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        self._seal = seal or taken(descriptor)
        self._process = os.getpid()
        earlier = _earlier_records(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        self.run_before = frozenset(record["id"] for record in earlier if record["kind"] == "start")
        self.deadly = _deadly(earlier)
        """The files and folders that an earlier process did not survive loading."""
        self.test = ""
        """The one that runs, empty between two."""

    def go_on_in_fork(self) -> None:
        """For a fork of our own: what it writes is recorded as well."""
        self._process = os.getpid()

    def write(self, **record: Any) -> None:
        if os.getpid() != self._process:
            # A test forked, and its child came out of the test as well.
            return
        if record["kind"] in _TIMED:
            record["at"] = round(time.monotonic(), 3)
        # A lone surrogate is text to Python and to nobody else.
        text = json.dumps(record, ensure_ascii=False).encode(errors="replace")
        line = self._seal(text) + text + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]


def taken(descriptor: int) -> Seal:
    """What seals lines, by the key that is taken out of the file; without one nothing is sealed."""
    size = os.fstat(descriptor).st_size
    before, _, last = os.pread(descriptor, size, 0)[:-1].rpartition(b"\n")
    if not last.startswith(KEY):
        return lambda _: b""
    os.ftruncate(descriptor, len(before) + 1 if before else 0)
    os.lseek(descriptor, 0, os.SEEK_END)
    # No name leads to it from here on.
    begun = hmac.new(last[len(KEY) :], digestmod=hashlib.sha256)

    def seal(text: bytes) -> bytes:
        own = begun.copy()
        own.update(text)
        return own.hexdigest().encode() + b" "

    return seal


KEY = b"key "
"""How the line of the key begins."""
_FD = "--cogworks-report-fd="


def taken_early() -> dict[int, Seal]:
    """What seals the report that the command line names, before pytest loads what the repository brings."""
    seals = {}
    for word in sys.argv:
        if word.startswith(_FD) and word[len(_FD) :].isdigit():
            try:
                seals[int(word[len(_FD) :])] = taken(int(word[len(_FD) :]))
            except OSError:
                # A process of somebody else's beginning, which the file was not handed to.
                break
    return seals


def written(name: str) -> str:
    """An id as the file has it."""
    return name.encode(errors="replace").decode()


def capped(text: str) -> str:
    # Whoever reads the report shortens it further; this keeps a test from filling the disk with its message.
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS // 2]}\n…\n{text[-_MAX_CHARS // 2 :]}"


def _earlier_records(text: bytes) -> list[dict[str, Any]]:
    lines = text.split(b"\n")[:-1]
    # The reader of the file judges what others left in it.
    return [json.loads(line[line.find(b"{") :]) for line in lines if b"{" in line]


def _deadly(records: list[dict[str, Any]]) -> frozenset[str]:
    places: set[str] = set()
    loading: list[str] = []
    for record in records:
        if record["kind"] == "load":
            loading.append(record["id"])
        elif record["kind"] == "loaded":
            loading.remove(record["id"])
        elif record["kind"] == "next":
            # The session itself has no name.
            places.update(filter(None, loading[-1:]))
            loading = []
    return frozenset(places)
