"""Hostile programs that multiply, grow, print or stay; each is shown to succeed where there are no isolation or wider limits."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.cores import most_processes
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import Isolation
from cogworks.services.sandbox.running import NotStarted
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.processes import running
from tests.services.sandbox.attacks import HERE, NO_ISOLATION, PYTHON, attack, name, variants

WALLS = pytest.mark.parametrize("isolation", variants(), ids=name)
BOTH = pytest.mark.parametrize("isolation", [HERE, NO_ISOLATION], ids=name)

FORK = """
import os, sys, time
for number in range(int(sys.argv[1])):
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
print("forked", flush=True)
time.sleep(float(sys.argv[2]))
"""


@BOTH
def test_forks_without_end_end_the_run_and_are_named(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(FORK, tmp_path, isolation, 60, 20, limits=Limits(processes=30))

    assert (ended.code, ended.blocked) == (None, ("ended: more than 30 processes at once",))


def test_within_wider_limits_as_many_could_be_forked(tmp_path: Path) -> None:
    ended = attack(FORK, tmp_path, NO_ISOLATION, 60, 0, limits=Limits(processes=500))

    assert ended.output == "forked\n"
    assert ended.blocked[0].startswith("ended with the run: processes left running: ")


BOMB = """
import mmap, os, struct, sys, time
most, ends = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
born = mmap.mmap(-1, 8)
while time.monotonic() < ends:
    (count,) = struct.unpack("q", born[:8])
    if count < most:
        born[:8] = struct.pack("q", count + 1)
        try:
            os.fork()
        except OSError:
            pass
