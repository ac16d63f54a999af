"""One issue after the other on a real hub, worked on by the real step with quick nodes; people speak to it over REST."""

import itertools
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from cogworks.engine.consider import Wanted
from cogworks.engine.ports import StepPorts
from cogworks.engine.report import StepReport
from cogworks.engine.step import take_step
from cogworks.forge.addresses import IssueAddress, parse_issue_url
from cogworks.forge.snapshot import Snapshot
from cogworks.github.meter import Requests
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World as HubWorld
from cogworks.ledger.record import read_state
from cogworks.nodes.contract import NodeProcedure
from cogworks.pipeline.state import RunState
from cogworks.settings.config import Environment
from cogworks.vocabulary import BranchName, NodeId
from cogworks.wiring.step import open_ports
from tests import plain_http
from tests.hub.running import RunningHub, running_hub
from tests.step_fakes import NODES, Runner
from tests.world import CONFIG, PIPELINE, World

PEOPLE = {"ann": "admin", "cogs": "write", "tia": "triage", "eve": "read", "robot[bot]": "write"}
TOKENS = {login: f"ghp_{letter * 36}" for login, letter in zip(PEOPLE, "abcde", strict=True)}
MERGES_NOTHING = f"{CONFIG}\n[pull_requests]\nconflict_repairs = 0\n"
"""For nodes that write one file on two branches and cannot merge it: people are told of the conflict instead."""
_numbers = itertools.count(1)


@dataclass
class Item:
    """One issue and everybody around it."""

    address: IssueAddress
    directory: Path
    nodes: Mapping[NodeId, NodeProcedure] = field(default_factory=lambda: NODES)

    @property
    def api(self) -> str:
        return f"{self.address.server_url}/api/v3/repos/{self.address.repository}"

    def ask(self, method: str, path: str, *, by: str = "ann", **body: object) -> Any:
        """What REST answers to a person; fails when it refuses."""
        answer = plain_http.request(
            method,
            f"{self.api}/{path}".rstrip("/"),
            json=body or None,
            headers={"Authorization": f"Bearer {TOKENS[by]}"},
        )
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def say(self, body: str, *, by: str = "ann") -> int:
        """A comment; its id."""
        return int(self.ask("POST", f"issues/{self.address.number}/comments", by=by, body=body)["id"])

    def label(self, name: str, *, by: str = "ann") -> None:
        self.ask("POST", f"issues/{self.address.number}/labels", by=by, labels=[name])

    def reactions(self, comment: int) -> list[tuple[str, str]]:
        """Who reacted to a comment, and with what."""
        found = self.ask("GET", f"issues/comments/{comment}/reactions")
        return [(each["user"]["login"], each["content"]) for each in found]

    def comments(self, *, by: str = "cogs") -> list[str]:
        found = self.ask("GET", f"issues/{self.address.number}/comments?per_page=100")
        return [each["body"] for each in found if each["user"]["login"] == by]

    def snapshot(self) -> Snapshot:
        with self.ports(Requests()) as ports:
            return ports.tracker.read()

    def state(self) -> RunState:
        ledger = self.snapshot().ledger
        assert ledger is not None
        return read_state(ledger.state_text or "", branch="ledger")

    def branch(self, slug: str) -> BranchName:
        return BranchName(f"cogworks/{self.address.number}/{slug}")

    @contextmanager
    def ports(self, meter: Requests) -> Iterator[StepPorts]:
        """The shell of the program, but for its nodes and the model they ask."""
        environment = Environment(github_token=TOKENS["cogs"], work_dir=str(self.directory))
        with open_ports(environment, self.address, meter=meter, say=lambda _: None) as ports:
            session = Runner(World())._session
            visit = replace(ports.visit, nodes=self.nodes, session=session)
            yield replace(ports, visit=visit, check=lambda config, files: None)

    def step(self) -> StepReport:
        return self.counted_step()[0]

    def counted_step(self) -> tuple[StepReport, Mapping[str, int]]:
        meter = Requests()
        with self.ports(meter) as ports:
            report = take_step(ports, self.address, Wanted())
        return report, {"graphql": meter.graphql, "rest": meter.rest, "git": meter.git}

    def merge(self, report: StepReport) -> None:
        """Everything it waits for to be merged."""
        for wait in report.waiting_for:
            self.ask("PUT", f"pulls/{wait.number}/merge")

    def until(self, node: str) -> StepReport:
        """Steps, with merges at the gates, until this node has run."""
        report = None
        for _ in range(20):
            report = self.step()
            if report.node == node:
                return report
            self.merge(report)
        raise AssertionError(f"{node} did not run: {report}")


@contextmanager
def malformed_configuration(item: Item) -> Iterator[None]:
    """The repository's `config.toml` as ann must not leave it."""
    path = "contents/.cogworks/config.toml"

    def write(text: str) -> None:
        sha = item.ask("GET", path)["sha"]
        content = b64encode(text.encode()).decode()
        item.ask("PUT", path, message="Configure", content=content, sha=sha)

    write('[llm]\nmodle = "m"\n')
    try:
        yield
    finally:
        write(CONFIG)


@contextmanager
def open_hub(directory: Path, *, config: str = CONFIG) -> Iterator[RunningHub]:
    """A hub with octo-org/adder: ann administers, cogs is the program, tia may triage, eve may read, robot is an App."""
    files = directory / "files"
    (files / ".cogworks").mkdir(parents=True)
    (files / ".cogworks" / "config.toml").write_text(config)
    (files / ".cogworks" / "pipeline.toml").write_text(tomli_w.dumps(PIPELINE))
    world = HubWorld(directory / "hub")
    add_user(world, "octo-org", kind="Organization")
    repository = create_repository(world, "octo-org/adder", tree=files)
    for login, role in PEOPLE.items():
        user = add_user(world, login, kind="Bot" if login.endswith("[bot]") else "User")
        add_token(world, user, TOKENS[login])
        add_collaborator(world, repository, user, role)
    world.close()
    with running_hub(directory / "hub") as running:
        yield running


def new_item(
    hub: RunningHub,
    *,
    labels: tuple[str, ...] = ("cogworks:run",),
    by: str = "ann",
    body: str = "It should add.",
) -> Item:
    """A new issue; GitHub drops the labels of an author who may not set them."""
    made = plain_http.post(
        f"{hub.api_url}/repos/octo-org/adder/issues",
        content=json.dumps(
            {"title": f"add() subtracts, no. {next(_numbers)}", "body": body, "labels": labels}
        ),
        headers={"Authorization": f"Bearer {TOKENS[by]}"},
    )
    assert made.is_success, made.text
    return Item(parse_issue_url(made.json()["html_url"]), hub.directory)
