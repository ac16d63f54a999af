"""Control groups of version 2: one for each run where this process may make them, so that the kernel holds its memory and threads."""

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import Lacking

_PROCESS = Path("/proc/self")
_NEEDED = frozenset({"memory", "pids"})
_MEMBERS = "run"
"""The group below that of the limits. Whoever makes a namespace of groups in there does not see what limits it."""
_NAME = re.compile(r"cogworks-(\d+)-(\d+)-(\d+)-\d+")
_NUMBERS = itertools.count(1)
_FAREWELL_S = 3.0
_PAUSE_S = 0.005
_VERSION_2 = (
    "Boot with `systemd.unified_cgroup_hierarchy=1`, or mount cgroup v2 with its memory and pids controllers."
)
_DELEGATE = (
    "Start cogworks by `systemd-run --user --scope -p Delegate=yes`, or as a service with `Delegate=yes` and "
    "`DelegateSubgroup=main` (systemd 254)."
)


class GroupPlace(NamedTuple):
    """Where groups for runs are made, or why nowhere."""

    place: str = ""
    """The folder of a group; empty: nowhere."""
    lacking: Lacking | None = None


def places(groups: str, mounts: str) -> tuple[Path, ...]:
    """The folders in which a group for a run could be made, the nearest first: those of all groups above that of this process.

    Its own lends nothing on as long as a process is in it, unless it is the top of everything.

    Args:
        groups: what `/proc/self/cgroup` says.
        mounts: what `/proc/self/mountinfo` says.
    """
    own = next((line.removeprefix("0::") for line in groups.splitlines() if line.startswith("0::")), "")
    if not own or ".." in PurePosixPath(own).parts:
        # It lies beyond what is shown to this process.
        return ()
    for root, point in _mounted(mounts):
        with suppress(ValueError):
            below = PurePosixPath(own).relative_to(root)
            return tuple(Path(point, each) for each in below.parents or (below,))
    return ()


def _mounted(mounts: str) -> Iterator[tuple[str, str]]:
    """Which group is shown at which folder."""
    for line in mounts.splitlines():
        place, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 "):
            root, point = (_unescaped(each) for each in place.split()[3:5])
            yield root, point


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def events(text: str) -> dict[str, int]:
    """How often what happened to a group, of a file that says so."""
    pairs = (line.split() for line in text.splitlines())
    return {name: int(count) for name, count in pairs}


def reached(limits: Limits, memory: dict[str, int], pids: dict[str, int]) -> tuple[str, ...]:
    """The limits at which the kernel stopped a group, in words.

    Args:
        memory: the events of `memory.events`.
        pids: those of `pids.events`.
    """
    reasons = []
    if memory.get("oom_kill"):
        # Where its own limit was never reached, it was that of a group above, or there was no more.
        beyond = "no memory was left on this machine, or in a control group above"
        reasons.append(limits.beyond_memory if memory.get("oom") else beyond)
    if pids.get("max"):
        reasons.append(limits.beyond_threads)
    return tuple(reasons)


def find(trial: Callable[[str], str | None], *, process: Path = _PROCESS) -> GroupPlace:
    """The first place in which a command of ours can be put into a group; what dead processes left there is removed.

    Args:
        trial: runs a command in a group below a place; why that cannot be, None when it can.
        process: what the kernel shows of this process.
    """
    try:
        groups, mounts = ((process / name).read_text("utf-8") for name in ("cgroup", "mountinfo"))
    except (OSError, ValueError) as error:
        return GroupPlace(lacking=Lacking("control group", str(error), _VERSION_2))
    above = places(groups, mounts)
    why = ""
    for place in above:
        problem = _problem(place) or trial(str(place))
        if problem is None:
            _sweep(place)
            return GroupPlace(str(place))
        why = why or problem
    return GroupPlace(
        lacking=Lacking("control group", why or "no group of version 2 can be seen", _remedy(groups))
    )


def _remedy(groups: str) -> str:
    of_version_1 = (line.split(":")[1].split(",") for line in groups.splitlines() if ":" in line)
    return _VERSION_2 if "0::" not in groups or any("memory" in each for each in of_version_1) else _DELEGATE


