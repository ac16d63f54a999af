"""Hostile programs that read and write what is not theirs; each is shown to succeed where there are no isolation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import Isolation
from tests.limits import Started
from tests.services.sandbox.attacks import HERE, NO_ISOLATION, attack, name, variants

WALLS = pytest.mark.parametrize("isolation", variants(), ids=name)
COMPLETE = pytest.mark.parametrize("isolation", [each for each in variants() if each.is_complete], ids=name)
SECRET = "decoy-4711"
ROOT = Path(__file__).parents[3]
HIDDEN = {
    "ssh key": "home/.ssh/id_ed25519",
    "home": "home/notes.txt",
    "ledger clone": "work/clones/octo/hello/.git/config",
    "hub's store": "hub/store.sqlite",
}

READ = """
import sys
for path in sys.argv[1:]:
    try:
        print(open(path).read())
    except OSError as error:
        print(type(error).__name__)
"""


def decoys(folder: Path) -> list[Path]:
    places = [folder / path for path in HIDDEN.values()]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SECRET)
    return places


@WALLS
def test_keys_home_ledger_and_store_cannot_be_read(isolation: Isolation, tmp_path: Path) -> None:
    places = decoys(tmp_path)
    expected = "FileNotFoundError" if isolation.is_complete else "PermissionError"

    assert attack(READ, tmp_path, isolation, *places).output.split() == [expected] * len(places)


def test_without_walls_they_could_be_read(tmp_path: Path) -> None:
    places = decoys(tmp_path)

    assert attack(READ, tmp_path, NO_ISOLATION, *places).output.split() == [SECRET] * len(places)


ENVIRONMENTS = """
import glob, os, sys
def read(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
print(any(sys.argv[1].encode() in read(path) for path in glob.glob("/proc/[0-9]*/environ")))
print(sorted(set(os.environ) - {'LC_CTYPE'}))
print(sorted(int(each) for each in os.listdir("/proc/self/fd")) if os.access("/proc/self/fd", os.R_OK) else "")
"""


# A neighbour of the same user and no more powerful: root's own processes would be kept from us in any case.
NEIGHBOUR = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from cogworks.services.sandbox.inside.calls import drop_capabilities
drop_capabilities()
print("ready", flush=True)
os.execvp("sleep", ["sleep", "60"])
"""


def stolen_from_environments(isolation: Isolation, folder: Path) -> list[str]:
    command = [sys.executable, "-I", "-S", "-c", NEIGHBOUR]
    environment = {**os.environ, "TOKEN": SECRET}
    with Started(command, env=environment, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            return attack(ENVIRONMENTS, folder, isolation, SECRET).output.splitlines()
        finally:
            other.kill()


@WALLS
def test_environments_of_other_processes_cannot_be_read(isolation: Isolation, tmp_path: Path) -> None:
    stolen, own, descriptors = stolen_from_environments(isolation, tmp_path)

    assert stolen == "False"
    assert own == "['PATH']"
    # Nothing is inherited; the third is the listing itself.
    assert descriptors in ("[0, 1, 2, 3]", "")


def test_without_walls_the_environment_of_a_neighbour_could_be_read(tmp_path: Path) -> None:
    assert stolen_from_environments(NO_ISOLATION, tmp_path)[0] == "True"


WRITE = """
import os, sys
target, marker = sys.argv[1:]
def attempt(act):
    try:
        act()
    except OSError:
        pass
attempt(lambda: open(target, "w").write("spoilt"))
attempt(lambda: os.truncate(target, 0))
attempt(lambda: os.remove(target))
attempt(lambda: os.symlink(target, "link"))
attempt(lambda: open("link", "w").write("spoilt"))
attempt(lambda: open(os.path.relpath(target), "w").write("spoilt"))
attempt(lambda: os.link(target, "hard"))
attempt(lambda: open("hard", "w").write("spoilt"))
attempt(lambda: os.rename(target, "moved"))
attempt(lambda: open(f"/tmp/{marker}", "w").write("spoilt"))
attempt(lambda: open(f"/usr/{marker}", "w").write("spoilt"))
open("mine", "w").write("kept")
"""


def spoilt(isolation: Isolation, folder: Path) -> bool:
    target, marker = folder / "target", Path("/tmp") / f"cogworks-{folder.name}"
    target.write_text(SECRET)
    attack(WRITE, folder, isolation, target, marker.name)
    assert (folder / "own/mine").read_text() == "kept"
    was_made = marker.exists()
    marker.unlink(missing_ok=True)
    return was_made or not target.is_file() or target.read_text() != SECRET


@WALLS
def test_nothing_outside_can_be_written(isolation: Isolation, tmp_path: Path) -> None:
    assert not spoilt(isolation, tmp_path)


def test_without_walls_it_could_be_written(tmp_path: Path) -> None:
    script = "import sys; open(sys.argv[1], 'w').write('spoilt')"

    attack(script, tmp_path, NO_ISOLATION, tmp_path / "target")

    assert (tmp_path / "target").read_text() == "spoilt"


CHMOD = "import os, sys; os.chmod(sys.argv[1], 0o777)"


@COMPLETE
def test_permissions_outside_cannot_be_changed(isolation: Isolation, tmp_path: Path) -> None:
    (tmp_path / "target").touch(mode=0o600)

    assert attack(CHMOD, tmp_path, isolation, tmp_path / "target").code == 1
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o600


def test_without_walls_permissions_could_be_changed(tmp_path: Path) -> None:
    (tmp_path / "target").touch(mode=0o600)

    assert attack(CHMOD, tmp_path, NO_ISOLATION, tmp_path / "target").code == 0
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o777


SETTING = """
import sys
for path in sys.argv[1:]:
    try:
        with open(path, "r+") as file:
            value = file.read()
            file.seek(0)
            file.write(value)
        print("written")
    except OSError as error:
        print("held")
print("held" if not __import__("os").access("/proc/sysrq-trigger", 2) else "open")
"""
SETTINGS = ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_ratio")


@WALLS
def test_settings_of_the_kernel_cannot_be_written(isolation: Isolation, tmp_path: Path) -> None:
    found = attack(SETTING, tmp_path, isolation, *SETTINGS).output.split()

    assert found[:2] == ["held", "held"]
    # Without a view of its own, asking for permission is not opening.
    assert found[2] == "held" or not isolation.is_complete


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write them without isolation")
def test_without_walls_root_could_write_them_and_needs_no_capability(tmp_path: Path) -> None:
    assert attack(SETTING, tmp_path, NO_ISOLATION, *SETTINGS).output.split()[:2] == ["written", "written"]


FILL = """
import os, sys, time
size, count = map(int, sys.argv[1:])
for number in range(count):
    with open(f"file-{number}", "wb") as file:
        for _ in range(size):
            file.write(bytes(2**20))
print("filled")
time.sleep(0)
"""
ENDLESS = FILL.replace("sleep(0)", "sleep(20)")


@pytest.mark.parametrize("isolation", [HERE, NO_ISOLATION], ids=name)
def test_a_full_disk_ends_the_run_and_is_named(isolation: Isolation, tmp_path: Path) -> None:
    limits = Limits(disk_bytes=16 * 2**20, disk_entries=10**6)

    ended = attack(ENDLESS, tmp_path, isolation, 8, 6, limits=limits)

    assert (ended.code, ended.blocked) == (None, ("ended: wrote more than 16 MiB to the disk",))
    assert attack_fills(tmp_path / "unlimited")


def attack_fills(folder: Path) -> bool:
    folder.mkdir()
    return attack(FILL, folder, NO_ISOLATION, 8, 6).output == "filled\n"


@pytest.mark.parametrize("isolation", [HERE, NO_ISOLATION], ids=name)
def test_files_without_end_end_the_run_and_are_named(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(ENDLESS, tmp_path, isolation, 0, 3000, limits=Limits(disk_entries=1000))

    assert (ended.code, ended.blocked) == (None, ("ended: made more than 1000 files and directories",))


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [HERE, NO_ISOLATION], ids=name)
def test_one_file_cannot_grow_without_end(isolation: Isolation, tmp_path: Path) -> None:
    ended = attack(FILL, tmp_path, isolation, 64, 1, limits=Limits(file_bytes=4 * 2**20))

    assert (tmp_path / "own/file-0").stat().st_size == 4 * 2**20
    assert "filled" not in ended.output


@COMPLETE
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_places_in_memory_are_small(isolation: Isolation, place: str, tmp_path: Path) -> None:
    script = f"open('{place}/fits', 'wb').write(bytes(2**18)); open('{place}/file', 'wb').write(bytes(2**22))"

    ended = attack(script, tmp_path, isolation, limits=Limits(temporary_bytes=2**20))

    assert ended.code == 1
    assert "No space left on device" in ended.output


DEVICES = """
import os, sys
for path in sys.argv[1:]:
    try:
        # To what it is already: nothing of the machine changes where this succeeds.
        os.chmod(path, os.stat(path).st_mode & 0o7777)
        print("changed")
    except OSError:
        print("held")
with open("/dev/null", "w") as null:
    null.write("x")
print(len(open("/dev/zero", "rb").read(3)))
"""


@COMPLETE
def test_devices_of_the_machine_are_used_and_never_changed(isolation: Isolation, tmp_path: Path) -> None:
    said = attack(DEVICES, tmp_path, isolation, "/dev/null", "/dev/zero", "/dev/urandom").output.split()

    assert said == ["held", "held", "held", "3"]
