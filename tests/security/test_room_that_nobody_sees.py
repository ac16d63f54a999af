"""A test takes memory and disk in ways that neither a folder nor a resident size shows."""

import itertools
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.services.sandbox.disk import DiskWatch, usage
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import Isolation
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.sandbox.attacks import HERE, NO_ISOLATION, attack, name

ROOT = Path(__file__).resolve().parents[2]

EVERYWHERE = pytest.mark.parametrize("isolation", [HERE, NO_ISOLATION], ids=name)
COMPLETE = pytest.mark.skipif(not HERE.is_complete, reason="this machine builds no complete isolation")
IN_MEMORY = """
import ctypes, mmap, os, sys, time
count, hides = int(sys.argv[1]), sys.argv[2]
if hides == "undumpable":
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
held = []
for number in range(count):
    file = os.memfd_create("x")
    for _ in range(16):
        os.write(file, b"x" * 2**20)
    if hides == "mapped":
        time.sleep(0.3)
        held.append(mmap.mmap(file, 4096))
        os.close(file)
print("held", flush=True)
time.sleep(float(sys.argv[3]))
"""


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("hides", ["open", "mapped"])
def test_files_in_memory_count_as_memory(hides: str, isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(IN_MEMORY, tmp_path, isolation, 8, hides, 20, limits=Limits(memory_bytes=100 * 2**20))

    assert (ended.code, ended.blocked) == (None, ("ended: more than 100 MiB of memory",))


@pytest.mark.slow
@COMPLETE
def test_who_would_hide_is_seen_all_the_same(tmp_path: Path) -> None:
    ended = attack(IN_MEMORY, tmp_path, HERE, 8, "undumpable", 20, limits=Limits(memory_bytes=100 * 2**20))

    assert (ended.code, ended.blocked) == (None, ("ended: more than 100 MiB of memory",))


def test_within_wider_limits_as_much_could_be_held(tmp_path: Path) -> None:
    assert attack(IN_MEMORY, tmp_path, HERE, 8, "open", 0.6).output == "held\n"


SEGMENTS = """
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
for number in range(int(sys.argv[1])):
    segment = libc.shmget(0, 16 * 2**20, 0o1600)
    place = libc.shmat(segment, None, 0)
    ctypes.memset(place, 1, 16 * 2**20)
    libc.shmdt(ctypes.c_void_p(place))
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


@COMPLETE
def test_segments_of_system_v_count_as_memory(tmp_path: Path) -> None:
    ended = attack(SEGMENTS, tmp_path, HERE, 8, 20, limits=Limits(memory_bytes=100 * 2**20))

    assert (ended.code, ended.blocked) == (None, ("ended: more than 100 MiB of memory",))


UNLINKED = """
import os, sys, time
for number in range(int(sys.argv[1])):
    file = os.open("x", os.O_RDWR | os.O_CREAT)
    os.unlink("x")
    for _ in range(16):
        os.write(file, os.urandom(2**20))
print("written", flush=True)
time.sleep(float(sys.argv[2]))
"""


@EVERYWHERE
def test_files_without_a_name_count_as_disk(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(UNLINKED, tmp_path, isolation, 8, 20, limits=Limits(disk_bytes=64 * 2**20))

    assert (ended.code, ended.blocked) == (
        None,
        ("ended: wrote more than 64 MiB to files without a name",),
    )


LONG = """
import os, sys, time
for number in range(int(sys.argv[1])):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for number in range(8):
    with open(f"file-{number}", "wb") as file:
        for _ in range(16):
            file.write(os.urandom(2**20))
print("written", flush=True)
time.sleep(float(sys.argv[2]))
"""


@EVERYWHERE
def test_files_behind_a_long_path_count_as_disk(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(LONG, tmp_path, isolation, 60, 20, limits=Limits(disk_bytes=64 * 2**20))

    assert (ended.code, ended.blocked) == (None, ("ended: wrote more than 64 MiB to the disk",))


def test_folders_too_deep_to_be_counted_are_no_way_out(tmp_path: Path) -> None:
    seconds = itertools.count(0, 10)
    watch = DiskWatch([tmp_path], Limits(), clock=lambda: next(seconds))
    with Started([sys.executable, "-c", LONG.replace("range(8)", "()"), "300", "0"], cwd=tmp_path) as process:
        assert process.wait(ENDS_WITHIN_S) == 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/proc/self/fd").iterdir()]) + 20, hard))
    try:
        assert watch.excess() == "made folders nested too deeply to be counted"
        # What an earlier command left ends the next one in the same words.
        later = DiskWatch([tmp_path], Limits(), clock=lambda: next(seconds))
        assert later.excess() == "made folders nested too deeply to be counted"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


LOCKED = """
import itertools, os, pathlib, shutil, sys, tempfile
from cogworks.services.sandbox.disk import DiskWatch
from cogworks.services.sandbox.inside.order import Limits

if os.geteuid() == 0:  # Root reads everything.
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
mode = int(sys.argv[1], 8)
top = pathlib.Path(tempfile.mkdtemp())
seconds = itertools.count(0, 10)
watch = DiskWatch([top], Limits(disk_bytes=2**20), clock=lambda: next(seconds))
locked = top / "locked"
(locked / "inner").mkdir(parents=True)
(locked / "inner" / "file").write_bytes(os.urandom(2**21))
(locked / "inner").chmod(mode)
locked.chmod(mode)
print(watch.excess())
print(oct(locked.stat().st_mode & 0o777))
print(watch.excess())
print(oct(locked.stat().st_mode & 0o777))
locked.chmod(0o700)
print(oct((locked / "inner").stat().st_mode & 0o777))
(locked / "inner").chmod(0o700)
print(watch.excess())
shutil.rmtree(top)
"""


@pytest.mark.parametrize("mode", ["000", "300", "400"])
def test_files_in_folders_that_cannot_be_read_count_as_disk(mode: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-B", "-c", LOCKED, mode],
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN_S,
        cwd=ROOT,
        check=False,
    )

    assert ended.stderr == ""
    first, then, second, after, inner, open_again = ended.stdout.splitlines()
    # Tests lock folders for a moment: what is locked once is left alone.
    assert (first, int(then, 8)) == ("None", int(mode, 8))
    assert second == "wrote more than 1 MiB to the disk"
    assert int(after, 8) == int(inner, 8) == int(mode, 8)
    assert open_again == second


def test_what_is_counted_is_everything_once(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to(tmp_path / "a")

    found = usage([tmp_path])

    assert found.entries == 4
    assert 100_000 <= found.size <= 150_000
