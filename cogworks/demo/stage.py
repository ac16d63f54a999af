"""The stage of the demonstration: a hub of its own with the sample repository, kept in one directory."""

import fcntl
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file
from pathlib import Path

from cogworks.demo.facts import AUTHOR, DEFAULT_BRANCH, FULL_NAME, OWNER, sample_folder
from cogworks.errors import CogworksError
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.store import pages_link
from cogworks.hub.world import World
from cogworks.own_folders import own_folder
from cogworks.unfit import writing

RUNNER = "cogworks-runner"
"""The account cogworks works under; the person is another one, so that gates mean something."""
FIRST_COMMIT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""The sample's history has the same dates everywhere, so that nothing in a prompt varies."""
START_S = 60.0
FAREWELL_S = 10.0
POLL_S = 0.05


@dataclass(frozen=True)
class Stage:
    """A hub that runs, and who may speak to it."""

    url: str
    directory: Path
    person_token: str
    runner_token: str
    process_id: int

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/v3"

    @property
    def repository_url(self) -> str:
        return f"{self.url}/{FULL_NAME}"

    @property
    def pages_link(self) -> str:
        """The repository's page, for a browser that has not been here before."""
        return pages_link(self.directory / "hub", self.repository_url)


@dataclass(frozen=True)
class _Hub:
    url: str
    process_id: int
    child: subprocess.Popen[bytes] | None = None
    """None: an earlier demonstration left it running."""


@contextmanager
def sole_runner(directory: Path, tell: Callable[[str], None]) -> Iterator[int]:
    """The directory for this demonstration alone: waits for another one, and for a step that a killed one left.

    Yields a file descriptor. Steps that inherit it hold the directory too, so that a caller that gets past here knows: no
    other runner is alive, and a lease that stands is a dead one's.
    """
    with (directory / "runner.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            tell(f"another demonstration, or its last step, is at work in {directory}; waiting for its end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


@contextmanager
def open_stage(directory: Path, *, environment: Mapping[str, str], keep: bool) -> Iterator[Stage]:
    """A running hub over `directory`, filled with the sample at the first time and left as it is later.

    Args:
        keep: leave the hub running behind the block, unless it was started here and the block was interrupted.

    Raises:
        CogworksError: the hub did not start.
    """
    tokens = prepare(directory)
    hub = _running(directory / "hub") or _start(directory / "hub", environment)
    try:
        yield Stage(
            url=hub.url,
            directory=directory,
            person_token=tokens["person"],
            runner_token=tokens["runner"],
            process_id=hub.process_id,
        )
    except KeyboardInterrupt:
        keep = keep and hub.child is None
        raise
    finally:
        if not keep:
            _stop(hub)


def prepare(directory: Path) -> dict[str, str]:
    """Fill the stage's directory if no hub runs over it; returns the tokens of `person` and `runner`."""
    with writing(directory):
        own_folder(directory / "hub")
        tokens = _tokens(directory)
    if _running(directory / "hub") is None:
        _fill(directory / "hub", tokens)
    return tokens


def _tokens(directory: Path) -> dict[str, str]:
    path = directory / "tokens.json"
    if path.exists():
        stored: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return stored
    tokens = {"person": secrets.token_hex(20), "runner": secrets.token_hex(20)}
    aside = path.with_suffix(".new")
    aside.touch(mode=0o600)
    aside.write_text(json.dumps(tokens), encoding="utf-8")
    aside.replace(path)
    return tokens


def _fill(hub: Path, tokens: Mapping[str, str]) -> None:
    world = World(hub)
    try:
        add_user(world, OWNER, kind="Organization")
        person, runner = add_user(world, AUTHOR), add_user(world, RUNNER)
        add_token(world, person, tokens["person"])
        add_token(world, runner, tokens["runner"])
        with as_file(sample_folder() / "repository") as tree:
            repository = create_repository(
                world, FULL_NAME, tree=tree, date=FIRST_COMMIT, default_branch=DEFAULT_BRANCH
            )
        add_collaborator(world, repository, person, "admin")
        add_collaborator(world, repository, runner, "write")
    finally:
        world.close()


def _start(directory: Path, environment: Mapping[str, str]) -> _Hub:
    note = directory / "hub.json"
    note.unlink(missing_ok=True)
    (directory / "hub.log").touch(mode=0o600)  # the link to the pages is in it
    with (directory / "hub.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cogworks", "hub", "serve", "--port", "0", "--dir", str(directory)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment),
            # Ctrl-C is for this process: it lets the step in hand end, then stops the hub.
            start_new_session=True,
        )
    try:
        return _Hub(url=_announced(note, process), process_id=process.pid, child=process)
    except BaseException:
        process.kill()
        process.wait()
        raise


def _announced(note: Path, process: subprocess.Popen[bytes]) -> str:
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s and process.poll() is None:
        if note.exists():
            return str(json.loads(note.read_text(encoding="utf-8"))["url"])
        time.sleep(POLL_S)
    raise CogworksError(f"the hub did not start; look at {note.with_name('hub.log')}, then run it again.")


def _running(directory: Path) -> _Hub | None:
    """The hub that an earlier `demo --keep`, or a demo that was killed, left behind."""
    with (directory / "hub.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            # A hub holds its lock as long as it lives, so that its note is no other process's.
            note = json.loads((directory / "hub.json").read_text(encoding="utf-8"))
            return _Hub(url=str(note["url"]), process_id=int(note["pid"]))
    return None


def _stop(hub: _Hub) -> None:
    with suppress(ProcessLookupError):
        os.kill(hub.process_id, signal.SIGTERM)
        if not _has_ended(hub):
            os.kill(hub.process_id, signal.SIGKILL)
            _has_ended(hub)


def _has_ended(hub: _Hub) -> bool:
    if hub.child is not None:
        try:
            hub.child.wait(FAREWELL_S)
        except subprocess.TimeoutExpired:
            return False
        return True
    deadline_s = time.monotonic() + FAREWELL_S
    while time.monotonic() < deadline_s:
        os.kill(hub.process_id, 0)
        time.sleep(POLL_S)
    return False
