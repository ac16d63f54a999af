"""The demonstration's work item for measurements: its steps one by one, and what each asked of GitHub."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from cogworks.demo.facts import FULL_NAME
from cogworks.demo.person import Person
from cogworks.demo.stage import Stage
from cogworks.settings.config import child_environment

ISSUE = 1
LEDGER = f"cogworks/ledger/{ISSUE}"


@dataclass(frozen=True)
class Measured:
    """One step."""

    node: str
    """Without its sub-item; empty where none ran."""
    outcome: str
    graphql: int
    rest: int
    git: int
    points: int
    """Of GraphQL's hourly limit, counted by the server."""
    checkpoints: int
    message: str


class BenchItem:
    """The sample issue on a stage of its own."""

    def __init__(self, stage: Stage, person: Person) -> None:
        self.stage = stage
        self.person = person
        self.url = person.write_issue()
        person.set_trigger()

    def environment(self, *, graphql_url: str = "", token: str = "") -> dict[str, str]:
        """What a step sees; `graphql_url` puts something between it and the hub, `token` is another account's."""
        return child_environment(
            {
                "COGWORKS_GITHUB_TOKEN": token or self.stage.runner_token,
                "COGWORKS_LLM_PROVIDER": "cassette",
                "COGWORKS_WORK_DIR": str(self.stage.directory / "work"),
                "GITHUB_SERVER_URL": self.stage.url,
                "GITHUB_API_URL": self.stage.api_url,
                "GITHUB_GRAPHQL_URL": graphql_url or self.graphql_url,
            }
        )

    @property
    def graphql_url(self) -> str:
        return f"{self.stage.url}/api/graphql"

    def start(self, environment: Mapping[str, str]) -> subprocess.Popen[str]:
        """`cogworks process --json`, running."""
        return subprocess.Popen(
            [sys.executable, "-m", "cogworks", "process", self.url, "--json", "--quiet"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=dict(environment),
        )  # fmt: skip

    def step(self, graphql_url: str = "") -> Measured:
        """One step of the runner."""
        points, commits = self.points(), len(self.ledger())
        told = finished(self.start(self.environment(graphql_url=graphql_url)))
        after = self.ledger()
        return _measured(told, self.points() - points, after[: len(after) - commits])

    def points(self) -> int:
        """What the runner's account has used of GraphQL's limit; asking is free."""
        headers = {"Authorization": f"Bearer {self.stage.runner_token}"}
        answer = httpx.get(f"{self.stage.api_url}/rate_limit", headers=headers).raise_for_status()
        used: int = answer.json()["resources"]["graphql"]["used"]
        return used

    def ledger(self) -> list[str]:
        """Subjects of the ledger's commits, newest first; none before the first step."""
        repository = self.stage.directory / "hub" / "repos" / f"{FULL_NAME}.git"
        done = subprocess.run(
            ["git", "log", "--format=%s", f"refs/heads/{LEDGER}"],
            cwd=repository, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout.splitlines()

    def branches(self) -> str:
        """Every branch with its commit."""
        repository = self.stage.directory / "hub" / "repos" / f"{FULL_NAME}.git"
        command = ["git", "for-each-ref", "refs/heads"]
        return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout

    def wait_for_claim(self, commits: int) -> None:
        """Until the ledger has more commits than before."""
        for _ in range(3000):
            if len(self.ledger()) > commits:
                return
            time.sleep(0.01)
        raise TimeoutError(f"no step claimed anything of {self.url} within a minute")

    def pass_gates(self) -> None:
        """Approve the specification and merge every other open pull request, as the person does."""
        for pull in self.person.pull_requests():
            if pull.state == "open":
                act = self.person.approve if pull.head.endswith("/spec") else self.person.merge
                act(pull.number)


def finished(running: subprocess.Popen[str]) -> dict[str, Any]:
    """What a started step printed at its end."""
    printed, _ = running.communicate()
    told: dict[str, Any] = json.loads(printed)
    return told


def _measured(told: Mapping[str, Any], points: int, commits: Sequence[str]) -> Measured:
    requests = told["requests"]
    return Measured(
        node=(told["node"] or "").partition("@")[0],
        outcome=told["outcome"],
        graphql=requests["graphql"],
        rest=requests["rest"],
        git=requests["git"],
        points=points,
        checkpoints=sum(" checkpoint " in subject for subject in commits),
        message=told["message"],
    )
