"""Steps that run into GitHub's limits: what is waited for, and that the lease is free for whoever comes next."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import tomli_w

from cogworks.engine.consider import Wanted
from cogworks.engine.ports import Session, SessionOrder, StepPorts, VisitPorts
from cogworks.engine.report import StepReport
from cogworks.engine.step import take_step
from cogworks.errors import TryAgainLater
from cogworks.forge.addresses import IssueAddress, parse_issue_url
from cogworks.forge.facts import RateLimit
from cogworks.forge.snapshot import Neighbour
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.earlier_logs import EarlierLog
from cogworks.github.ledger_store import LedgerStore
from cogworks.github.reading import SnapshotReader
from cogworks.github.rest import RestClient
from cogworks.github.writer import Writer
from cogworks.ledger.record import ROOT_BRANCH, read_state
from cogworks.llm.budget import shipped_prices
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.vocabulary import BranchName, NodeId, RunId
from tests import plain_http
from tests.hub.running import OWNER_TOKEN, RunningHub, running_hub, seeded
from tests.step_fakes import Runner
from tests.world import CONFIG, ONE_NODE, World

NOW_S = 1_795_233_600
HEADERS = {"Authorization": f"token {OWNER_TOKEN}"}


@dataclass
class Limits(httpx.BaseTransport):
    """Carries requests to the hub, but answers those that hold a word with the replies it was given."""

    word: str = ""
    replies: list[httpx.Response] = field(default_factory=list)
    inner: httpx.HTTPTransport = field(default_factory=httpx.HTTPTransport)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.word and self.word.encode() in request.content and self.replies:
            return self.replies.pop(0)
        return self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()


@dataclass
class Tracker:
    """The item through the real reader and writer."""

    address: IssueAddress
    reader: SnapshotReader
    writer: Writer
    rest: RestClient

    def read(self) -> Any:
        return self.reader.read(self.address)

    def complete(self, snapshot: Any, recorded: Any) -> Any:
        return self.reader.complete(snapshot, recorded)

    def review_texts(self, snapshot: Any, reviews: Any) -> Any:
        return self.reader.review_texts(snapshot, reviews)

    def failed_checks(self, snapshot: Any, failing: Any) -> Any:
        return ()

    def permissions(self, snapshot: Any, people: Any) -> Any:
        return {login: self.rest.permission_of(login) for login in people}

    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]:
        raise AssertionError("this node remembers nothing")

    def neighbours(self) -> Sequence[Neighbour]:
        raise AssertionError("this node compares its item with no other")

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        raise AssertionError("this repository has no packs")

    def item_costs(self) -> Any:
        return ()

    def create_root(self) -> Any:
        return self.rest.create_ledger_root(BranchName(ROOT_BRANCH))

    def publish(self, effects: Any, snapshot: Any, context: Any, push: Any) -> Any:
        return self.writer.publish(effects, snapshot, context, push=push)

    def show(self, effects: Any, snapshot: Any) -> Any:
        return self.writer.apply_views(effects, snapshot)


class Alone:
    """The world of a node that uses nothing of it, and looks at nothing."""

    @property
    def ports(self) -> Any:
        return self

    def looked(self) -> dict[str, Any]:
        return {}

    def push(self, *_: object) -> None:
        raise AssertionError("this node pushes nothing")


@dataclass
class Item:
    """A fresh issue of the hub and a runner whose clock only sleeping moves."""

    address: IssueAddress
    client: GraphQLClient
    tracker: Tracker
    limits: Limits
    slept: list[float]

    def step(self) -> StepReport:
        return take_step(self.ports(), self.address, Wanted())

    def ports(self) -> StepPorts:
        @contextmanager
        def session(order: SessionOrder) -> Iterator[Session]:
            yield Alone()

        open_session: Callable[[SessionOrder], AbstractContextManager[Session]] = session
        return StepPorts(
            visit=VisitPorts(
                tracker=self.tracker,
                nodes={NodeId("plan"): plan},
                session=open_session,
                monotonic=lambda: sum(self.slept),
                say=lambda _: None,
                check_base=lambda *_: None,
            ),
            tracker=self.tracker,
            ledger=lambda snapshot: LedgerStore(
                self.client,
                repository="octo/demo",
                repository_id=snapshot.repository.node_id,
                issue=self.address.number,
            ),
            holder="runner",
            new_run_id=lambda: RunId("run-1"),
            check=lambda config, files: None,
            prices=lambda _: shipped_prices(),
            forget=lambda _: None,
            sleep=self.slept.append,
            say=lambda _: None,
        )

    def leases(self) -> int:
        snapshot = self.tracker.read()
        assert snapshot.ledger is not None
        return len(read_state(snapshot.ledger.state_text or "", branch=BranchName("ledger")).leases)

    def status_comments(self) -> int:
        return len(self.tracker.read().issue.comments)


def plan(task: NodeTask, ports: NodePorts) -> Outcome:
    return Succeeded(output={"text": "a plan"}, effects=(), summary="a plan")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    directory: Path = tmp_path_factory.mktemp("limits") / "hub"
    with running_hub(seeded(directory)) as running:
        root = f"{running.api_url}/repos/octo/demo"
        head = plain_http.get(f"{root}/git/ref/heads/main", headers=HEADERS).json()["object"]["sha"]
        rows = [
            {"path": f".cogworks/{name}", "mode": "100644", "type": "blob", "content": text}
            for name, text in (("config.toml", CONFIG), ("pipeline.toml", tomli_w.dumps(ONE_NODE)))
        ]
        tree = plain_http.post(
            f"{root}/git/trees", json={"base_tree": head, "tree": rows}, headers=HEADERS
        ).json()["sha"]
        commit = {"message": "Configure", "tree": tree, "parents": [head]}
        oid = plain_http.post(f"{root}/git/commits", json=commit, headers=HEADERS).json()["sha"]
        plain_http.patch(f"{root}/git/refs/heads/main", json={"sha": oid}, headers=HEADERS).raise_for_status()
        yield running


@pytest.fixture
def item(hub: RunningHub) -> Iterator[Item]:
    issue = {"title": "Fix it", "body": "Please.", "labels": ["cogworks:run"]}
    made = plain_http.post(f"{hub.api_url}/repos/octo/demo/issues", json=issue, headers=HEADERS).json()
    address = parse_issue_url(made["html_url"])
    limits, slept = Limits(), list[float]()
    with ExitStack() as stack:
        token = FixedToken(OWNER_TOKEN)
        client = stack.enter_context(
            GraphQLClient(
                hub.graphql_url,
                token,
                transport=limits,
                sleep=slept.append,
                jitter=lambda: 0.0,
                monotonic=lambda: sum(slept),
            )
        )
        rest = stack.enter_context(RestClient(hub.api_url, token, "octo/demo", sleep=slept.append))
        reader = SnapshotReader(client, sleep=slept.append)
        tracker = Tracker(address, reader, Writer(client, lambda: rest, sleep=slept.append), rest)
        yield Item(address, client, tracker, limits, slept)


def limited(retry_after_s: int) -> httpx.Response:
    body = {"message": "You have exceeded a secondary rate limit"}
    return httpx.Response(403, json=body, headers={"Retry-After": str(retry_after_s)})


def reset_in(seconds: int) -> httpx.Response:
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
    headers = {
        "Date": "Sat, 21 Nov 2026 04:00:00 GMT",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(NOW_S + seconds),
    }
    return httpx.Response(200, json=body, headers=headers)


def test_a_limit_of_less_than_ten_minutes_is_waited_out_within_the_step(item: Item) -> None:
    item.limits.word, item.limits.replies = "addComment", [limited(120), reset_in(300)]

    report = item.step()

    assert report.outcome == "done"
    assert item.slept == [120.0, 301.0]
    assert item.status_comments() == 1


@pytest.mark.parametrize("refusal", [limited(601), reset_in(1800)], ids=["secondary", "primary"])
def test_a_longer_one_ends_the_step_with_75_and_gives_the_lease_back(
    item: Item, refusal: httpx.Response
) -> None:
    item.limits.word, item.limits.replies = "addComment", [refusal]

    with pytest.raises(TryAgainLater) as caught:
        item.step()

    assert caught.value.exit_code == 75
    assert caught.value.retry_after_s is not None
    assert caught.value.retry_after_s > 600
    assert item.slept == []
    assert item.leases() == 0
    assert item.status_comments() == 0
    # Nobody has to wait for a lease to grow old: the next step does the work at once.
    assert item.step().outcome == "done"
    assert item.status_comments() == 1


def test_pauses_that_sum_up_to_more_than_ten_minutes_end_the_step_as_well(item: Item) -> None:
    item.limits.word, item.limits.replies = "addComment", [limited(400), limited(400)]

    with pytest.raises(TryAgainLater, match="pause of 400 s"):
        item.step()

    assert item.slept == [400.0]
    assert item.leases() == 0


def test_a_limit_met_by_the_claim_leaves_nothing_behind(item: Item) -> None:
    item.limits.word, item.limits.replies = "createRef", [limited(900)]

    with pytest.raises(TryAgainLater):
        item.step()

    assert item.tracker.read().ledger is None


def test_an_answer_lost_after_the_limit_was_waited_for_makes_no_second_comment(item: Item) -> None:
    item.limits.word, item.limits.replies = "addComment", [limited(30), httpx.Response(502)]

    report = item.step()

    assert report.outcome == "done"
    assert item.status_comments() == 1


def test_with_few_points_left_no_model_is_asked_and_nothing_is_claimed() -> None:
    world = World(rate=RateLimit(400, limit=5_000))
    runner = Runner(world)

    with pytest.raises(TryAgainLater, match="400 of the token's 5000 GitHub points"):
        runner.step()

    assert (world.commits, world.writes, world.paid.total()) == ([], [], 0)
