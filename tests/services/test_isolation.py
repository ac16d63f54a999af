"""What a repository's hostile tests meet in the Python service, and what its report says of it."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.exploring import CoverageParams, TraceParams
from cogworks.domain_services.messages import (
    Caller,
    Message,
    Repository,
    Request,
    Response,
    TestReport,
    hides,
)
from cogworks.services.python.answering import PythonService
from cogworks.services.python.machine import Machine
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from cogworks.services.sandbox.probing import begun, strongest
from tests.services.asking import answered, repository
from tests.services.processes import running

HERE = strongest(os.environ["PATH"])
NEEDS_WALLS = pytest.mark.skipif(not HERE.is_complete, reason="this machine builds no complete isolation")
SECRET = "decoy-4711"

HOSTILE = """
import glob, os, signal, socket, subprocess, sys, time
import pytest

def test_reads_a_key():
    assert {secret!r} not in open({key!r}).read()

def test_reads_environments():
    for path in glob.glob("/proc/[0-9]*/environ"):
        open(path, "rb").read()

def test_reads_the_history():
    assert os.path.exists(".git")

def test_writes_outside():
    open({outside!r}, "w").write("spoilt")

def test_calls_the_hub():
    socket.create_connection(("127.0.0.1", {port}), 2)

def test_calls_home():
    socket.create_connection(("192.0.2.7", 443), 2)

def test_asks_for_a_name():
    socket.getaddrinfo("example.org", 443)

def test_prints_much():
    for _ in range(100):
        print("x" * 10_000)

def test_stays():
    subprocess.Popen(["sleep", {marker!r}], start_new_session=True)

def test_is_harmless(tmp_path):
    (tmp_path / "mine").write_text("kept")
    open("/tmp/mine", "w").close()
    assert os.listdir(os.environ["HOME"]) == [".gitconfig"]
