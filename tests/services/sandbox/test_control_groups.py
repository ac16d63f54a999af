"""The kernel itself holds a run where a control group can be had; where none can, it is told why and nothing fails."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cogworks.services.sandbox import control_groups
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.sandbox.attacks import HERE, OWN_NAMESPACES, attack, name, variants

SYSTEMD = (
    "24 18 0:22 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
)
HYBRID = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
OF_VERSION_1 = "8:pids:/\n4:memory:/process_api/30b3\n0::/\n"
BOUND = "40 30 0:22 /system.slice/a\\040b.scope /sys/fs/cgroup ro,nosuid,nodev,noexec - cgroup2 cgroup2 rw\n"


def _places(groups: str, mounts: str) -> list[str]:
    return [str(each) for each in control_groups.places(groups, mounts)]


def test_the_groups_above_that_of_this_process_are_tried_the_nearest_first() -> None:
    assert _places("0::/user.slice/user-0.slice/session-1.scope\n", SYSTEMD) == [
        "/sys/fs/cgroup/user.slice/user-0.slice",
        "/sys/fs/cgroup/user.slice",
        "/sys/fs/cgroup",
    ]


@pytest.mark.parametrize(
    ("groups", "mounts", "expected"),
    [
        (OF_VERSION_1, HYBRID, ["/sys/fs/cgroup/unified"]),
        ("0::/\n", SYSTEMD, ["/sys/fs/cgroup"]),
        ("0::/system.slice/a b.scope/sub\n", BOUND, ["/sys/fs/cgroup"]),
        ("0::/system.slice/other.scope\n", BOUND, []),
        ("0::/../session-3.scope\n", SYSTEMD, []),
        ("4:memory:/\n", SYSTEMD, []),
        ("0::/a/b\n", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", []),
        ("", "", []),
    ],
)
def test_what_this_process_does_not_see_is_no_place(groups: str, mounts: str, expected: list[str]) -> None:
    assert _places(groups, mounts) == expected


LIMITS = Limits(memory_bytes=100 * 2**20, threads=30)
MEMORY_EVENTS = "low 0\nhigh 0\nmax 213\noom {oom}\noom_kill {killed}\noom_group_kill 1\n"


@pytest.mark.parametrize(
    ("oom", "killed", "refused", "expected"),
    [
        (0, 0, 0, ()),
        (1, 3, 0, ("more than 100 MiB of memory",)),
        (0, 3, 0, ("no memory was left on this machine, or in a control group above",)),
        (0, 0, 7, ("more than 30 threads at once",)),
        # It reached its limit, and nothing had to be ended for it.
        (1, 0, 0, ()),
    ],
)
def test_what_the_kernel_stopped_is_named_as_the_launcher_names_it(
    oom: int, killed: int, refused: int, expected: tuple[str, ...]
) -> None:
    memory = control_groups.events(MEMORY_EVENTS.format(oom=oom, killed=killed))
    pids = control_groups.events(f"max {refused}\n")

    assert control_groups.reached(LIMITS, memory, pids) == expected


def test_where_no_group_can_be_had_it_is_told_why_and_what_to_do() -> None:
    found = control_groups.find(lambda place: f"{place}: refused")

    assert found.place == ""
    assert found.lacking is not None
    assert found.lacking.wall == "control group"
    assert "Delegate=yes" in found.lacking.remedy or "cgroup v2" in found.lacking.remedy


def test_a_place_that_is_gone_fails_no_run(tmp_path: Path) -> None:
    isolation = HERE._replace(group=str(tmp_path / "gone"))

    assert attack("print('here')", tmp_path, isolation).output == "here\n"


GROUPED = pytest.mark.skipif(
    not HERE.group, reason=f"no control group: {HERE.ungrouped.why if HERE.ungrouped else ''}"
)
IN_GROUPS = [each._replace(group=HERE.group) for each in [*variants(), NO_ISOLATION]]
ALL = pytest.mark.parametrize("isolation", IN_GROUPS, ids=name)


def _left() -> list[str]:
    return [each.name for each in Path(HERE.group).glob(f"cogworks-*-{os.getpid()}-*")]


HOLD = """
import ctypes, mmap, os, sys, time
kind, size = sys.argv[1], int(sys.argv[2]) * 2**20
if kind == "anonymous":
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
elif kind == "memfd":
    file = os.memfd_create("held")
    os.truncate(file, size)
    held = mmap.mmap(file, size)
elif kind == "shared":
    held = mmap.mmap(-1, size)
elif kind == "segment":
    library = ctypes.CDLL(None, use_errno=True)
    library.shmat.restype = ctypes.c_void_p
    where = library.shmat(library.shmget(0, ctypes.c_size_t(size), 0o1600), None, 0)
    held = (ctypes.c_char * size).from_address(where)
for page in range(0, size, mmap.PAGESIZE):
    held[page : page + 1] = b"x"
