"""A hub in a process of its own, for tests that speak to it as to GitHub."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cogworks.hub.actions.checks import keep_job_log
from cogworks.hub.check_records import CheckRun
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World
from tests.forking import Cogworks
from tests.limits import ENDS_WITHIN_S, Started

OWNER_TOKEN = "owner-token"
WRITER_TOKEN = "writer-token"
READER_TOKEN = "reader-token"
BOT_TOKEN = "bot-token"
SAMPLE = {
    "README.md": "# Sample\n",
    "src/adder.py": "def add(a, b):\n    return a + b\n",
    "src/deep/er.txt": "one\ntwo\nthree\n",
}


@dataclass(frozen=True)
class RunningHub:
    """Where a hub answers."""

    url: str
    directory: Path
    process: subprocess.Popen[str] | Cogworks

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/v3"

    @property
    def graphql_url(self) -> str:
        return f"{self.url}/api/graphql"

    def git_url(self, full_name: str, token: str | None = None) -> str:
        """What `git clone` takes; with a token it needs no password."""
        host = self.url.removeprefix("http://")
        login = "" if token is None else f"x-access-token:{token}@"
        return f"http://{login}{host}/{full_name}.git"

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=ENDS_WITHIN_S)


@contextmanager
def running_hub(
    directory: Path,
    *options: str,
    interpreter: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    stderr: int | IO[str] | None = None,
) -> Iterator[RunningHub]:
    """The hub of a directory, served on a free port until the block ends.

    Args:
        interpreter: options of Python itself.
    """
    words = ["hub", "serve", "--port", "0", "--dir", str(directory), *options]
    with _started(words, interpreter, env, stderr) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            assert said.startswith("hub listening on "), said
            note = json.loads((directory / "hub.json").read_text())
            assert note == {"url": said.split()[-1], "pid": process.pid}
            yield RunningHub(url=note["url"], directory=directory, process=process)
        finally:
            process.terminate()
            process.wait(timeout=ENDS_WITHIN_S)


def _started(
    words: Sequence[str],
    interpreter: Sequence[str],
    env: Mapping[str, str] | None,
    stderr: int | IO[str] | None,
) -> subprocess.Popen[str] | Cogworks:
    if not interpreter:
        return Cogworks(words, env=env, stdout=subprocess.PIPE, stderr=stderr)
    command = [sys.executable, *interpreter, "-m", "cogworks", *words]
    return Started(command, env=env, stdout=subprocess.PIPE, stderr=stderr, text=True)


def seeded(directory: Path) -> Path:
    """A hub directory with the repository octo/demo, its owner, a writer, a reader and an app."""
    tree = directory.parent / f"{directory.name}-files"
    for path, text in SAMPLE.items():
        file = tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    world = World(directory)
    owner = add_user(world, "octo", name="Octo Cat", email="octo@example.com")
    add_token(world, owner, OWNER_TOKEN)
    repository = create_repository(world, "octo/demo", tree=tree)
    for login, token, role in (("ada", WRITER_TOKEN, "write"), ("rita", READER_TOKEN, "read")):
        user = add_user(world, login)
        add_token(world, user, token)
        add_collaborator(world, repository, user, role)
    bot = add_user(world, "helper[bot]", kind="Bot")
    add_token(world, bot, BOT_TOKEN, kind="installation")
    add_collaborator(world, repository, bot, "write")
    world.close()
    return directory


def keep_log(directory: Path, run_id: int, text: str) -> None:
    """What the job behind a check run wrote, as a runner of GitHub Actions would tell it."""
    world = World(directory)
    try:
        run = world.store.get(CheckRun, run_id)
        assert run is not None
        keep_job_log(world, run, text)
    finally:
        world.close()