def _problem(place: Path) -> str | None:
    """Why nothing is lent to groups below this one, None when it is."""
    try:
        lent = set((place / "cgroup.subtree_control").read_text("utf-8").split())
        if not lent >= _NEEDED and os.geteuid():
            # What is an ordinary user's own was delegated, for just this.
            (place / "cgroup.subtree_control").write_text("+memory +pids")
            return None
    except OSError as error:
        return f"{place}: {error.strerror}"
    return None if lent >= _NEEDED else f"{place} lends no memory and pids"


class Group:
    """The group of one run."""

    def __init__(self, parent: Path, limits: Limits) -> None:
        """Raises OSError where it cannot be made."""
        self._limits = limits
        self._place = parent / f"cogworks-{_namespace()}-{os.getpid()}-{_begun(os.getpid())}-{next(_NUMBERS)}"
        self._place.mkdir()
        try:
            (self._place / _MEMBERS).mkdir()
            self._write("memory.max", limits.memory_bytes)
            self._write("pids.max", limits.threads)
            # Not all kernels count what is swapped out.
            with suppress(FileNotFoundError):
                self._write("memory.swap.max", 0)
            self._write("memory.oom.group", 1)
            self.joining = os.open(self._members(), os.O_WRONLY | os.O_CLOEXEC)
            """Whoever writes 0 into this open file joins the group."""
        except OSError:
            _remove(self._place)
            raise

    def excess(self) -> str | None:
        """What is too much by now, None while all is well; everything has ended then."""
        reason = self._too_many()
        if reason is not None:
            self._kill()
        return reason

    def reached(self) -> tuple[str, ...]:
        """The limits at which the kernel stopped it."""
        memory, pids = (events(self._read(name)) for name in ("memory.events", "pids.events"))
        return reached(self._limits, memory, pids)

    def close(self) -> None:
        """End what is in it, and remove it."""
        os.close(self.joining)
        self._kill()
        _remove(self._place)

    def _too_many(self) -> str | None:
        if events(self._read("pids.events")).get("max"):
            return self._limits.beyond_threads
        # These are all of its threads, which the kernel has counted already.
        if int(self._read("pids.current") or 0) <= self._limits.processes:
            return None
        with suppress(OSError):
            count = len(self._members().read_text("utf-8").split())
            return self._limits.beyond_processes if count > self._limits.processes else None
        return None

    def _kill(self) -> None:
        # Before Linux 5.14 the launcher alone ends what is left.
        with suppress(OSError):
            self._write("cgroup.kill", 1)

    def _members(self) -> Path:
        return self._place / _MEMBERS / "cgroup.procs"

    def _write(self, name: str, number: int) -> None:
        # Never made: a file that is not there is one that this kernel does not have.
        with os.fdopen(
            os.open(self._place / name, os.O_WRONLY | os.O_CLOEXEC), "w", encoding="utf-8"
        ) as file:
            file.write(str(number))

    def _read(self, name: str) -> str:
        with suppress(OSError):
            return (self._place / name).read_text("utf-8")
        return ""


@contextmanager
def group(place: str, limits: Limits) -> Iterator[Group | None]:
    """A group for one run; None where there is no place for one, or none can be made any more: the launcher counts in any case."""
    created = None
    with suppress(OSError):
        created = Group(Path(place), limits) if place else None
    try:
        yield created
    finally:
        if created is not None:
            created.close()


def _remove(place: Path) -> None:
    """Remove a group whose processes end just now; one that lasts is left to the next run."""
    until_s = time.monotonic() + _FAREWELL_S
    for each in (place / _MEMBERS, place):
        while each.exists():
            try:
                each.rmdir()
            except OSError:
                if time.monotonic() > until_s:
                    return
                time.sleep(_PAUSE_S)


def _sweep(parent: Path) -> None:
    """Remove the groups of processes that are no more, as far as those could be seen from here."""
    for place in parent.glob("cogworks-*"):
        named = _NAME.fullmatch(place.name)
        if named is None or named[1] != _namespace() or _begun(int(named[2])) == named[3]:
            continue
        with suppress(OSError):
            (place / "cgroup.kill").write_text("1")
        _remove(place)


def _namespace() -> str:
    """The number of the namespace in which numbers of processes are counted."""
    return "".join(filter(str.isdigit, str((_PROCESS / "ns/pid").readlink())))


def _begun(pid: int) -> str:
    """When a process began, in ticks since the machine did; empty: there is none of this number."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    return ""
