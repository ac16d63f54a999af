"""Every command on a machine that lacks something: no traceback, but what is wrong, what to do and the exit code for it."""

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.cli.main import COMMANDS
from cogworks.errors import MachineUnfit
from cogworks.unfit import unfit, writing
from tests import forking
from tests.codebase.repositories import git
from tests.engine.invoking import environment
from tests.engine.open_items import Item, fill
from tests.hub.running import running_hub
from tests.limits import ENDS_WITHIN_S

ROOM_KIB = 64


class Place:
    """A hub with one item, a local repository, and a home directory that may be spoilt."""

    def __init__(self, root: Path, url: str) -> None:
        self.root, self.url = root, url
        self.home = root / "home"
        self.repository = root / "repository"

    def words(self, command: str) -> list[str]:
        """The command with the arguments it needs; what it writes goes below the home directory."""
        issue, home = f"{self.url}/octo/demo/issues/1", str(self.home)
        more: dict[str, list[str]] = {
            "poll": [f"{self.url}/octo/demo"],
            "gc": [f"{self.url}/octo/demo"],
            "graph": [],
            "fix": ["--repo", str(self.repository), "--task", str(self.root / "task.json"), "--no-model"],
            "evaluate": ["--write-samples", f"{home}/samples"],
            "tools": ["run", "look around", "--output", f"{home}/told.json"],
            "policy": ["check"],
            "doctor": [f"{self.url}/octo/demo"],
            "health": [],
            "demo": ["--dir", f"{home}/demo"],
            "hub": ["add-user", "ada", "--dir", f"{home}/hub"],
            "cassette": ["list"],
            "service": ["python", "--socket", f"{home}/socket"],
            "action": [],
        }
        if command == "fix":
            more["fix"] += ["--artifacts", f"{home}/artifacts"]
        return [command, *more.get(command, [issue])]

    def environment(self, **more: str) -> dict[str, str]:
        given = environment(self.url, self.home)
        # Below the home directory, as it is for most people.
        del given["COGWORKS_WORK_DIR"]
        return given | {
            "COGWORKS_ACTION_ISSUE_URL": f"{self.url}/octo/demo/issues/1",
            "GITHUB_OUTPUT": str(self.home / "outputs"),
            **more,
        }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("unfit")
    fill(root / "hub", [Item()])
    repository = root / "repository"
    (repository / "tests").mkdir(parents=True)
    (repository / "tests" / "test_one.py").write_text("def test_one(): assert not 1\n")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "One")):
        git(repository, *arguments)
    task = {"instance_id": "one-1", "failing_tests": ["tests/test_one.py::test_one"]}
    (root / "task.json").write_text(json.dumps(task))
    with running_hub(root / "hub") as hub:
        (root / "url").write_text(hub.url)
        yield root


