"""A sweep's requests and what it learns, asked of the hub in this process."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest
from graphql import parse, validate

from cogworks.errors import UsageError
from cogworks.forge.addresses import RepositoryAddress, parse_repository
from cogworks.github.documents import Answer
from cogworks.github.responses import Answered, judge
from cogworks.github.sweep_document import Wish, sweep_document
from cogworks.github.sweeping import look_through
from cogworks.hub.actions.access import authenticate, find_issue, find_repository
from cogworks.hub.actions.comments import create_comment
from cogworks.hub.actions.commits import create_commit_on_branch
from cogworks.hub.actions.pulls import create_pull
from cogworks.hub.actions.refs import create_ref
from cogworks.hub.actions.reviews import create_review
from cogworks.hub.clock import http_date
from cogworks.hub.graphql.endpoint import execute
from cogworks.hub.records import Issue
from cogworks.hub.world import World
from cogworks.vocabulary import IssueNumber
from tests.engine.open_items import CONFIG, OWNER_TOKEN, RUNNER_TOKEN, Item, fill, record
from tests.published import published_schema

DEMO = RepositoryAddress("http://hub.test", "octo", "demo")


class InProcess:
    """Asks a hub without a network, and counts."""

    def __init__(self, directory: Path) -> None:
        self.world = World(directory, base_url="http://hub.test")
        self.asked: list[str] = []

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer:
        self.asked.append(document)
        answer = execute(self.world, authenticate(self.world, RUNNER_TOKEN), document, dict(variables))
        headers = {"date": http_date(self.world.clock.now()), "content-type": "application/json"}
        verdict = judge(200, headers, json.dumps(answer, default=str).encode(), url="http://hub.test")
        assert isinstance(verdict, Answered), verdict
        return verdict.answer

    def commit(self, branch: str, files: Mapping[str, bytes]) -> None:
        """A commit of the runner's on a branch."""
        actor = authenticate(self.world, RUNNER_TOKEN)
        repository = find_repository(self.world, actor, "octo", "demo")
        head = self.world.repository_git(repository).branch(branch)
        assert head is not None
        create_commit_on_branch(
            self.world,
            actor,
            repository,
            branch=branch,
            expected_head_oid=head,
            message="Change",
            additions=files,
        )

    def pull(self, number: int, slug: str = "spec") -> Issue:
        """An open pull request of one item, by the runner."""
        actor = authenticate(self.world, RUNNER_TOKEN)
        repository = find_repository(self.world, actor, "octo", "demo")
        main = self.world.repository_git(repository).branch("main")
        assert main is not None
        head = f"cogworks/{number}/{slug}"
        create_ref(self.world, actor, repository, f"refs/heads/{head}", main)
        create_commit_on_branch(
            self.world, actor, repository, branch=head, expected_head_oid=main, message="Specify",
            additions={f"{slug}-{number}.md": b"x"},
        )  # fmt: skip
        return create_pull(self.world, actor, repository, title=head, head=head, base="main")


class MakeHub(Protocol):
    def __call__(self, *items: Item, config: str = CONFIG) -> InProcess: ...


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[MakeHub]:
    """Makes the one hub of a test."""
    with ExitStack() as stack:

        def make(*items: Item, config: str = CONFIG) -> InProcess:
            fill(tmp_path / "hub", items, config=config)
            client = InProcess(tmp_path / "hub")
            stack.callback(client.world.close)
            return client

        yield make


@pytest.mark.parametrize(
    ("items", "requests"),
    [(0, 1), (1, 2), (50, 2), (51, 3)],
    ids=["none", "one", "a-page", "a-page-and-one"],
)
def test_fifty_items_are_a_request_and_their_ledgers_come_with_the_next(
    hub: MakeHub, items: int, requests: int
) -> None:
    client = hub(*[Item(ledger=record("done", seen="event=e1")) for _ in range(items)])

    seen = look_through(client, DEMO, since=None)

    assert (len(seen.items), len(seen.tips), len(client.asked)) == (items, items, requests)


def test_only_open_issues_with_the_trigger_label_are_listed(hub: MakeHub) -> None:
    client = hub(Item(), Item(labels=()), Item(labels=("bug",)), Item(labels=("cogworks:run", "bug")))

    seen = look_through(client, DEMO, since=None)

    assert [item.number for item in seen.items] == [1, 4]
    assert seen.tips == {}


def test_a_renamed_trigger_label_costs_one_request_more(hub: MakeHub) -> None:
    config = f'{CONFIG}\n[labels]\ntrigger = "robot"\n'
    client = hub(Item(), Item(labels=("robot",)), config=config)

    seen = look_through(client, DEMO, since=None)

    assert ([item.number for item in seen.items], seen.labels.trigger) == ([2], "robot")
    assert len(client.asked) == 3


@pytest.mark.parametrize("broken", ["modle = 1", "[["], ids=["malformed", "not-toml"])
def test_a_broken_configuration_is_told_and_items_are_found_by_the_labels_that_can_be_read(
    hub: MakeHub, broken: str
) -> None:
    config = f'{CONFIG}{broken}\n[labels]\ntrigger = "robot"\n'
    client = hub(Item(), Item(labels=("robot",)), config=config)

    seen = look_through(client, DEMO, since=None)

    found = 2 if broken.startswith("modle") else 1
    assert ([item.number for item in seen.items], seen.limits) == ([found], "")
    assert ".cogworks/config.toml has 1 problem(s)" in seen.problem


