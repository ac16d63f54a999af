"""Checks on a real hub that fail at the item's pull requests."""

from collections.abc import Iterator
from typing import Any

import pytest

from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import NodeId
from tests.end_to_end.people import MERGES_NOTHING, Item, new_item, open_hub
from tests.end_to_end.test_reviews import pull_of
from tests.hub.running import RunningHub, keep_log
from tests.step_fakes import NODES

pytestmark = pytest.mark.slow
LOG = "2026-11-26T10:00:00.0000000Z E   assert 1 == 2\n2026-11-26T10:00:01.0000000Z ##[error]exit code 1\n2026-11-26T10:00:01.0000000Z Cleaning up\n"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("checks"), config=MERGES_NOTHING) as running:
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


def head_of(item: Item, number: int) -> str:
    return str(item.ask("GET", f"pulls/{number}")["head"]["sha"])


def job(item: Item, hub: RunningHub, number: int, *, conclusion: str = "failure", name: str = "tests") -> int:
    """A job of GitHub Actions ends at the head of a pull request; its id."""
    (file, *_) = item.ask("GET", f"pulls/{number}/files")
    place = {"path": file["filename"], "start_line": 1, "end_line": 1}
    output = {
        "title": "1 failed",
        "summary": "See the log.",
        "annotations": [
            {**place, "annotation_level": "warning", "message": "Node 16 is old."},
            {**place, "annotation_level": "failure", "message": "assert 1 == 2", "title": "test_add"},
        ],
    }
    told: dict[str, Any] = {"name": name, "head_sha": head_of(item, number)}
    made = item.ask("POST", "check-runs", by="robot[bot]", **told)["id"]
    page = f"{item.address.server_url}/octo-org/adder/actions/runs/1/job/{made}"
    item.ask(
        "PATCH", f"check-runs/{made}", by="robot[bot]", conclusion=conclusion, output=output, details_url=page
    )
    keep_log(hub.directory, made, LOG)
    return int(made)


def test_a_failed_job_is_repaired_by_one_visit_that_sees_remarks_and_log(
    hub: RunningHub, finished: Item
) -> None:
    number = pull_of(finished, "swi-1")
    head = head_of(finished, number)
    path = finished.ask("GET", f"pulls/{number}/files")[0]["filename"]
    job(finished, hub, number)
    tasks: list[NodeTask] = []

    def code(task: NodeTask, ports: NodePorts) -> Outcome:
        tasks.append(task)
        return NODES[NodeId("code")](task, ports)

    finished.nodes = {**NODES, NodeId("code"): code}
    report, requests = finished.counted_step()

    assert report.node == "code@A"
    told = {"by": "a check", "check": "tests", "pull_request": number}
    words = "The check tests failed.\n\n1 failed\nSee the log.\n\nThe last lines of its log:\nE   assert 1 == 2\n##[error]exit code 1"
    assert [task.asked_changes for task in tasks] == [
        (
            AskedChange.model_validate({**told, "text": words}),
            AskedChange.model_validate({**told, "file": path, "line": 1, "text": "test_add: assert 1 == 2"}),
            AskedChange.model_validate({**told, "file": path, "line": 1, "text": "Node 16 is old."}),
        )
    ]
    # What the checks say, the address of the log, and the log.
    assert (requests["graphql"] <= 5 + 2, requests["rest"]) == (True, 2)
    assert head_of(finished, number) != head


def test_the_item_ends_again_and_the_pull_request_is_told_once(hub: RunningHub, finished: Item) -> None:
    number = pull_of(finished, "swi-1")
    job(finished, hub, number)
    for _ in range(10):
        report = finished.step()
        if report.outcome == "done":
            break
        finished.merge(report)

    # People are told once that what these nodes wrote cannot be merged.
    finished.step()
    report, requests = finished.counted_step()

    assert (report.outcome, dict(requests)) == ("done", {"graphql": 1, "rest": 0, "git": 0})
    (answer,) = finished.ask("GET", f"issues/{number}/comments")
    assert "Checks of this pull request had failed: `tests`." in answer["body"]


@pytest.mark.parametrize("conclusion", ["neutral", "cancelled", "skipped", "success", "action_required"])
def test_other_conclusions_start_nothing(hub: RunningHub, finished: Item, conclusion: str) -> None:
    before = finished.state()
    job(finished, hub, pull_of(finished, "swi-1"), conclusion=conclusion)

    assert finished.step().outcome == "done"
    assert finished.state() == before


def test_a_commit_status_that_failed_is_told_with_its_description(finished: Item) -> None:
    number = pull_of(finished, "swi-1")
    status = {"context": "ci/lint", "state": "failure", "description": "3 problems"}
    finished.ask("POST", f"statuses/{head_of(finished, number)}", **status)

    assert finished.step().node == "code@A"
    (change,) = finished.state().visits[-1].changes or [
        change for visit in finished.state().visits for change in visit.changes
    ]
    assert (change.check, change.text) == ("ci/lint", "The check ci/lint failed.\n\n3 problems")


def test_what_fails_on_the_base_branch_as_well_starts_nothing(finished: Item) -> None:
    number = pull_of(finished, "swi-1")
    base = finished.ask("GET", f"pulls/{number}")["base"]["sha"]
    for oid in (base, head_of(finished, number)):
        finished.ask("POST", f"statuses/{oid}", context="flaky", state="failure")

    assert finished.step().outcome == "done"
    assert [head.became for head in finished.state().inputs.failed_heads] == ["left"]
