"""What a step costs in requests, counted on the real hub with the real reader, writer and ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import tomli_w

from cogworks.engine.consider import Wanted
from cogworks.engine.ports import StepPorts
from cogworks.engine.report import StepReport
from cogworks.engine.step import take_step
from cogworks.forge.addresses import IssueAddress, parse_issue_url
from cogworks.github.meter import Requests
from cogworks.hub.seeding import add_collaborator, add_token, add_user, create_repository
from cogworks.hub.world import World as HubWorld
from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.settings.config import Environment
from cogworks.vocabulary import NodeId
from cogworks.wiring.step import open_ports
from tests import plain_http
from tests.hub.running import running_hub
from tests.step_fakes import NODES, Runner
from tests.world import CONFIG, PIPELINE, World

PERSON = "ghp_" + "a" * 36
MACHINE = "ghp_" + "b" * 36


@dataclass
class Item:
    """One issue on the hub."""

    address: IssueAddress
    directory: Path

    @property
    def api(self) -> str:
        return f"{self.address.server_url}/api/v3/repos/{self.address.repository}"

    def ask(self, method: str, path: str, **body: object) -> None:
        answer = plain_http.request(
            method, f"{self.api}/{path}", json=body, headers={"Authorization": f"Bearer {PERSON}"}
        )
        assert answer.is_success, answer.text

    @contextmanager
    def ports(self, meter: Requests) -> Iterator[StepPorts]:
        """The shell of the program, but for its nodes and the model they ask."""
        environment = Environment(github_token=MACHINE, work_dir=str(self.directory))
        with open_ports(environment, self.address, meter=meter, say=lambda _: None) as ports:
            session = Runner(World())._session
            visit = replace(ports.visit, nodes=NODES, session=session)
            yield replace(ports, visit=visit, check=lambda config, files: None)

    def step(self) -> tuple[StepReport, dict[str, int]]:
        meter = Requests()
        with self.ports(meter) as ports:
            report = take_step(ports, self.address, Wanted())
        return report, {"graphql": meter.graphql, "rest": meter.rest, "git": meter.git}


@pytest.fixture(scope="module")
def item(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Item]:
    directory, files = tmp_path_factory.mktemp("hub"), tmp_path_factory.mktemp("adder")
    (files / ".cogworks").mkdir()
    (files / ".cogworks" / "config.toml").write_text(CONFIG)
    (files / ".cogworks" / "pipeline.toml").write_text(tomli_w.dumps(PIPELINE))
    world = HubWorld(directory)
    add_user(world, "octo-org", kind="Organization")
    repository = create_repository(world, "octo-org/adder", tree=files)
    for login, token in (("ann", PERSON), ("cogs", MACHINE)):
        user = add_user(world, login)
        add_token(world, user, token)
        add_collaborator(world, repository, user, "admin")
    world.close()
    with running_hub(directory) as running:
        made = plain_http.post(
            f"{running.api_url}/repos/octo-org/adder/issues",
            json={"title": "add() subtracts", "body": "It should add.", "labels": ["cogworks:run"]},
            headers={"Authorization": f"Bearer {PERSON}"},
        )
        yield Item(parse_issue_url(made.json()["html_url"]), directory)


@pytest.mark.slow
def test_every_kind_of_step_stays_within_its_requests(item: Item) -> None:
    first, requests = item.step()
    assert first.node == "spec"
    # Read, who set the label, what other items came to, claim, checkpoint, publish, record, show; REST makes the ledger's root and
    # the labels.
    assert requests["graphql"] == 8

    waiting, requests = item.step()
    assert (waiting.outcome, requests) == ("waiting", {"graphql": 1, "rest": 0, "git": 0})

    number = waiting.waiting_for[0].number
    item.ask("PUT", f"pulls/{number}/merge")
    item.ask("DELETE", "git/refs/heads/cogworks/1/spec")

    planning, requests = item.step()
    assert planning.node == "plan"
    # One document for two sub-issues and one for their dependency.
    assert requests["graphql"] == 5 + 2

    coding, requests = item.step()
    assert coding.node == "code@A"
    assert requests["graphql"] == 5 + 1

    shipping, requests = item.step()
    assert shipping.node == "ship@A"
    assert requests["graphql"] == 5

    met: list[tuple[StepReport, dict[str, int]]] = []

    def meet(task: NodeTask, ports: NodePorts) -> Outcome:
        met.append(item.step())
        return NODES[NodeId("code")](task, ports)

    with item.ports(Requests()) as ports:
        take_step(
            replace(ports, visit=replace(ports.visit, nodes={NodeId("code"): meet})), item.address, Wanted()
        )
    [(backing_off, requests)] = met
    assert (backing_off.outcome, requests) == ("backed_off", {"graphql": 1, "rest": 0, "git": 0})
