"""What tests need of the machine: told where it is missing, and there where it is not."""

from pathlib import Path

import pytest

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.services.python.laying_out import laid_out as directories_of
from cogworks.services.python.needs import needs
from cogworks.services.python.pythons import bare
from cogworks.services.python.wanted import Wanted
from tests.services.asking import Copy, answered, laid_out


def failing(message: str) -> TestReport:
    return TestReport(cases=(TestCase(id="t.py::t", outcome="failed", message=message),))


def ran(folder: Path, text: str) -> TestReport:
    copy = Copy(laid_out(folder, {"test_it.py": text}))
    return TestReport.model_validate(answered("simulate", copy, SimulateParams()).result)


@pytest.mark.parametrize(
    ("said", "need"),
    [
        ("TclError: no display name and no $DISPLAY environment variable", "wanted a display"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "wanted the network"),
        ("OSError: [Errno 101] Network is unreachable", "wanted the network"),
        (
            (
                "subprocess.CalledProcessError: Command '[PosixPath('/tmp/bin/python'), '-m', 'pip', 'install', '.']' "
                "returned non-zero exit status 1."
            ),
            "wanted the network",
        ),
        ("RuntimeError: this must be run as root", "wanted the rights of root"),
        ("locale.Error: unsupported locale setting", "wanted another locale"),
        (
            "zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key X/Y'",
            "wanted time zone data",
        ),
        (
            'connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
            "wanted PostgreSQL at localhost:5432",
        ),
        ("redis.ConnectionError: Error 111 connecting to localhost:6379.", "wanted Redis at localhost:6379"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'pg_ctl'", "found no `pg_ctl`"),
        ("/bin/sh: 1: ffmpeg: not found", "found no `ffmpeg`"),
    ],
)
def test_a_need_is_recognised_by_what_a_test_said(said: str, need: str) -> None:
    (told,) = needs(failing(said))

    assert told.startswith(f"t.py::t: {need}")


@pytest.mark.parametrize(
    "said", ["assert 1 == 2", "FileNotFoundError: [Errno 2] No such file or directory: 'data/x.csv'", ""]
)
def test_an_ordinary_failure_asks_for_nothing(said: str) -> None:
    assert needs(failing(said)) == ()


def test_a_need_of_many_tests_is_told_once() -> None:
    cases = [TestCase(id=f"t.py::t{n}", outcome="error", message="socket.gaierror") for n in range(5)]

    (told,) = needs(TestReport(cases=tuple(cases)))

    assert told.startswith("t.py::t0, t.py::t1, t.py::t2 and 2 more: wanted the network")


def test_a_test_that_passed_asks_for_nothing() -> None:
    case = TestCase(id="t.py::t", outcome="passed")
    blocked = ("t.py::t: tried to look up the address of example.com",)

    assert needs(TestReport(cases=(case,), blocked=blocked)) == ()


def test_a_run_says_what_its_tests_wanted(tmp_path: Path) -> None:
    report = ran(
        tmp_path,
        "import locale, socket, subprocess\n\n\n"
        "def test_net():\n    socket.create_connection(('example.com', 80), timeout=5)\n\n\n"
        "def test_locale():\n    locale.setlocale(locale.LC_ALL, 'xx_YY')\n\n\n"
        "def test_program():\n    subprocess.run(['no-such-program'])\n\n\n"
        "def test_database():\n    socket.create_connection(('127.0.0.1', 5432), timeout=5)\n",
    )

    told = "\n".join(report.remedies)
    assert "test_it.py::test_net: wanted the network" in told
    assert "test_it.py::test_locale: wanted another locale" in told
    assert "test_it.py::test_program: found no `no-such-program`" in told
    assert "test_it.py::test_database: wanted PostgreSQL at localhost:5432" in told


THERE = {
    "a server of its own": "import socket\n\ndef test():\n    with socket.create_server(('127.0.0.1', 0)) as s:\n"
    "        socket.create_connection(s.getsockname(), timeout=5).close()\n",
    "processes and shared memory": "import multiprocessing\nfrom multiprocessing.shared_memory import SharedMemory\n\n"
    "def test():\n    m = SharedMemory(create=True, size=10)\n    m.close()\n    m.unlink()\n"
    "    with multiprocessing.get_context('fork').Pool(1) as pool:\n        assert pool.map(abs, [-1]) == [1]\n",
    "a terminal": "import os, pty\n\ndef test():\n    one, two = pty.openpty()\n    assert os.isatty(two)\n",
    "git with a user name": "import subprocess\n\ndef test(tmp_path):\n"
    "    subprocess.run(['git', 'init', '-q'], cwd=tmp_path, check=True)\n"
    "    subprocess.run(['git', 'commit', '-q', '--allow-empty', '-m', 'x'], cwd=tmp_path, check=True)\n",
    "time zones and UTF-8": "import datetime, locale, time, zoneinfo\n\ndef test():\n"
    "    assert (time.tzname[0], locale.setlocale(locale.LC_ALL, '')) == ('UTC', 'C.UTF-8')\n"
    "    summer = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin'))\n"
    "    assert summer.utcoffset() == datetime.timedelta(hours=2)\n",
    "a socket of a file": "import os, socket, tempfile\n\ndef test():\n    with socket.socket(socket.AF_UNIX) as server:\n"
    "        server.bind(os.path.join(tempfile.mkdtemp(), 's'))\n",
    "a user name": "import getpass, os, pwd\n\ndef test():\n    assert pwd.getpwuid(os.getuid()).pw_name\n"
    "    assert getpass.getuser()\n",
}


@pytest.mark.parametrize("need", THERE)
def test_it_is_there_for_the_tests(tmp_path: Path, need: str) -> None:
    report = ran(tmp_path, THERE[need])

    assert [(case.outcome, case.message) for case in report.cases] == [("passed", "")]


@pytest.mark.parametrize("lays_over", [False, True])
def test_settings_of_git_that_a_setup_left_in_the_home_stay(tmp_path: Path, *, lays_over: bool) -> None:
    made, outside = tmp_path / "made", tmp_path / "outside"
    made.mkdir()
    (made / ".gitconfig").symlink_to(outside)
    folder = tmp_path / "run"
    folder.mkdir()

    repository = laid_out(tmp_path / "repository", {"a.py": ""})
    wanted = Wanted(interpreter=bare()._replace(home=made), timeout_s=1)
    places = directories_of(folder, repository, wanted, lays_over=lays_over)

    if lays_over:
        assert [each.lowers for each in places.overlays] == [(str(made),)]
        assert list((Path(places.overlays[0].kept) / "upper").iterdir()) == []
    else:
        assert (places.home / ".gitconfig").readlink() == outside
    assert not outside.exists()
