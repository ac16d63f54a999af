"""The sample item on a real hub, and `cogworks` as a process of its own that works on it."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from github.Repository import Repository

from cogworks.demo.facts import DEFAULT_BRANCH, OWNER, REPOSITORY
from cogworks.demo.person import Person
from cogworks.demo.stage import RUNNER, Stage, open_stage, prepare
from cogworks.hub.seeding import add_token, add_user, parse_permissions
from cogworks.hub.world import World
from tests import forking, plain_http
from tests.forking import Cogworks
from tests.hub.running import running_hub
from tests.limits import ENDS_WITHIN_S

HOST_ENVIRONMENT = {
    name: os.environ[name] for name in ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE") if name in os.environ
}
"""No token, no model key and no address of the machine the tests run on."""
STRANGER_TOKEN = "stranger-token"
READ_ONLY_TOKEN = "read-only-token"
COGWORKS = (sys.executable, "-m", "cogworks")


class Ended(NamedTuple):
    """A process that came to its end."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass(frozen=True)
class Scene:
    """A hub with the sample item, its person, and the environment of a runner."""

    stage: Stage
    person: Person
    issue_url: str

    @property
    def hub(self) -> Path:
        return self.stage.directory / "hub"

    def environment(self, **changed: str) -> dict[str, str]:
        return {
            **HOST_ENVIRONMENT,
            "COGWORKS_GITHUB_TOKEN": self.stage.runner_token,
            "COGWORKS_LLM_PROVIDER": "cassette",
            "COGWORKS_WORK_DIR": str(self.stage.directory / "work"),
            "GITHUB_SERVER_URL": self.stage.url,
            "GITHUB_API_URL": self.stage.api_url,
            "GITHUB_GRAPHQL_URL": f"{self.stage.url}/api/graphql",
            **changed,
        }

    def cogworks(self, command: str, *options: str, issue_url: str = "", **changed: str) -> Ended:
        """`cogworks <command> <issue-url> <options>` until it ends."""
        done = forking.cogworks(
            command, issue_url or self.issue_url, *options, env=self.environment(**changed), timeout=200
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def interrupted(
        self, command: str, *options: str, until: Callable[[str], bool], by: signal.Signals, **changed: str
    ) -> Ended:
        """The same, but its process group gets a signal after the first line of progress that fits."""
        with Cogworks(
            [command, self.issue_url, *options],
            env=self.environment(**changed),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            said = []
            for line in running.stderr:
                said.append(line)
                if until(line):
                    os.killpg(running.pid, by)
                    break
            said.append(running.stderr.read())
            out = running.stdout.read()
        return Ended(running.wait(timeout=ENDS_WITHIN_S), out, "".join(said))

    def pass_gates(self, report: Mapping[str, Any]) -> None:
        """The person merges or approves what a step waits for."""
        for wait in report["waiting_for"]:
            if wait["kind"] == "merge":
                self.person.merge(int(wait["number"]))
            elif wait["kind"] == "review":
                self.person.approve(int(wait["number"]))

    @property
    def repository(self) -> Repository:
        """The sample repository as its person may change it."""
        return self.person.repository

    def file(self, path: str, *, branch: str = DEFAULT_BRANCH) -> str | None:
        """The text of a file at the head of a branch; None: there is none."""
        if path not in self.git("ls-tree", "-r", "--name-only", branch).splitlines():
            return None
        return self.git("show", f"{branch}:{path}")

    def write(self, path: str, text: str | None, *, branch: str = DEFAULT_BRANCH) -> None:
        """Commit a file as the person; None removes it."""
        if self.file(path, branch=branch) is None:
            if text is not None:
                self.repository.create_file(path, f"Write {path}", text, branch=branch)
            return
        blob = self.git("rev-parse", f"{branch}:{path}").strip()
        if text is None:
            self.repository.delete_file(path, f"Remove {path}", blob, branch=branch)
        else:
            self.repository.update_file(path, f"Change {path}", text, blob, branch=branch)

    def let_tests_come_with_the_code(self) -> None:
        """For an item that is about something else: one question to the model less for each visit of Code Generation."""
        config = ".cogworks/config.toml"
        self.write(config, f'{self.file(config)}\n[tests]\nwriter = "none"\n')

    def everything(self) -> dict[str, str]:
        """All that the hub holds, for comparison: records and refs, by name."""
        with closing(sqlite3.connect(f"file:{self.hub / 'hub.sqlite3'}?mode=ro", uri=True)) as store:
            rows = store.execute("SELECT kind, id, json FROM records").fetchall()
        return {f"{kind} {number}": text for kind, number, text in rows} | self.refs()

    def refs(self) -> dict[str, str]:
        """Branch -> commit and tree."""
        told = self.git("for-each-ref", "--format=%(refname:short) %(objectname) %(tree)")
        return dict(line.split(" ", 1) for line in told.splitlines())

    def git(self, *arguments: str) -> str:
        """What git says about the repository as the hub keeps it."""
        bare = self.hub / "repos" / OWNER / f"{REPOSITORY}.git"
        return subprocess.run(
            ["git", *arguments],
            cwd=bare,
            check=True,
            capture_output=True,
            text=True,
            env=HOST_ENVIRONMENT,
            timeout=ENDS_WITHIN_S,
        ).stdout

    def ask(self, query: str) -> dict[str, Any]:
        """The repository's part of a GraphQL answer."""
        answer = plain_http.post(
            f"{self.stage.url}/api/graphql",
            json={"query": f'{{ repository(owner: "{OWNER}", name: "{REPOSITORY}") {{ {query} }} }}'},
            headers={"Authorization": f"Bearer {self.stage.person_token}"},
            timeout=30,
        ).json()
        assert "errors" not in answer, answer
        found: dict[str, Any] = answer["data"]["repository"]
        return found

    def seen(self) -> dict[str, Any]:
        """What people see, without what differs from run to run: ids, hashes, addresses, amounts."""
        told = self.ask(
            "issues(first: 50) { nodes { number title state body author { login }"
            "   labels(first: 50) { nodes { name } } parent { number } subIssues(first: 50) { nodes { number } }"
            "   blockedBy(first: 50) { nodes { number } } comments(first: 50) { nodes { body author { login } } } } }"
            " pullRequests(first: 50) { nodes { number title state body isDraft baseRefName headRefName"
            "   labels(first: 50) { nodes { name } } comments(first: 50) { nodes { body } }"
            "   reviews(first: 50) { nodes { body state comments(first: 50) { nodes { path line body } } } } } }"
        )
        text = json.dumps(told)
        trees = {
            branch: commit_and_tree.split()[1]
            for branch, commit_and_tree in self.refs().items()
            if not branch.startswith("cogworks/ledger/")
        }
        seen: dict[str, Any] = json.loads(_without_accidents(text, self.stage.url))
        return {**seen, "trees": trees}

    def state(self) -> dict[str, Any]:
        """The run's state as the ledger has it."""
        found: dict[str, Any] = json.loads(self.git("show", "cogworks/ledger/1:state.json"))
        return found

    def visits(self) -> list[tuple[str, str | None, int, str, str]]:
        """Node, sub-item, ordinal, status and summary of every visit."""
        return [
            (v["node"], v["sub_item"], v["ordinal"], v["status"], v["summary"])
            for v in self.state()["visits"]
        ]


@contextmanager
def open_scene(directory: Path) -> Iterator[Scene]:
    """A running hub over the directory, with the sample issue asking for work; later as it was left."""
    prepare(directory)
    with (
        running_hub(directory / "hub", env=HOST_ENVIRONMENT),
        open_stage(directory, environment=HOST_ENVIRONMENT, keep=True) as stage,
        closing(Person(stage)) as person,
    ):
        issue_url = person.write_issue()
        yield Scene(stage, person, issue_url)


def copy_of(directory: Path, to: Path) -> Path:
    """A copy of a scene while its hub has nothing to do; open it when the original is closed, at the same port."""
    return Path(shutil.copytree(directory, to))


def admit_others(scene: Scene) -> None:
    """A stranger, and a token of the runner that may only read."""
    world = World(scene.hub)
    try:
        add_token(world, add_user(world, "stranger"), STRANGER_TOKEN)
        reading = parse_permissions(["contents=read", "issues=read", "pull_requests=read"])
        add_token(world, add_user(world, RUNNER), READ_ONLY_TOKEN, permissions=reading)
    finally:
        world.close()


def _without_accidents(text: str, url: str) -> str:
    for pattern, word in (
        (re.escape(url), "<hub>"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<run>"),
        (r"\b[0-9a-f]{12,64}\b", "<hash>"),
        (r" h=[0-9a-f]{8} ", " h=<hash> "),
        # A runner that died may have spent what it reserved: the one trace that it leaves.
        (r" \(\$[0-9.]+ reserved, not confirmed\)", ""),
        (r"\$[0-9.]+", "<usd>"),
        (r"[0-9,]+ of [0-9,]+ tokens", "<tokens>"),
        (r"[0-9]+ model calls", "<calls>"),
    ):
        text = re.sub(pattern, word, text)
    return text