"""
"""Every process forks and spins; where no wall ends it, it ends itself: after so many processes and so many seconds."""


@pytest.mark.slow
@WALLS
def test_a_bomb_of_forks_that_spin_ends_by_the_usual_limit(isolation: Isolation, tmp_path: Path) -> None:
    most = most_processes()

    ended = attack(BOMB, tmp_path, isolation, 2 * most, 60, timeout_s=60)

    assert (ended.code, ended.timed_out) == (None, False)
    assert ended.blocked == (f"ended: more than {most} processes at once",)


def test_within_wider_limits_it_goes_on_to_its_own_end(tmp_path: Path) -> None:
    ended = attack(BOMB, tmp_path, HERE, 60, 0.5, limits=Limits(processes=500))

    assert ended.code == 0


THREADS = """
import sys, threading, time
for number in range(int(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
print("begun", flush=True)
time.sleep(float(sys.argv[2]))
"""


@BOTH
def test_threads_without_end_end_the_run_and_are_named(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(THREADS, tmp_path, isolation, 60, 20, limits=Limits(threads=30))

    assert (ended.code, ended.blocked) == (None, ("ended: more than 30 threads at once",))


def test_threads_are_no_processes(tmp_path: Path) -> None:
    ended = attack(THREADS, tmp_path, HERE, 60, 0.5, limits=Limits(processes=30))

    assert (ended.code, ended.output) == (0, "begun\n")


GROW = """
import os, sys, time
count, size = map(int, sys.argv[1:])
for number in range(count):
    if os.fork() == 0:
        held = bytearray(os.urandom(1024) * (size * 1024))
        time.sleep(20)
        os._exit(0)
time.sleep(0.1)
while count:
    os.wait()
held = bytearray(size * 2**20)
print("grown")
"""


@BOTH
def test_memory_of_all_processes_together_is_limited(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(GROW, tmp_path, isolation, 4, 50, limits=Limits(memory_bytes=100 * 2**20))

    assert (ended.code, ended.blocked) == (None, ("ended: more than 100 MiB of memory",))


@BOTH
def test_one_process_cannot_grow_without_end(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(GROW, tmp_path, isolation, 0, 200, limits=Limits(address_bytes=150 * 2**20))

    assert ended.code == 1
    assert ended.output.rstrip().endswith("MemoryError")


def test_within_wider_limits_it_could_grow(tmp_path: Path) -> None:
    assert attack(GROW, tmp_path, NO_ISOLATION, 0, 200).output == "grown\n"


PRINT = """
import sys
for number in range(int(sys.argv[1])):
    sys.stdout.write("x" * 2**16)
"""


@BOTH
def test_output_without_end_ends_the_run_and_is_named(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(PRINT, tmp_path, isolation, 10**9, limits=Limits(output_bytes=2**20, file_bytes=2**30))

    assert ended.code is None
    assert ended.blocked == ("ended: printed more than 1 MiB",)
    assert len(ended.output) == 16_000


def test_within_wider_limits_more_could_be_printed(tmp_path: Path) -> None:
    assert attack(PRINT, tmp_path, NO_ISOLATION, 32).code == 0


WHAT_IS_STDOUT = """
import os, stat, sys
mode = os.fstat(1).st_mode
print("pipe" if stat.S_ISFIFO(mode) else "file" if stat.S_ISREG(mode) else "other")
sys.stdout.write("x" * int(sys.argv[1]) + "end")
"""


@BOTH
def test_a_command_prints_into_a_pipe_and_its_last_words_are_kept(
    isolation: Isolation, tmp_path: Path
) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    few.mkdir()
    many.mkdir()

    assert attack(WHAT_IS_STDOUT, few, isolation, 0).output == "pipe\nend"
    assert attack(WHAT_IS_STDOUT, many, isolation, 5 * 2**20).output == "x" * (16_000 - 3) + "end"


STAY = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
ready, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(told, b"x")
        os.closerange(0, 100)
        os.execv(sys.argv[1], [sys.argv[1], "-I", "-S", "-c", "import time; time.sleep(60)", sys.argv[2]])
    os._exit(0)
os.read(ready, 1)
time.sleep(float(sys.argv[3]))
print("gone")
"""


@WALLS
def test_a_daemon_does_not_outlive_the_run_and_is_named(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(STAY, tmp_path, isolation, PYTHON, tmp_path.name, 0.1)

    assert (ended.code, ended.output) == (0, "gone\n")
    assert ended.blocked[0].startswith("ended with the run: processes left running: python")
    assert running(tmp_path.name) == []


@WALLS
def test_a_daemon_does_not_outlive_the_time_limit(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(STAY, tmp_path, isolation, PYTHON, tmp_path.name, 60, timeout_s=0.7)

    assert (ended.code, ended.timed_out) == (None, True)
    assert running(tmp_path.name) == []


def test_without_a_launcher_the_daemon_would_stay(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", STAY, PYTHON, tmp_path.name, "0.1"],
        check=True,
        timeout=ENDS_WITHIN_S,
    )
    left = running(tmp_path.name)
    for pid in left:
        os.kill(pid, signal.SIGKILL)

    assert len(left) == 1


STRIKE = """
import os, signal, time
for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
    try:
        os.kill(os.getppid(), number)
    except PermissionError:
        pass
time.sleep(0.2)
print("struck")
"""


@WALLS
def test_the_launcher_cannot_be_ended_from_inside(isolation: Isolation, tmp_path: Path) -> None:
    assert attack(STRIKE, tmp_path, isolation).output == "struck\n"


def test_without_walls_it_could_be_and_nothing_is_taken_for_a_result(tmp_path: Path) -> None:
    with pytest.raises(NotStarted):
        attack(STRIKE, tmp_path, NO_ISOLATION)


NEIGHBOUR = "import os, sys; os.kill(int(sys.argv[1]), 9)"


@WALLS
def test_other_processes_cannot_be_ended(isolation: Isolation, tmp_path: Path) -> None:
    with Started(["sleep", "60"]) as other:
        try:
            assert attack(NEIGHBOUR, tmp_path, isolation, other.pid).code == 1
            assert other.poll() is None
        finally:
            other.kill()


def test_without_walls_they_could_be(tmp_path: Path) -> None:
    with Started(["sleep", "60"]) as other:
        assert attack(NEIGHBOUR, tmp_path, NO_ISOLATION, other.pid).code == 0
        assert other.wait(timeout=ENDS_WITHIN_S) == -signal.SIGKILL


WIDEN = """
import ctypes
library = ctypes.CDLL(None, use_errno=True)
def refused(result):
    return result < 0
print(refused(library.ptrace(0, 0, 0, 0)), refused(library.unshare(0x10000000)), refused(library.mount(b"x", b"/", b"tmpfs", 0, None)))
"""


@pytest.mark.parametrize("isolation", [each for each in variants() if each.is_filtered], ids=name)
def test_tracing_and_new_namespaces_are_refused(isolation: Isolation, tmp_path: Path) -> None:
    assert attack(WIDEN, tmp_path, isolation).output == "True True True\n"


def test_without_the_filter_a_process_can_be_traced(tmp_path: Path) -> None:
    assert attack(WIDEN, tmp_path, NO_ISOLATION).output.startswith("False ")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_the_walls_hold_for_an_ordinary_user_as_well(tmp_path: Path) -> None:
    python = Path("/usr/bin/python3")
    root = Path(__file__).parents[3]
    told = "from cogworks.services.sandbox.probing import strongest; import sys; print(strongest('/usr/bin').is_complete)"
    script = f"import sys; sys.path.insert(0, {str(root)!r}); {told}"
    command = [str(python), "-I", "-B", "-c", script]
    readable = _as_nobody(["test", "-r", f"{root}/cogworks/__init__.py"]).returncode == 0
    if not readable or not python.exists():
        pytest.skip("nobody can read this checkout, or there is no Python of the system")

    done = _as_nobody(command)

    assert (done.stdout.strip(), done.stderr) == (str(HERE.is_complete), "")


def _as_nobody(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"PATH": os.environ["PATH"], "TMPDIR": "/tmp"},
        user=65534,
        group=65534,
        extra_groups=[],
        timeout=ENDS_WITHIN_S,
    )
