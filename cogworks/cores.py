"""How many cores a process may use, which in a container are fewer than the machine has."""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

_GROUPS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")
_PROCESSES, _PROCESSES_PER_CORE = 256, 16


def most_processes() -> int:
    """So few that the process that counts a bomb of forks still gets its turn; runs side by side need a few for each core."""
    return max(_PROCESSES, _PROCESSES_PER_CORE * cores())


def cores(groups: Path = _GROUPS, mounted: Path = _MOUNTED) -> int:
    """Those of its affinity, and no more than the quotas of its control groups come to; at least one.

    Args:
        groups: what names the control groups of the process.
        mounted: where they are mounted.
    """
    if sys.platform != "linux":
        return os.cpu_count() or 1
    return max(1, min([len(os.sched_getaffinity(0)), *_quotas(groups, mounted)]))


def _quotas(groups: Path, mounted: Path) -> Iterator[int]:
    """In cores, rounded up, of each group and of those above it."""
    try:
        lines = groups.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        own = PurePosixPath(path.lstrip("/"))
        # In a container the path may be that of the host; then only the top is there.
        for place in (own, *own.parents):
            quota = (
                _of_version_1(mounted / controllers / place)
                if controllers
                else _of_version_2(mounted / place)
            )
            if quota is not None:
                yield quota


def _of_version_2(group: Path) -> int | None:
    """Of a group of version 2: a quota, or `max`, and its period."""
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text("utf-8").split()
        return _ratio(int(quota), int(period))
    return None


def _of_version_1(group: Path) -> int | None:
    """Of a group of version 1, where -1 is no quota."""
    with suppress(OSError, ValueError):
        return _ratio(
            *(int((group / f"cpu.cfs_{name}_us").read_text("utf-8")) for name in ("quota", "period"))
        )
    return None


def _ratio(quota: int, period: int) -> int | None:
    return math.ceil(quota / period) if quota > 0 and period > 0 else None