def test_a_repository_that_nobody_can_see_is_refused_with_its_address(hub: MakeHub) -> None:
    client = hub(Item())
    other = RepositoryAddress("http://hub.test", "octo", "empty")

    with pytest.raises(UsageError, match=r"look through http://hub\.test/octo/empty"):
        look_through(client, other, since=None)


def test_items_outside_of_the_milestone_are_left_out(hub: MakeHub) -> None:
    client = hub(Item(milestone="First"), Item(), Item(milestone="Second"))

    by_title = look_through(client, DEMO, since=None, milestone="Second")
    by_number = look_through(client, DEMO, since=None, milestone="1")

    assert [[item.number for item in seen.items] for seen in (by_title, by_number)] == [[3], [1]]


def test_the_reviews_of_a_waited_for_pull_request_come_one_request_later(hub: MakeHub) -> None:
    client = hub(Item(ledger=record("succeeded", waits_for="merge 2@abc")))
    pull = client.pull(1)
    owner = authenticate(client.world, OWNER_TOKEN)

    before = look_through(client, DEMO, since=None)
    create_review(client.world, owner, pull, event="APPROVE")
    after = look_through(client, DEMO, since=None)

    assert [seen.pulls[IssueNumber(2)].is_approved for seen in (before, after)] == [False, True]
    assert len(client.asked) == 6


def test_who_asks_for_changes_of_a_finished_item_is_seen_one_request_later(hub: MakeHub) -> None:
    client = hub(Item(ledger=record("succeeded", waits_for="done", seen="pulls=2:open:abc")))
    pull = client.pull(1)
    owner = authenticate(client.world, OWNER_TOKEN)

    before = look_through(client, DEMO, since=None)
    review = create_review(client.world, owner, pull, event="REQUEST_CHANGES", body="No")
    after = look_through(client, DEMO, since=None)

    assert [seen.pulls[IssueNumber(2)].change_requests for seen in (before, after)] == [(), (review.id,)]
    assert len(client.asked) == 6


def test_a_base_that_moved_below_a_finished_item_is_seen_one_request_later(hub: MakeHub) -> None:
    client = hub(Item(ledger=record("succeeded", waits_for="done", seen="pulls=2:open:abc")))
    pull = client.pull(1)
    client.commit("main", {"spec-1.md": b"another"})
    # Nothing of the pull request itself changed since its item's last step.
    long_ago = client.world.clock.now() - timedelta(hours=2)
    with client.world.changing():
        now = client.world.store.get(Issue, pull.id)
        assert now is not None
        client.world.store.put(now.model_copy(update={"updated_at": long_ago}))

    # GitHub begins to find out whether it can be merged when somebody asks.
    found = [look_through(client, DEMO, since=None).pulls[IssueNumber(2)].is_conflicting for _ in range(2)]

    assert found == [False, True]
    assert len(client.asked) == 6


def test_only_a_line_to_cogworks_that_nobody_read_counts_and_comes_one_request_later(hub: MakeHub) -> None:
    client = hub(*[Item(ledger=record("succeeded", waits_for="approval")) for _ in range(4)])
    owner = authenticate(client.world, OWNER_TOKEN)
    repository = find_repository(client.world, owner, "octo", "demo")
    texts = ("Nice!", "/cogworks status", "/cogworks dance", "Hm.\n/cogworks cancel")
    for number, text in enumerate(texts, start=1):
        create_comment(client.world, owner, find_issue(client.world, repository, number), text)

    seen = look_through(client, DEMO, since=None)

    assert seen.spoken == {2, 3}
    assert len(client.asked) == 3


def test_pull_requests_are_paged_down_to_the_last_sweep_only(hub: MakeHub) -> None:
    client = hub()
    for number in range(1, 103):
        client.pull(number)
    now = client.world.clock.now()

    def pages(since_s: int | None) -> int:
        client.asked.clear()
        since = None if since_s is None else now + timedelta(seconds=since_s)
        look_through(client, DEMO, since=since)
        return len(client.asked)

    assert [pages(None), pages(3600), pages(-3600)] == [1, 1, 2]


def test_every_wish_makes_a_document_of_the_published_schema() -> None:
    schema = published_schema()
    numbers = [IssueNumber(number) for number in range(1, 51)]
    wishes = [
        Wish(with_issues=True, with_pulls=True, tips=numbers, reviewed=numbers),
        Wish(tips=numbers),
        Wish(spoken=dict.fromkeys(numbers, 3)),
        Wish(reviewed=numbers),
        Wish(merged=numbers, with_pulls=True),
        Wish(with_pulls=True),
    ]

    assert [validate(schema, parse(sweep_document(wish))) for wish in wishes] == [[]] * 6


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("octo/demo", "https://ghe.example/octo/demo"),
        ("https://github.com/octo/demo", "https://github.com/octo/demo"),
        ("http://127.0.0.1:8080/octo/demo.git", "http://127.0.0.1:8080/octo/demo"),
        ("https://github.com/octo/demo/", "https://github.com/octo/demo"),
    ],
)
def test_a_repository_is_named_by_owner_and_name_or_by_its_address(text: str, wanted: str) -> None:
    assert parse_repository(text, server_url="https://ghe.example").url == wanted


@pytest.mark.parametrize("text", ["octo", "octo/demo/issues/3", "", "ftp://h/octo/demo", "o/.."])
def test_anything_else_names_no_repository(text: str) -> None:
    with pytest.raises(UsageError):
        parse_repository(text, server_url="https://github.com")
