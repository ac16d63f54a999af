"""What failing tests need, told by their messages; and what they find behind the walls without anybody's help."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.services.python.needs_of_tests import needs
from tests.services.asking import ask, laid_out

SUBPROCESS = "    subprocess.run(['ffmpeg', '-i', name])\n"


def told(*messages: str, outcome: Any = "failed") -> tuple[str, ...]:
    cases = tuple(
        TestCase(id=f"tests/test_{number}.py::test_a", outcome=outcome, message=text)
        for number, text in enumerate(messages)
    )
    return needs(TestReport(cases=cases))


@pytest.mark.parametrize(
    ("message", "need", "remedy"),
    [
        ("E   _tkinter.TclError: no display name and no $DISPLAY environment variable", "a display", "xvfb-run -a"),
        ("qt.qpa.xcb: could not connect to display", "a display", "QT_QPA_PLATFORM"),
        ("E   socket.gaierror: [Errno -3] Temporary failure in name resolution", "a network", "not network"),
        (
            "E   requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with url: /",
            "a network",
            "known as failing before",
        ),
        (
            'E   psycopg2.OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
            "a service on this machine at port 5432 (PostgreSQL)",
            'mode = "prepared"',
        ),
        ("E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", "a service on this machine at port 6379 (Redis)", "prepared"),
        ("E   pymongo.errors.ServerSelectionTimeoutError: localhost:27017: [Errno 111] Connection refused", "a service on this machine at port 27017 (MongoDB)", "prepared"),
        ("E   locale.Error: unsupported locale setting", "a locale", "C.UTF-8"),
        ("E   zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Berlin'", "time zones", "tzdata"),
        ("E   PermissionError: this must be run as root", "another user or rights", "skip themselves"),
        (f"{SUBPROCESS}E   FileNotFoundError: [Errno 2] No such file or directory: 'ffmpeg'", "the program `ffmpeg`", "[environment] setup"),
        ("E   AssertionError: sh: 1: dot: not found", "the program `dot`", "install it on the machine"),
        ("E   ImportError: libGL.so.1: cannot open shared object file: No such file", "the system library `libGL.so.1`", "apt-file"),
    ],
)  # fmt: skip
def test_each_need_is_told_once_with_a_remedy(message: str, need: str, remedy: str) -> None:
    [sentence] = told(message, message)

    assert sentence.startswith(f"tests/test_0.py::test_a, tests/test_1.py::test_a need {need}")
    assert remedy in sentence


@pytest.mark.parametrize(
    "message",
    [
        "E   FileNotFoundError: [Errno 2] No such file or directory: 'data'",
        "    expected = 'no display name and no $DISPLAY'\nE   assert 1 == 2",
        "E   AssertionError: the port 5432 is free",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_need_is_none(message: str) -> None:
    assert told(message) == ()


def test_only_what_failed_needs_anything() -> None:
    assert told("E   locale.Error: unsupported locale setting", outcome="skipped") == ()


@given(st.text(max_size=2_000))
def test_any_message_is_survived(message: str) -> None:
    told(message)


INSIDE = {
    "tests/data/here.txt": "",
    "tests/test_inside.py": """
import datetime
import getpass
import locale
import multiprocessing
import os
import pathlib
import pty
import pwd
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
import zoneinfo
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import shared_memory


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"here")


def double(number):
    return 2 * number


def test_server():
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        with urllib.request.urlopen(f"http://localhost:{server.server_port}/", timeout=20) as reply:
            assert reply.read() == b"here"


def test_processes():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(double, [1, 2]) == [2, 4]


def test_memory():
    block = shared_memory.SharedMemory(create=True, size=10)
    block.close()
    block.unlink()
    assert os.access("/dev/shm", os.W_OK)


def test_terminal():
    one, other = pty.openpty()
    os.write(other, b"x")
    assert os.read(one, 1) == b"x"


def test_user():
    assert pwd.getpwuid(os.getuid()).pw_name
    assert getpass.getuser()
    assert os.access(pathlib.Path.home(), os.W_OK)


def test_git(tmp_path):
    def git(*words):
        return subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    (tmp_path / "a").write_text("a")
    git("add", "a")
    git("commit", "-qm", "first")
    assert git("log", "--format=%s").strip() == "first"


def test_time_and_words():
    assert time.tzname[0] == "UTC"
    assert locale.setlocale(locale.LC_ALL, "") == "C.UTF-8"
    summer = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    assert summer.utcoffset() == datetime.timedelta(hours=2)
    assert "ä".encode() == bytes("ä", locale.getpreferredencoding(False))


def test_files():
    with tempfile.NamedTemporaryFile() as file:
        assert os.path.exists(file.name)
    path = tempfile.mktemp()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
""",
}


def test_what_tests_usually_find_is_there_behind_the_walls(tmp_path: Path) -> None:
    response = ask("simulate", laid_out(tmp_path, INSIDE), timeout_s=120)

    assert response.error is None, response.error
    bad = {case["id"]: case["message"] for case in response.result["cases"] if case["outcome"] != "passed"}
    assert bad == {}
    assert len(response.result["cases"]) == 8


def test_the_needs_of_a_run_are_told_with_it(tmp_path: Path) -> None:
    text = (
        "import socket, subprocess\n\n\n"
        "def test_calls():\n    socket.create_connection(('service.example', 80), timeout=5)\n\n\n"
        "def test_local():\n    try:\n        socket.create_connection(('127.0.0.1', 5432), timeout=5)\n"
        "    except OSError as error:\n        raise OSError(f'connection to server at 127.0.0.1, port 5432 failed: {error}') from None\n\n\n"
        "def test_program():\n    subprocess.run(['no-such-program-anywhere'], check=True)\n"
    )
    response = ask("simulate", laid_out(tmp_path, {"test_a.py": text}), timeout_s=60)

    remedies = response.result["remedies"]
    assert [each.split(": ")[0] for each in remedies] == [
        "test_a.py::test_calls needs a network",
        "test_a.py::test_local needs a service on this machine at port 5432 (PostgreSQL)",
        "test_a.py::test_program needs the program `no-such-program-anywhere`",
    ]
