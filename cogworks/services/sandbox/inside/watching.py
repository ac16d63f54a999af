"""The launcher's first process: waits for the command, keeps it within what all its processes may use together, ends the rest."""

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from cogworks.services.sandbox.inside.holding import Holdings, text_of
from cogworks.services.sandbox.inside.order import Limits, Verdict

_PAUSE_S = 0.05
_LONG_PAUSE_S = 0.25
"""Where the whole machine's processes have to be looked through."""
_FAREWELL_S = 2.0
_MAX_NAMES = 10
_PAGE = os.sysconf("SC_PAGE_SIZE")

Usage = tuple[int, int]
"""Threads, and bytes of memory."""


def await_end(child: int, limits: Limits, everyone: Callable[[], list[int]]) -> Verdict:
    """How the command ended; afterwards none of its processes is left.

    Ends early, with everything, when a limit is reached or when our standard input closes: the process that wanted this is gone.

    Args:
        child: the command's process.
        everyone: all processes that came of it.
    """
    broken: list[str] = []
    holdings = Holdings(has_own_ipc=os.getpid() == 1)
    while True:
        code = _reaped(child)
        if code is not None:
            left = _names(everyone())
            _end(everyone)
            return Verdict(code, left=left)
        pids = everyone()
        broken = _broken(pids, limits, holdings)
        if broken or _is_abandoned():
            _end(everyone)
            return Verdict(None, broken=tuple(broken))


def inside_namespace() -> list[int]:
    """Every process of our namespace but ourselves; we are its first."""
    return [pid for pid in _pids() if pid != 1]


def descendants() -> list[int]:
    """Every process that descends from ours; we adopt those whose parents ended."""
    parents = dict(_parents())
    pids = {os.getpid()}
    grown = True
    while grown:
        fresh = {pid for pid, parent in parents.items() if parent in pids} - pids
        grown = bool(fresh)
        pids |= fresh
    return sorted(pids - {os.getpid()})


def _parents() -> list[tuple[int, int]]:
    parents = []
    for pid in _pids():
        with suppress(OSError, IndexError):
            parents.append((pid, int(_stat(pid)[1])))
    return parents


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may itself hold spaces and parentheses."""
    return text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _reaped(child: int) -> int | None:
    """Collect who ended, for a moment at most; the command's code once it has one."""
    signal.sigtimedwait([signal.SIGCHLD], _PAUSE_S if os.getpid() == 1 else _LONG_PAUSE_S)
    code = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
    return code


def _is_abandoned() -> bool:
    # Nobody ever writes there: readable means closed.
    return bool(select.select([0], [], [], 0)[0])


def _broken(pids: list[int], limits: Limits, holdings: Holdings) -> list[str]:
    # Before anything is read of them: among so many that spin we get little time.
    if len(pids) > limits.processes:
        return [limits.beyond_processes]
    threads, resident = _usage(pids)
    held = holdings.held(pids)
    if threads > limits.threads:
        return [limits.beyond_threads]
    most = limits.memory_bytes - held.memory
    if resident > most and _exact_memory(pids, counted=held.memory) > most:
        return [limits.beyond_memory]
    if held.disk > limits.disk_bytes:
        return [f"wrote more than {limits.disk_bytes // 1024**2} MiB to files without a name"]
    return ["a process that hides what it holds"] if held.hidden else []


def _usage(pids: list[int]) -> Usage:
    count = memory = 0
    for pid in pids:
        with suppress(OSError, IndexError, ValueError):
            fields = _stat(pid)
            count += int(fields[17])
            memory += int(fields[21]) * _PAGE
    return count, memory


def _exact_memory(pids: list[int], *, counted: int) -> int:
    """Bytes, with what several processes share counted once; slower to find.

    Args:
        counted: bytes of files in memory and of shared segments that were counted as such; what is mapped of them is no more.
    """
    total = shared = 0
    for pid in pids:
        try:
            text = text_of(f"/proc/{pid}/smaps_rollup")
            total += _kilobytes(text, "Pss:") * 1024
            shared += _kilobytes(text, "Pss_Shmem:") * 1024
        except PermissionError:
            # It keeps us from looking; how much is resident stands elsewhere.
            total += _usage([pid])[1]
        except (OSError, IndexError, ValueError):
            continue
    return total - min(shared, counted)


def _kilobytes(text: str, field: str) -> int:
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(field))


def _names(pids: list[int]) -> tuple[str, ...]:
    names = []
    for pid in pids:
        with suppress(OSError):
            if _stat(pid)[0] not in "ZX":
                names.append(text_of(f"/proc/{pid}/comm").strip())
    return tuple(sorted(names)[:_MAX_NAMES])


def _end(everyone: Callable[[], list[int]]) -> None:
    if os.getpid() == 1:
        # At once, so that nobody can start another in between; the namespace ends with us anyway.
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    deadline = time.monotonic() + _FAREWELL_S
    while (pids := everyone()) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)
