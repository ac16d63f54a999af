"""What wakes an item on a real hub: every doing of people once, whatever the item rests on, and nothing else."""

from collections.abc import Callable, Iterator

import pytest

from cogworks.forge.addresses import RepositoryAddress
from cogworks.forge.sweep import Movable, Resting, Verdict, judge
from cogworks.github.client import GraphQLClient
from cogworks.github.credentials import FixedToken
from cogworks.github.sweeping import look_through
from tests.end_to_end.people import TOKENS, Item, new_item, open_hub
from tests.hub.running import RunningHub

Doing = Callable[[Item], object]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("waking")) as running:
        yield running


def verdict(hub: RunningHub, item: Item) -> Verdict:
    address = RepositoryAddress(hub.url, "octo-org", "adder")
    with GraphQLClient(f"{hub.url}/api/graphql", FixedToken(TOKENS["cogs"])) as client:
        seen = look_through(client, address, since=None)
    listed = next(each for each in seen.items if each.number == item.address.number)
    return judge(listed, seen)


def pull(item: Item) -> int:
    return item.state().pull_requests[-1].number


def push(item: Item) -> None:
    branch = item.state().pull_requests[-1].head
    item.ask("PUT", "contents/more.md", content="bW9yZQ==", message="More", branch=branch)


def set_label(name: str) -> Doing:
    def doing(item: Item) -> None:
        if not any(label["name"] == name for label in item.ask("GET", "labels?per_page=100")):
            item.ask("POST", "labels", name=name, color="d93f0b")
        item.label(name)

    return doing


def waiting(item: Item) -> None:
    assert item.step().outcome == "waiting" or item.step().outcome == "waiting"


def done(item: Item) -> None:
    item.until("ship@B")


def cancelled(item: Item) -> None:
    item.step()
    item.say("/cogworks cancel")
    item.step()


def held(item: Item) -> None:
    item.merge(item.step())
    item.say("/cogworks hold")
    item.step()


@pytest.mark.parametrize(
    ("rest", "doings"),
    [
        pytest.param(
            waiting,
            {
                "somebody wrote to cogworks": lambda item: item.say("/cogworks status"),
                "has new commits": push,
                "was closed": lambda item: item.ask("PATCH", f"pulls/{pull(item)}", state="closed"),
                "is open again": lambda item: item.ask("PATCH", f"pulls/{pull(item)}", state="open"),
                "label 'cogworks:hold' was set": set_label("cogworks:hold"),
                "label 'cogworks:hold' was set or removed": lambda item: item.ask(
                    "DELETE", f"issues/{item.address.number}/labels/cogworks:hold"
                ),
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            done,
            {
                # Its base is the branch of the pull request before.
                "has new commits": lambda item: item.ask("PUT", f"pulls/{pull(item)}/merge"),
                "somebody wrote to cogworks": lambda item: item.say("/cogworks restart now"),
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            cancelled,
            {"somebody wrote": lambda item: item.say("/cogworks retry"), "has new commits": push},
            marks=pytest.mark.slow,
        ),
        (held, {"somebody wrote": lambda item: item.say("/cogworks status")}),
    ],
    ids=["waiting", "done", "cancelled", "held"],
)
def test_what_people_do_wakes_an_item_once(
    hub: RunningHub, rest: Callable[[Item], None], doings: dict[str, Doing]
) -> None:
    item = new_item(hub)
    rest(item)
    assert isinstance(verdict(hub, item), Resting)

    for words, doing in doings.items():
        item.say("Just talking.")
        assert isinstance(verdict(hub, item), Resting)
        doing(item)
        woken = verdict(hub, item)
        assert isinstance(woken, Movable)
        assert words in woken.reason
        item.step()
        # The reply that is owed may be a step of its own.
        settled = verdict(hub, item)
        assert isinstance(settled, Resting), settled
