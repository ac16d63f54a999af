"""Other systems than Linux, as far as Linux can play them: what they lack is taken away before cogworks is imported."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cogworks
from tests.limits import ENDS_WITHIN_S

PACKAGE = Path(cogworks.__file__).parent

_MACOS = """
# The standard library looks at the platform when it is imported.
import asyncio, click, ctypes, http.client, httpx, mimetypes, multiprocessing.connection, os, platform, pytest, select
import signal, ssl, subprocess, sys, sysconfig, tempfile, urllib.request, uuid, venv, webbrowser

sysconfig.get_config_vars()

for module, names in {
    signal: ("SIGRTMIN", "SIGRTMAX", "sigtimedwait", "sigwaitinfo", "pidfd_send_signal"),
    os: ("O_PATH", "O_TMPFILE", "memfd_create", "pidfd_open", "sched_getaffinity", "sched_setaffinity", "unshare"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

def refuse(event, arguments):
    if event == "ctypes.dlopen" and arguments[0] is None:
        raise OSError("no such library: Linux's")
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith(("/proc", "/dev/shm")):
        raise FileNotFoundError(2, "No such file or directory", arguments[0])

sys.addaudithook(refuse)
sys.platform = "darwin"
# As its people use it.
os.geteuid = lambda: 501
platform.system = lambda: "Darwin"
# It may have looked already whether this system has O_TMPFILE.
import tempfile
tempfile._O_TMPFILE_WORKS = False
"""

_WINDOWS = """
import asyncio, click, json, sys, traceback
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
sys.platform = "win32"
"""


def played(system: str, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python on a system that is played."""
    (tmp_path / "sitecustomize.py").write_text(system)
    (tmp_path / "home").mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COGWORKS_", "GITHUB_", "GH_"))
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=kept | {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path / "home"), "COLUMNS": "300"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )


@pytest.mark.parametrize("words", [("--help",), ("doctor",), ("fix", "--no-model")], ids=" ".join)
def test_windows_is_told_at_once_what_to_use_instead(words: tuple[str, ...], tmp_path: Path) -> None:
    done = played(_WINDOWS, tmp_path, "-m", "cogworks", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cogworks: Windows is not supported; use the Windows Subsystem for Linux.")
    assert "`wsl --install`" in done.stderr


_IMPORTS = """
import importlib, pkgutil, sys
import cogworks
for module in pkgutil.walk_packages(cogworks.__path__, "cogworks."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(sys.platform)
"""


@pytest.mark.slow
def test_every_module_can_be_imported_on_macos(tmp_path: Path) -> None:
    done = played(_MACOS, tmp_path, "-c", _IMPORTS)

    assert (done.stdout, done.stderr) == ("darwin\n", "")


_RUNS = """
import json, sys, time
from pathlib import Path
from cogworks.services.sandbox.probing import strongest
from cogworks.services.sandbox.running import Confined, run
from cogworks.services.sandbox.inside import landlock

def ended(name, code, timeout_s=60.0):
    folder = Path(name).resolve()
    (folder / "own").mkdir(parents=True)
    (folder / "scratch").mkdir()
    python = str(Path(sys.executable).resolve())
    confined = Confined((python, "-I", "-S", "-c", code), folder / "own", {}, (), (folder / "own",), timeout_s)
    found = run(confined, isolation, scratch=folder / "scratch")
    return [found.code, found.output, found.timed_out]

isolation = strongest("/usr/bin")
stays = "import os, time\\nif os.fork() == 0:\\n    time.sleep(0.5); open('later', 'w')\\nelse:\\n    print('begun')"
told = {
    "abi": landlock.abi() if isolation.is_linux else 0,
    "engine": isolation.engine,
    "lacking": [each.wall for each in isolation.lacking],
    "unprotected": list(isolation.unprotected),
    "passes": ended("passes", "print('here')"),
    "fails": ended("fails", "raise SystemExit(3)"),
    "hangs": ended("hangs", "import time; time.sleep(600)", 0.5),
    "stays": ended("stays", stays),
}
time.sleep(1)
told["is_left"] = Path("stays/own/later").exists()
print(json.dumps(told))
"""


@pytest.mark.slow
def test_on_macos_commands_run_without_walls_and_end_with_their_group(tmp_path: Path) -> None:
    done = played(_MACOS, tmp_path, "-c", _RUNS)

    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert (told["engine"], told["lacking"]) == ("none", ["isolation"])
    assert "go on after its run in a process that leaves its group" in told["unprotected"]
    assert told["passes"] == [0, "here\n", False]
    assert told["fails"] == [3, "", False]
    assert told["hangs"] == [None, "", True]
    assert told["stays"] == [0, "begun\n", False]
    assert not told["is_left"]


_TESTS = """
import json, sys
from pathlib import Path
from cogworks.services.python.answering import PythonService
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.code.files import Shelf
from cogworks.services.python.cloning import Clones
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.probing import strongest

copy = Path("copy").resolve()
copy.mkdir()
(copy / "test_one.py").write_text("def test_one(): pass\\ndef test_two(): assert not 2\\n")
request = {"request_id": "1", "method": "simulate", "repository": {"path": str(copy)}}
with Clones((), token=None, environment={}) as clones:
    machine = Machine("/usr/bin:/bin", strongest("/usr/bin"), None, facts_of=Shelf(gather).facts, clones=clones)
    response = PythonService(machine).answer(json.dumps(request).encode())
print(response.model_dump_json())
"""


@pytest.mark.slow
def test_the_tests_of_a_repository_run_on_macos(tmp_path: Path) -> None:
    done = played(_MACOS, tmp_path, "-c", _TESTS)

    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["status"] != "error", told
    cases = told["result"]["cases"]
    assert [(each["id"], each["outcome"]) for each in cases] == [
        ("test_one.py::test_one", "passed"),
        ("test_one.py::test_two", "failed"),
    ]


@pytest.mark.slow
def test_doctor_says_which_walls_macos_lacks_and_what_that_means(tmp_path: Path) -> None:
    done = played(_MACOS, tmp_path, "-m", "cogworks", "doctor", "--json")

    (isolation,) = (each for each in json.loads(done.stdout)["checks"] if each["name"] == "isolation")
    assert isolation["status"] == "warning"
    assert "limits of each process" in isolation["found"]
    assert "no isolation: Darwin has no namespaces, no Landlock and no seccomp" in isolation["found"]
    assert (
        "items that are safety-critical, or from somebody without write permission, are refused"
        in isolation["found"]
    )
    assert isolation["remedy"].startswith("Run cogworks on Linux")


LINUX_ONLY = {
    "prctl", "unshare", "sigtimedwait", "SIGRTMIN", "O_PATH", "O_TMPFILE", "memfd_create", "pidfd_open", "timer_create",
    "sched_setaffinity", "sched_getaffinity", "pidfd_send_signal", "mount", "pivot_root", "RLIMIT_NPROC",
}  # fmt: skip
_PLACES = ("/proc", "/dev/shm")
GUARDED = {
    "stopping.py": "asks whether it is there",
    "github/rest_bodies.py": "`mount` is that of a session of requests",
    "services/sandbox/inside/calls.py": "called by the launcher where `Order.is_linux`",
    "services/sandbox/inside/launch.py": "asks `Order.is_linux`",
    "services/sandbox/inside/forking.py": "used where namespaces were found to hold",
    "cores.py": "asks for the platform",
    "services/sandbox/control_groups.py": "takes a missing /proc for an answer",
    "services/sandbox/inside/landlock.py": "tried by `probing.strongest` after it asked for the platform",
    "services/sandbox/inside/syscalls.py": "used where a filter was found to hold",
    "services/sandbox/inside/view.py": "used where namespaces were found to hold",
    "services/sandbox/inside/holding.py": "used by `watching.py` alone",
    "services/sandbox/inside/watching.py": "`elsewhere.py` stands for it",
    "services/sandbox/disk.py": "asks for the platform",
    "services/sandbox/probing.py": "asks for the platform first",
    "services/sandbox/reach.py": "arguments of bubblewrap, which only Linux has",
    "services/python/report.py": "asks for the platform",
    "services/python/inside/cogworks_limit.py": "asks for the platform",
    "services/python/inside/cogworks_witness.py": "takes a missing /proc for an answer",
}
"""Module that uses what only Linux has -> why that is safe elsewhere."""


def test_what_only_linux_has_is_used_in_guarded_modules_alone() -> None:
    found = {
        module.relative_to(PACKAGE).as_posix()
        for module in PACKAGE.rglob("*.py")
        if any(name in LINUX_ONLY or name.startswith(_PLACES) for name in _used(module))
    }

    assert found == GUARDED.keys()


def _used(module: Path) -> Iterator[str]:
    text = module.read_text(encoding="utf-8")
    if any(name in text for name in (*LINUX_ONLY, *_PLACES)):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Attribute(attr=name) | ast.Name(id=name):
                    yield name
                case ast.Constant(value=str() as place) if "\n" not in place:
                    yield place