print("held", flush=True)
time.sleep(20)
"""


@GROUPED
@pytest.mark.parametrize("kind", ["anonymous", "memfd", "shared", "segment"])
@ALL
def test_no_more_memory_than_the_limit_is_ever_held(isolation: Isolation, kind: str, tmp_path: Path) -> None:
    ended = attack(HOLD, tmp_path, isolation, kind, 200, limits=Limits(memory_bytes=100 * 2**20))

    assert (ended.code, ended.output) == (None, "")
    assert ended.blocked == ("ended: more than 100 MiB of memory",)
    assert not _left()


THREADS = """
import threading, time
for number in range(60):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
print("begun", flush=True)
"""


@GROUPED
@ALL
def test_no_more_threads_than_the_limit_ever_run(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(THREADS, tmp_path, isolation, limits=Limits(threads=30))

    assert ended.code is None
    assert "begun" not in ended.output
    assert ended.blocked == ("ended: more than 30 threads at once",)


BOMB = """
import os, time
ends = time.monotonic() + 60
while time.monotonic() < ends:
    try:
        os.fork()
    except OSError:
        pass
"""


@GROUPED
@ALL
def test_a_bomb_of_forks_ends_at_a_limit_and_leaves_nothing(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(BOMB, tmp_path, isolation, limits=Limits(threads=100, processes=60), timeout_s=60)

    assert (ended.code, ended.timed_out) == (None, False)
    assert set(ended.blocked) <= {
        "ended: more than 60 processes at once",
        "ended: more than 100 threads at once",
    }
    assert ended.blocked
    assert not _left()


LEAVE = """
import ctypes, glob, os, sys
library = ctypes.CDLL(None, use_errno=True)
plainly = len(sys.argv) > 2
if not plainly and library.unshare(0x10000000 | 0x00020000 | 0x02000000) == 0:
    os.makedirs("seen", exist_ok=True)
    library.mount(b"none", b"seen", b"cgroup2", 0, None)
own = open("/proc/self/cgroup").read().split("0::")[1].strip()
tried = []
for top in (sys.argv[1] + "/" + (own.split("/")[-2] if plainly else "cogworks-*"), "seen"):
    for path in glob.glob(top + "/**/memory.max", recursive=True) + glob.glob(top + "/**/pids.max", recursive=True):
        tried.append((path, b"max"))
    tried.append((sys.argv[1] + "/cgroup.procs", str(os.getpid()).encode()))
for path, text in tried:
    try:
        with open(path, "wb", buffering=0) as file:
            file.write(text)
    except OSError:
        continue
    print("wrote", path, flush=True)
held = bytearray(200 * 2**20)
for page in range(0, len(held), 4096):
    held[page] = 1
print("held")
"""
"""Looks for its group by every way, also a mount of its own in new namespaces; then holds more than it may."""
WALLED = [each for each in IN_GROUPS if each.is_complete]


@GROUPED
@pytest.mark.parametrize("isolation", WALLED, ids=name)
def test_nobody_leaves_the_group_or_changes_its_limits(isolation: Isolation, tmp_path: Path) -> None:
    limits = Limits(memory_bytes=100 * 2**20)

    ended = attack(LEAVE, tmp_path, isolation, HERE.group, limits=limits)

    assert f"{HERE.group}/" not in ended.output
    assert "held" not in ended.output
    assert ended.blocked == ("ended: more than 100 MiB of memory",)


@GROUPED
def test_where_no_wall_hides_the_groups_their_limits_could_be_changed(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=100 * 2**20)

    ended = attack(
        LEAVE, tmp_path, NO_ISOLATION._replace(group=HERE.group), HERE.group, "plainly", limits=limits
    )

    assert f"wrote {HERE.group}/cogworks-" in ended.output


SERVICE = """
import sys
from pathlib import Path
from cogworks.services.sandbox.probing import strongest
from cogworks.services.sandbox.running import Confined, run
folder = Path(sys.argv[1])
words = ("/bin/sh", "-c", "echo > begun; sleep 60")
run(Confined(words, folder / "own", {}, (), (folder / "own",), 60), strongest(sys.argv[2]), scratch=folder / "scratch")
"""


@GROUPED
def test_the_group_of_a_service_that_was_killed_is_removed_by_the_next(tmp_path: Path) -> None:
    for each in ("own", "scratch"):
        (tmp_path / each).mkdir()
    words = [sys.executable, "-c", SERVICE, str(tmp_path), os.environ["PATH"]]
    with Started(words, cwd=Path(__file__).parents[3]) as service:
        ends_s = time.monotonic() + ENDS_WITHIN_S
        while not (tmp_path / "own/begun").exists() and time.monotonic() < ends_s:
            time.sleep(0.01)
        os.kill(service.pid, signal.SIGKILL)
        service.wait(timeout=ENDS_WITHIN_S)
    left = list(Path(HERE.group).glob(f"cogworks-*-{service.pid}-*"))

    assert len(left) == 1
    told = "import sys; from cogworks.services.sandbox.probing import strongest; print(strongest(sys.argv[1]).group)"
    done = subprocess.run(
        [sys.executable, "-c", told, os.environ["PATH"]],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )
    assert done.stdout.strip() == HERE.group
    assert not left[0].exists()


@GROUPED
def test_a_run_that_ends_by_itself_is_told_as_ever(tmp_path: Path) -> None:
    ended = attack("print('done')", tmp_path, OWN_NAMESPACES._replace(group=HERE.group))

    assert (ended.code, ended.output, ended.blocked) == (0, "done\n", ())
    assert not _left()
