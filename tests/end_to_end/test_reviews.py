"""Reviews on a real hub that ask for changes of the item's pull requests."""

from collections.abc import Iterator

import pytest

from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import NodeId
from tests.end_to_end.people import MERGES_NOTHING, Item, new_item, open_hub
from tests.hub.running import RunningHub
from tests.step_fakes import NODES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("reviews"), config=MERGES_NOTHING) as running:
        yield running


@pytest.fixture
def finished(hub: RunningHub) -> Item:
    item = new_item(hub)
    report = None
    for _ in range(20):
        report = item.step()
        if report.outcome == "done":
            return item
        item.merge(report)
    raise AssertionError(f"not done: {report}")


def pull_of(item: Item, slug: str) -> int:
    return next(pull.number for pull in item.state().pull_requests if pull.slug == slug)


def ask_for_changes(item: Item, number: int, *, by: str = "ann") -> int:
    (file, *_) = item.ask("GET", f"pulls/{number}/files")
    remark = {"path": file["filename"], "line": 1, "body": "This line is wrong."}
    body = {"event": "REQUEST_CHANGES", "body": "Negative numbers are missing.", "comments": [remark]}
    return int(item.ask("POST", f"pulls/{number}/reviews", by=by, **body)["id"])


def test_a_review_is_taken_up_by_one_visit_with_its_remarks_and_one_reaction(finished: Item) -> None:
    number = pull_of(finished, "swi-1")
    head = finished.ask("GET", f"pulls/{number}")["head"]["sha"]
    path = finished.ask("GET", f"pulls/{number}/files")[0]["filename"]
    ask_for_changes(finished, number)
    tasks: list[NodeTask] = []

    def code(task: NodeTask, ports: NodePorts) -> Outcome:
        tasks.append(task)
        return NODES[NodeId("code")](task, ports)

    finished.nodes = {**NODES, NodeId("code"): code}
    report, requests = finished.counted_step()

    assert report.node == "code@A"
    at = {"by": "ann", "pull_request": number}
    assert [task.asked_changes for task in tasks] == [
        (
            AskedChange.model_validate({**at, "text": "Negative numbers are missing."}),
            AskedChange.model_validate({**at, "file": path, "line": 1, "text": "This line is wrong."}),
        )
    ]
    # What the review says, and the commit that obeys it.
    assert requests["graphql"] <= 5 + 2
    assert finished.ask("GET", f"pulls/{number}")["head"]["sha"] != head
    (pull,) = (pull for pull in finished.snapshot().pulls if pull.number == number)
    assert [review.own_reactions for review in pull.reviews] == [("THUMBS_UP",)]


def test_the_item_ends_again_after_a_review_and_asks_nothing_more_of_it(finished: Item) -> None:
    number = pull_of(finished, "swi-1")
    ask_for_changes(finished, number)
    for _ in range(10):
        report = finished.step()
        if report.outcome == "done":
            break
        finished.merge(report)

    # People are told once that what these nodes wrote cannot be merged.
    finished.step()
    report, requests = finished.counted_step()

    assert (report.outcome, requests["graphql"]) == ("done", 1)
    (answer,) = finished.ask("GET", f"issues/{number}/comments")
    assert answer["user"]["login"] == "cogs"
    assert "@ann: the newest commits of this branch respond to this review." in answer["body"]


def test_a_review_of_somebody_without_write_permission_starts_nothing(finished: Item) -> None:
    before = finished.state()
    ask_for_changes(finished, pull_of(finished, "swi-1"), by="eve")

    assert finished.step().outcome == "done"
    assert finished.state().visits == before.visits