"""


def hostile(folder: Path, isolation: Isolation, port: int) -> tuple[TestReport, str]:
    key, repository = folder / "home/.ssh/id_ed25519", folder / "repository"
    key.parent.mkdir(parents=True)
    key.write_text(SECRET)
    (repository / ".git").mkdir(parents=True)
    marker = f"60.{port}"
    text = HOSTILE.format(
        secret=SECRET, key=str(key), outside=str(folder / "outside"), port=port, marker=marker
    )
    (repository / "test_hostile.py").write_text(text)
    report = run_tests(repository, Wanted(timeout_s=60), isolation=isolation, search_path=os.environ["PATH"])
    return report, marker


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory outside /tmp, of which every run has its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        yield Path(name)


@NEEDS_WALLS
def test_a_hostile_suite_is_held_and_what_it_tried_is_named(elsewhere: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hub:
        port = hub.getsockname()[1]
        report, marker = hostile(elsewhere, HERE, port)

    outcomes = {case.id.removeprefix("test_hostile.py::"): case.outcome for case in report.cases}
    assert outcomes == {
        "test_reads_a_key": "failed",
        "test_reads_environments": "failed",
        "test_reads_the_history": "failed",
        "test_writes_outside": "failed",
        "test_calls_the_hub": "failed",
        "test_calls_home": "failed",
        "test_asks_for_a_name": "failed",
        "test_prints_much": "passed",
        "test_stays": "passed",
        "test_is_harmless": "passed",
    }
    assert report.blocked == (
        f"test_hostile.py::test_reads_a_key: tried to read {elsewhere}/home/.ssh/id_ed25519",
        "test_hostile.py::test_reads_environments: tried to read /proc/1/environ",
        f"test_hostile.py::test_writes_outside: tried to write {elsewhere}/outside",
        f"test_hostile.py::test_calls_the_hub: tried to connect to 127.0.0.1:{port}, where nobody listens inside",
        "test_hostile.py::test_calls_home: tried to connect to 192.0.2.7:443",
        "test_hostile.py::test_asks_for_a_name: tried to look up the address of example.org",
        "ended with the run: processes left running: sleep",
    )
    assert not (elsewhere / "outside").exists()
    assert running(marker) == []


def test_without_walls_a_suite_could_do_it_and_the_report_says_so(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (tmp_path / "key").write_text(SECRET)
    text = f"def test_reads(): raise ValueError(open({str(tmp_path / 'key')!r}).read())\n"
    (repository / "test_a.py").write_text(text)

    report = run_tests(repository, Wanted(), isolation=NO_ISOLATION, search_path=os.environ["PATH"])

    assert SECRET in report.cases[0].message
    assert report.unprotected == NO_ISOLATION.unprotected


def suite(folder: Path, text: str, wanted: Wanted) -> TestReport:
    folder.mkdir(exist_ok=True)
    (folder / "test_a.py").write_text(text)
    return run_tests(folder, wanted, isolation=HERE, search_path=os.environ["PATH"])


def test_a_limit_that_ends_the_run_is_named_with_the_test_that_reached_it(tmp_path: Path) -> None:
    text = (
        "import os, time\n"
        "def test_a(): pass\n"
        "def test_b():\n"
        "    for _ in range(100):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(20)\n"
        "            os._exit(0)\n"
        "    time.sleep(20)\n"
    )

    report = suite(tmp_path / "r", text, Wanted(limits=Limits(processes=50)))

    assert [(case.id, case.outcome) for case in report.cases] == [
        ("test_a.py::test_a", "passed"),
        ("test_a.py::test_b", "error"),
    ]
    assert (
        report.cases[1].message
        == "the test process ended during this test (ended: more than 50 processes at once)"
    )
    assert report.blocked == ("ended: more than 50 processes at once",)
    assert (report.passed, report.timed_out) == (False, False)


@pytest.mark.slow
def test_one_test_over_its_time_limit_fails_and_the_others_run(tmp_path: Path) -> None:
    text = (
        "import time\ndef test_a(): time.sleep(20)\ndef test_b(): pass\ndef test_c():\n  while True: pass\n"
    )

    report = suite(tmp_path / "r", text, Wanted(test_timeout_s=0.3))

    assert [case.outcome for case in report.cases] == ["failed", "passed", "failed"]
    assert report.cases[0].message.endswith("over the time limit of one test, 0.3 seconds")
    assert report.hung == ("test_a.py::test_a", "test_a.py::test_c")
    assert not report.timed_out


@pytest.mark.slow
def test_a_thread_that_never_ends_does_not_keep_the_run_from_its_end(tmp_path: Path) -> None:
    text = (
        "import threading, queue\ndef test_a():\n  q = queue.Queue()\n  threading.Thread(target=q.get).start()\n"
        "  q.put(1)\n  threading.Thread(target=q.get).start()\n  q.join()\ndef test_b(): pass\n"
    )

    report = suite(tmp_path / "r", text, Wanted(test_timeout_s=0.5, timeout_s=300))

    assert [case.outcome for case in report.cases] == ["failed", "passed"]
    assert report.hung == ("test_a.py::test_a",)
    assert (report.timed_out, report.collection_errors) == (False, ())
    assert report.blocked == (
        "still running after the last test, and ended: a thread that a test began does not end",
    )


@pytest.mark.slow
def test_a_test_that_catches_everything_hangs_all_the_same(tmp_path: Path) -> None:
    text = "import time\ndef test_a():\n  while True:\n    try: time.sleep(9)\n    except: pass\ndef test_b(): pass\n"

    report = suite(tmp_path / "r", text, Wanted(test_timeout_s=0.3))

    assert [case.outcome for case in report.cases] == ["error", "passed"]
    assert report.hung == ("test_a.py::test_a",)


@pytest.mark.slow
def test_how_long_the_slowest_passing_test_took_is_told_where_it_is_asked_for(tmp_path: Path) -> None:
    text = "import time\ndef test_a(): pass\ndef test_b(): time.sleep(0.3)\ndef test_c(): time.sleep(1); assert 0\n"

    assert suite(tmp_path / "r", text, Wanted(timings=True)).slowest_s >= 0.3
    assert suite(tmp_path / "s", "def test_a(): pass\n", Wanted()).slowest_s == 0


LOADING = pytest.mark.parametrize(
    ("place", "hidden"),
    [
        pytest.param("test_b.py", "test_b.py", marks=pytest.mark.slow, id="test module"),
        pytest.param("sub/conftest.py", "sub", id="conftest"),
    ],
)


def error_of_loading(folder: Path, place: str, hidden: str, code: str) -> str:
    """What is said of a suite in which the file at this place imports this code, when all tests that it does not hide pass."""
    files = {
        "shop.py": code,
        "sub/test_d.py": "def test_d(): pass\n",
        "test_c.py": "def test_c(): pass\n",
        place: "import shop\n\ndef test_b(): pass\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    report = suite(folder, "def test_a(): pass\n", Wanted(test_timeout_s=0.5))
    (error,) = report.collection_errors
    tests = ["sub/test_d.py::test_d", "test_a.py::test_a", "test_c.py::test_c"]
    assert [(case.id, case.outcome) for case in report.cases] == [
        (test, "passed") for test in tests if not hides(hidden, test)
    ]
    return error


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("while True:\n    pass\n", "not loaded within the time limit of one test, 0.5 seconds"),
        ("import argparse\nargparse.ArgumentParser().parse_args(['--no'])\n", "SystemExit: 2"),
    ],
    ids=["hangs", "ends the program"],
)
@LOADING
def test_what_never_ends_or_ends_the_program_while_it_is_loaded_hides_its_own_tests_alone(
    tmp_path: Path, code: str, reason: str, place: str, hidden: str
) -> None:
    error = error_of_loading(tmp_path, place, hidden, code)

    assert error.startswith(f"{hidden}: ")
    # Where it happened, for whoever looks for the fault.
    assert f"{place}:1: in <module>" in error
    assert "shop.py:" in error
    assert error.endswith(reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("import os\nos._exit(0)\n", "exit code 0"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "signal 11"),
        (
            "import ctypes\nmutex = ctypes.create_string_buffer(64)\nlock = ctypes.CDLL(None).pthread_mutex_lock\nlock(mutex), lock(mutex)\n",
            "over the time limit of one test, and it could not be stopped otherwise",
        ),
    ],
    ids=["leaves", "crashes", "hangs in C"],
)
@LOADING
def test_what_takes_the_process_along_while_it_is_loaded_hides_its_own_tests_alone(
    tmp_path: Path, code: str, end: str, place: str, hidden: str
) -> None:
    said, *frames = error_of_loading(tmp_path, place, hidden, code).splitlines()

    assert said == f"{hidden}: the test process ended while this was loaded ({end})"
    # Where it happened, if Python had the time to say so.
    assert frames == ([f"{place}:1: in <module>", "shop.py:2: in <module>"] if end == "signal 11" else [])


@pytest.mark.slow
def test_what_cannot_be_stopped_costs_its_own_result_and_no_other(tmp_path: Path) -> None:
    text = (
        "import ctypes, os, time\n"
        "def test_before(): pass\n"
        "def test_in_c():\n"
        "    mutex = ctypes.create_string_buffer(64)\n"
        "    for _ in range(2):\n"
        "        ctypes.CDLL(None).pthread_mutex_lock(mutex)\n"
        "def test_goes_on():\n"
        "    while True:\n"
        "        try:\n"
        "            time.sleep(60)\n"
        "        except BaseException:\n"
        "            pass\n"
        "def test_forks_and_both_come_back(): os.fork()\n"
        "def test_leaves(): os._exit(0)\n"
        "def test_after(): pass\n"
    )

    report = suite(tmp_path / "r", text, Wanted(timeout_s=60, test_timeout_s=0.5))

    over = (
        "the test process ended during this test (over the time limit of one test, and it could not be stopped "
        "otherwise)"
    )
    found = [(case.id.removeprefix("test_a.py::test_"), case.outcome, case.message) for case in report.cases]
    assert found == [
        ("before", "passed", ""),
        ("in_c", "error", over),
        ("goes_on", "error", over),
        ("forks_and_both_come_back", "passed", ""),
        ("leaves", "error", "the test process ended during this test (exit code 0)"),
        ("after", "passed", ""),
    ]
    assert (report.collection_errors, report.timed_out) == ((), False)


@pytest.mark.slow
def test_processes_that_die_one_after_another_are_not_replaced_without_end(tmp_path: Path) -> None:
    text = "import os, pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_a(n): os._exit(3)\n"

    report = suite(tmp_path / "r", text, Wanted(max_processes=2))

    assert [case.id for case in report.cases] == ["test_a.py::test_a[0]", "test_a.py::test_a[1]"]
    assert report.collection_errors == ("pytest ended early (exit code 3):",)


FORGER = """
import os, sys

