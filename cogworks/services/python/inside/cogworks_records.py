"""The file that a run of tests tells its events to, one JSON line each; imports nothing of cogworks, and nothing of pytest."""

from __future__ import annotations

import json
import os
import time
from typing import Any

_MAX_CHARS = 100_000
_TIMED = frozenset({"start", "finish", "load", "loaded"})


class Records:
    """Each line is written at once: a process that is killed leaves behind what it knew.

    What the file holds already was written by a process that died: its tests are not run again, and what it died of while it
    was loaded is not loaded again.
    """

    def __init__(self, descriptor: int) -> None:
        # What the tests start is no business of this file.
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        self._process = os.getpid()
        told = _told_before(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        self.run_before = frozenset(record["id"] for record in told if record["kind"] == "start")
        self.deadly = _deadly(told)
        """The files and folders that an earlier process did not survive loading."""
        self.test = ""
        """The one that runs, empty between two."""

    def write(self, **record: Any) -> None:
        if os.getpid() != self._process:
            # A test forked, and its child came out of the test as well.
            return
        if record["kind"] in _TIMED:
            record["at"] = round(time.monotonic(), 3)
        # A lone surrogate is text to Python and to nobody else.
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode(errors="replace")
        while line:
            line = line[os.write(self._descriptor, line) :]


def written(name: str) -> str:
    """An id as the file has it."""
    return name.encode(errors="replace").decode()


def capped(text: str) -> str:
    # Whoever reads the report shortens it further; this keeps a test from filling the disk with its message.
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS // 2]}\n…\n{text[-_MAX_CHARS // 2 :]}"


def _told_before(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def _deadly(told: list[dict[str, Any]]) -> frozenset[str]:
    found: set[str] = set()
    loading: list[str] = []
    for record in told:
        if record["kind"] == "load":
            loading.append(record["id"])
        elif record["kind"] == "loaded":
            loading.remove(record["id"])
        elif record["kind"] == "next":
            # The session itself has no name.
            found.update(filter(None, loading[-1:]))
            loading = []
    return frozenset(found)