@pytest.fixture
def place(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(world, (world / "url").read_text())
    found.home = tmp_path / "home"
    found.home.mkdir()
    monkeypatch.chdir(world / "repository")
    return found


def well_told(done: subprocess.CompletedProcess[str]) -> str:
    """What a command printed, if it is nothing that only its authors can read."""
    said = f"{done.stdout}{done.stderr}"
    assert "Traceback" not in said, said
    assert "defect of cogworks" not in said, said
    assert "Exception ignored" not in said, said
    return said


DOCUMENTED = (0, 1, 2, 4, 75)
ENDLESS = "service"
"""It serves until it is stopped, unless something keeps it from beginning."""


def cases(*, quick: tuple[str, ...] = (), besides: tuple[str, ...] = ()) -> list[object]:
    """Every command but those that the condition does not concern."""
    return [
        name if name in quick else pytest.param(name, marks=pytest.mark.slow)
        for name in COMMANDS
        if name not in besides
    ]


def ended_as(done: subprocess.CompletedProcess[str], wanted: int | None) -> bool:
    """Whether the exit code is the one that is wanted; None: whichever of the documented ones."""
    return done.returncode in DOCUMENTED if wanted is None else done.returncode == wanted


NEEDS_NO_GIT = ("status", "explain", "log", "cost", "graph", "policy", "cassette")
WITHOUT_GIT: dict[str, int | None] = {
    "fix": 2, "evaluate": 2, "demo": 2, "hub": 2,
    **dict.fromkeys(NEEDS_NO_GIT, 0),
}  # fmt: skip


@pytest.mark.parametrize("command", cases(quick=("fix", "hub", "status"), besides=(ENDLESS,)))
def test_without_git_each_command_does_what_needs_none_or_says_what_to_install(
    command: str, place: Place
) -> None:
    done = forking.cogworks(*place.words(command), env=place.environment(PATH=str(place.home)))

    said = well_told(done)
    wanted = WITHOUT_GIT.get(command)
    assert ended_as(done, wanted), said
    if wanted is not None:
        assert ("git is not on PATH" in said and "Install it" in said) == (wanted == 2)


HOME_NEEDED = ("process", "run", "gc", "evaluate", "demo", "hub", "service", "action")
WITHOUT_HOME = {
    **dict.fromkeys(HOME_NEEDED, 2),
    **dict.fromkeys(("status", "explain", "log", "cost", "graph", "policy", "cassette"), 0),
    "poll": 2, "fix": 2, "replay": 2, "fsck": 0, "tools": 2,
}  # fmt: skip


@pytest.mark.parametrize("command", cases(quick=("process", "gc", "graph")))
def test_with_a_home_that_cannot_be_written_each_command_works_or_names_the_place(
    command: str, place: Place
) -> None:
    place.home.rmdir()
    # Root may write everywhere, but below no file.
    place.home.write_text("")

    done = forking.cogworks(*place.words(command), env=place.environment())

    said = well_told(done)
    assert ended_as(done, WITHOUT_HOME.get(command)), said
    if command in HOME_NEEDED:
        assert str(place.home) in said
        assert "writable" in said or "Give a free port" in said


ASKS_GITHUB = ("process", "run", "poll", "status", "explain", "log", "cost", "replay", "fsck", "gc")
WITHOUT_NETWORK: dict[str, int | None] = {
    **dict.fromkeys(ASKS_GITHUB, 75), "action": 75, "doctor": 1, "health": 0, "evaluate": 0, "hub": 0,
}  # fmt: skip


# The demonstration has a GitHub of its own.
@pytest.mark.parametrize("command", cases(besides=(ENDLESS, "demo")))
def test_without_a_network_whoever_asks_github_says_so_and_may_try_again(command: str, place: Place) -> None:
    with socket.socket() as nobody:
        # Bound and not listening: nobody else gets the port, and nobody answers.
        nobody.bind(("127.0.0.1", 0))
        place.url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        done = forking.cogworks(*place.words(command), env=place.environment())

    said = well_told(done)
    assert ended_as(done, WITHOUT_NETWORK.get(command)), said
    if done.returncode == 75:
        assert "cannot be reached" in said
        assert "again later" in said


WITH_A_FULL_DISK: dict[str, int | None] = {
    "fix": 2,
    "evaluate": 2,
    "demo": 2,
    "hub": 2,
    "tools": 2,
    "action": 2,
}


def mounts_for_itself() -> bool:
    """Whether this user may mount a small disk that only its own process sees."""
    unshare = shutil.which("unshare")
    trial = [unshare or "", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return (
        bool(unshare)
        and subprocess.run(trial, capture_output=True, check=False, timeout=ENDS_WITHIN_S).returncode == 0
    )


@pytest.mark.parametrize("command", cases(besides=(ENDLESS,)))
def test_on_a_full_disk_each_command_names_the_place_and_the_way_out(command: str, place: Place) -> None:
    if not mounts_for_itself():
        pytest.skip("no full disk: this user may mount nothing in a namespace of its own")
    script = f'mount -t tmpfs -o size={ROOM_KIB}k tmpfs "$HOME" && {{ cat /dev/zero >"$HOME/all" 2>/dev/null; exec "$@"; }}'
    command_line = [sys.executable, "-m", "cogworks", *place.words(command)]

    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *command_line],
        env=place.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )

    said = well_told(done)
    wanted = WITH_A_FULL_DISK.get(command)
    assert ended_as(done, wanted), said
    if wanted is not None:
        assert str(place.home) in said
        assert "full" in said
        assert "Make room" in said


# The demonstration would take its time, and make no environment that others do not.
@pytest.mark.parametrize("command", cases(besides=(ENDLESS, "demo")))
def test_a_stand_in_for_uv_that_does_not_run_stops_no_command(command: str, place: Place) -> None:
    stand_in = place.home / "shims" / "uv"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho 'No version is set for shim: uv' >&2\nexit 126\n")
    stand_in.chmod(0o755)
    path = f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}"

    done = forking.cogworks(*place.words(command), env=place.environment(PATH=path))

    said = well_told(done)
    assert ended_as(done, None), said
    if command == "doctor":
        assert "uv" in said
        assert "so pip is used" in said


def printed_to(target: int, *words: str) -> subprocess.CompletedProcess[str]:
    # The end of an interpreter is what this is about, so it is a real one.
    return subprocess.run(
        [sys.executable, "-m", "cogworks", *words],
        # Buffered, as it is for most people.
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=target,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )


@pytest.mark.parametrize("words", [("graph",), ("graph", "--json")], ids=["text", "json"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_standard_output_is_named(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = printed_to(full.fileno(), *words)

    assert (done.returncode, done.stderr.partition(":")[0]) == (2, "cogworks")
    assert done.stderr.startswith(
        "cogworks: standard output, or a file that the system does not name, cannot be written: its disk is full"
    )
    assert done.stderr.count("\n") == 1


def test_a_reader_who_left_gets_no_complaint() -> None:
    reading, writing_end = os.pipe()
    os.close(reading)
    try:
        done = printed_to(writing_end, "graph")
    finally:
        os.close(writing_end)

    assert done.stderr == ""


@pytest.mark.parametrize(
    ("number", "meaning"),
    [
        (errno.ENOSPC, "its disk is full"),
        (errno.EROFS, "it is read-only"),
        (errno.EACCES, "this user has no permission"),
        (errno.ENOTDIR, "something on the way to it is a file"),
    ],
    ids=["full", "read-only", "forbidden", "below-a-file"],
)
def test_a_refusal_of_the_file_system_says_where_why_and_what_to_do(
    number: int, meaning: str, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise OSError(number, os.strerror(number))

    with pytest.raises(MachineUnfit) as caught, writing(tmp_path):
        refuse()

    assert str(caught.value).startswith(
        f"{tmp_path} cannot be written: {meaning} ({os.strerror(number)}). Make "
    )
    assert "`COGWORKS_WORK_DIR`" in str(caught.value)
    assert (caught.value.exit_code, caught.value.outcome) == (2, "configuration_error")


def test_another_failure_is_none_of_the_machine_s() -> None:
    assert unfit(OSError(errno.ECONNRESET, "Connection reset by peer")) is None
