"""What starts before every run loads little: no run is so short that it would not notice."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import cogworks
from cogworks.cores import most_processes
from cogworks.services.sandbox.inside.order import Limits, Order
from cogworks.services.sandbox.isolation import NO_ISOLATION
from cogworks.services.sandbox.running import Confined, NotStarted, _order, run
from cogworks.services.sandbox.starting import LAUNCHERS
from tests.limits import ENDS_WITHIN_S
from tests.services.sandbox.attacks import HERE, OWN_NAMESPACES, attack

_LOADED = "import sys; sys.path.insert(0, sys.argv[1]); import cogworks.services.sandbox.inside.launch; print(*sorted(sys.modules))"
_HEAVY = {
    "ast", "dataclasses", "inspect", "ipaddress", "pathlib", "platform", "selectors", "socket", "subprocess", "tempfile", "urllib",
}  # fmt: skip


def _loaded() -> set[str]:
    root = str(Path(cogworks.__file__).parents[1])
    words = [sys.executable, "-I", "-S", "-c", _LOADED, root]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S)
    return set(ended.stdout.split())


def test_the_launcher_loads_nothing_that_takes_longer_to_load_than_it_takes_itself() -> None:
    loaded = _loaded()
    assert not loaded & _HEAVY
    assert len(loaded) < 110, sorted(loaded)


def test_the_launcher_has_loaded_all_of_itself_before_it_leaves_the_files_it_is_loaded_from() -> None:
    inside = Path(cogworks.__file__).parent / "services/sandbox/inside"
    own = {f"cogworks.services.sandbox.inside.{each.stem}" for each in inside.glob("[!_]*.py")}
    # What forks launchers loads them, not they it.
    assert own - {"cogworks.services.sandbox.inside.forking"} <= _loaded()


def test_an_order_says_how_many_processes_a_command_may_have(tmp_path: Path) -> None:
    def ordered(limits: Limits) -> Order:
        confined = Confined(("true",), tmp_path, {}, (), (tmp_path,), timeout_s=1, limits=limits)
        return _order(confined, NO_ISOLATION, 5, ())

    assert ordered(Limits()).limits.processes == most_processes()
    assert ordered(Limits(processes=7)).limits.processes == 7


_COMPLETE = pytest.mark.skipif(not HERE.is_complete, reason="this machine gives no namespaces")
_OPEN = "import os; print(sorted(int(each) for each in os.listdir('/proc/self/fd')))"


def _parents() -> set[int]:
    """The processes of ours that fork launchers."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words, said = (place / "cmdline").read_bytes(), (place / "stat").read_text()
            if b"inside.forking" in words and int(said.rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(place.name))
    return found


def _says(folder: Path, number: int, script: str = "print('here')") -> str:
    (folder / str(number)).mkdir()
    return attack(script, folder / str(number), OWN_NAMESPACES).output


@_COMPLETE
def test_one_program_is_loaded_for_all_runs_of_a_process_and_ends_when_it_is_told(tmp_path: Path) -> None:
    LAUNCHERS.close()
    assert not _parents()

    assert _says(tmp_path, 1) == "here\n"
    first = _parents()
    assert [_says(tmp_path, number) for number in (2, 3)] == ["here\n", "here\n"]

    assert len(first) == 1
    assert _parents() == first
    LAUNCHERS.close()
    assert not _parents()


@_COMPLETE
def test_a_run_goes_on_and_the_next_one_begins_where_somebody_ended_the_parent_of_launchers(
    tmp_path: Path,
) -> None:
    LAUNCHERS.close()
    _says(tmp_path, 1)
    (parent,) = _parents()
    with ThreadPoolExecutor(1) as pool:
        begun = tmp_path / "2/own/begun"
        script = "import time; open('begun', 'w').close(); time.sleep(1); print('to the end')"
        longer = pool.submit(_says, tmp_path, 2, script)
        ends_s = time.monotonic() + ENDS_WITHIN_S
        while not begun.exists() and time.monotonic() < ends_s:
            time.sleep(0.01)
        os.kill(parent, signal.SIGKILL)

        assert _says(tmp_path, 3) == "here\n"
        assert longer.result(timeout=ENDS_WITHIN_S) == "to the end\n"


@_COMPLETE
def test_a_command_has_no_file_of_the_runs_beside_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        longer = pool.submit(_says, tmp_path, 1, f"import time; time.sleep(1); {_OPEN}")

        assert _says(tmp_path, 2, _OPEN) == "[0, 1, 2, 3]\n"
        assert longer.result(timeout=ENDS_WITHIN_S) == "[0, 1, 2, 3]\n"


@_COMPLETE
def test_what_cannot_be_started_is_told_as_before(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "scratch").mkdir()
    confined = Confined(("/no/such/program",), tmp_path / "own", {}, (), (tmp_path / "own",), timeout_s=20)

    with pytest.raises(NotStarted, match=r"the command was not started: .*No such file"):
        run(confined, OWN_NAMESPACES, scratch=tmp_path / "scratch")
