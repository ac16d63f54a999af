"""The stage of the demonstration: a hub of its own with the sample repository, kept in one directory."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file
from pathlib import Path

from cogworks.demo.facts import AUTHOR, DEFAULT_BRANCH, FULL_NAME, OWNER, sample_folder
from cogworks.errors import CogworksError
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World

RUNNER = "cogworks-runner"
"""The account cogworks works under; the person is another one, so that gates mean something."""
FIRST_COMMIT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""The sample's history has the same dates everywhere, so that nothing in a prompt varies."""
START_S = 60.0


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


@contextmanager
def open_stage(directory: Path, *, environment: Mapping[str, str], keep: bool) -> Iterator[Stage]:
    """A running hub over `directory`, filled with the sample at the first time and left as it is later.

    Args:
        keep: leave the hub running behind the block.

    Raises:
        CogworksError: the hub did not start.
    """
    hub = directory / "hub"
    hub.mkdir(parents=True, exist_ok=True)
    tokens = _tokens(directory)
    process = _running(hub)
    if process is None:
        _fill(hub, tokens)
        process = _start(hub, environment)
    url, pid = process
    try:
        yield Stage(
            url=url,
            directory=directory,
            person_token=tokens["person"],
            runner_token=tokens["runner"],
            process_id=pid,
        )
    finally:
        if not keep:
            _stop(pid)


def _tokens(directory: Path) -> dict[str, str]:
    path = directory / "tokens.json"
    if path.exists():
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return found
    made = {"person": secrets.token_hex(20), "runner": secrets.token_hex(20)}
    path.touch(mode=0o600)
    path.write_text(json.dumps(made), encoding="utf-8")
    return made


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


def _start(hub: Path, environment: Mapping[str, str]) -> tuple[str, int]:
    note = hub / "hub.json"
    note.unlink(missing_ok=True)
    with (hub / "hub.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cogworks", "hub", "serve", "--port", "0", "--dir", str(hub)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment),
            start_new_session=True,
        )
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s:
        if note.exists():
            return str(json.loads(note.read_text(encoding="utf-8"))["url"]), process.pid
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise CogworksError(f"the hub did not start; look at {hub / 'hub.log'}, then run the command again.")


def _running(hub: Path) -> tuple[str, int] | None:
    """The hub that an earlier `demo --keep`, or a demo that was killed, left behind."""
    note = hub / "hub.json"
    if not note.exists():
        return None
    told = json.loads(note.read_text(encoding="utf-8"))
    command = Path(f"/proc/{told['pid']}/cmdline")
    try:
        is_hub = str(hub).encode() in command.read_bytes()
    except OSError:
        return None
    return (str(told["url"]), int(told["pid"])) if is_hub else None


def _stop(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    for _ in range(100):
        try:
            if os.waitpid(pid, os.WNOHANG) != (0, 0):
                return
        except ChildProcessError:
            return
        time.sleep(0.05)