def test_a():
    (number,) = [int(word.split("=")[1]) for word in sys.argv if word.startswith("--cogworks-report-fd=")]
    for line in (
        '"words"', '[]', '{}', '{"kind": 1}', '{"kind": "phase", "id": "x"}', '{"kind": "next"}', '{"kind": "next"}',
        '{"kind": "start", "id": "forged"}', '{"kind": "finish", "id": "unknown"}', "[" * 100_000, "\\xff",
        '{"kind": "lines", "id": "test_a.py::test_a", "lines": {"a.py": [[1]]}}',
        '{"kind": "step", "event": "jump", "artifact": "a.py", "symbol": "f"}',
    ):
        os.write(number, line.encode("latin-1") + b"\\n")
"""


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("simulate", SimulateParams()),
        ("coverage", CoverageParams()),
        ("trace", TraceParams(test="test_a.py::test_a")),
    ],
    ids=["simulate", "coverage", "trace"],
)
def test_what_a_test_writes_in_place_of_the_report_counts_for_nothing(
    method: str, params: Message, tmp_path: Path
) -> None:
    response = answered(method, repository(tmp_path, {"test_a.py": FORGER}), params)

    told = str(response.model_dump())
    assert response.status == "success"
    assert "test_a.py::test_a" in told
    assert "'id': 'forged'" not in told


ORDERED = "import pytest\n@pytest.mark.parametrize('n', range(8))\ndef test_a(n): pass\n"


def order(report: TestReport) -> list[int]:
    return [int(case.id[-2]) for case in report.cases]


@pytest.mark.slow
def test_a_seed_shuffles_the_same_way_also_when_tests_are_left_out(tmp_path: Path) -> None:
    as_collected = order(suite(tmp_path / "r", ORDERED, Wanted()))
    shuffled = order(suite(tmp_path / "r", ORDERED, Wanted(seed=7)))
    fewer = order(
        suite(tmp_path / "r", ORDERED, Wanted(seed=7, tests=[f"test_a.py::test_a[{n}]" for n in (1, 6, 3)]))
    )

    assert as_collected == sorted(shuffled) == list(range(8))
    assert shuffled not in (as_collected, order(suite(tmp_path / "r", ORDERED, Wanted(seed=8))))
    assert fewer == [n for n in shuffled if n in (1, 3, 6)]


def simulated(folder: Path, text: str, params: SimulateParams) -> Response:
    copy = repository(folder, {"test_a.py": text})
    return answered("simulate", copy, params)


def test_variables_of_the_request_reach_the_tests(tmp_path: Path) -> None:
    text = "import os\ndef test_a(): assert (os.environ['MODE'], os.environ['TZ']) == ('fast', 'CET')\n"

    response = simulated(tmp_path, text, SimulateParams(environment={"MODE": "fast", "TZ": "CET"}))

    assert response.status == "success"


def test_variables_by_which_the_run_finds_its_way_are_refused(tmp_path: Path) -> None:
    response = simulated(tmp_path, "", SimulateParams(environment={"PYTHONPATH": "/x", "HOME": "/y"}))

    assert response.error is not None
    assert (response.error.code, response.error.message) == (
        "invalid_request",
        "environment: 'PYTHONPATH' is set by the service itself; environment: 'HOME' is set by the service itself",
    )


def asked(isolation: Isolation, folder: Path, *, needs_walls: bool) -> Response:
    (folder / "test_a.py").write_text("def test_a(): pass\n")
    request = Request(
        request_id="1",
        method="simulate",
        caller=Caller(needs_walls=needs_walls),
        repository=Repository(path=str(folder)),
        params=SimulateParams().model_dump(),
    )
    service = PythonService(Machine(os.environ["PATH"], isolation))
    return service.answer(request.model_dump_json().encode())


def test_an_item_that_needs_walls_is_refused_where_there_are_none(tmp_path: Path) -> None:
    response = asked(NO_ISOLATION, tmp_path, needs_walls=True)

    assert response.error is not None
    assert (response.error.code, response.error.recoverable) == ("tool_not_found", False)
    assert "safety-critical or comes from somebody who is not trusted" in response.error.message


@pytest.mark.slow
def test_another_item_runs_without_walls_and_the_answer_warns(tmp_path: Path) -> None:
    response = asked(NO_ISOLATION, tmp_path, needs_walls=False)

    assert response.status == "success"
    assert [found.severity for found in response.diagnostics] == ["warning"]
    assert response.diagnostics[0].message.startswith("nothing kept the tests from this: reach the network")


@NEEDS_WALLS
def test_an_item_that_needs_walls_runs_behind_them(tmp_path: Path) -> None:
    response = asked(HERE, tmp_path, needs_walls=True)

    assert (response.status, response.diagnostics) == ("success", ())


ORDINARY = """
import asyncio, multiprocessing, os, socket, sqlite3, subprocess, sys, tempfile

def test_processes():
    with multiprocessing.Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]

def test_commands():
    assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"1\\n"
    assert os.system("ls / > /dev/null") == 0

def test_files(tmp_path):
    sqlite3.connect(tmp_path / "a.db").execute("create table a (b)").connection.close()
    tempfile.NamedTemporaryFile().close()
    os.makedirs("made/here")

def test_terminal():
    for descriptor in os.openpty():
        os.close(descriptor)

def test_git(tmp_path):
    assert subprocess.run(["git", "init", str(tmp_path)], capture_output=True).returncode == 0

def test_own_server():
    assert socket.gethostname() == {host!r}
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

def test_loop():
    asyncio.run(asyncio.sleep(0))

def test_wrong():
    assert os.getuid() == {user}
    assert [1] == [2]
"""


@NEEDS_WALLS
def test_an_ordinary_suite_has_the_same_results_behind_walls_as_without(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(ORDINARY.format(host=socket.gethostname(), user=os.getuid()))

    held, free = (
        run_tests(tmp_path, Wanted(), isolation=isolation, search_path=os.environ["PATH"])
        for isolation in (HERE, NO_ISOLATION)
    )

    assert [case.outcome for case in held.cases] == ["passed"] * 7 + ["failed"]
    assert held.blocked == ()
    assert held.cases == free.cases


def test_what_is_looked_for_in_a_thread_is_the_same() -> None:
    assert begun(os.environ["PATH"])() == HERE


def test_why_nothing_could_be_tried_is_told_to_whoever_waits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))

    waiting = begun(os.environ["PATH"])

    with pytest.raises(FileNotFoundError):
        waiting()
