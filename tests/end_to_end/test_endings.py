"""How an item ends on a real hub: the last merge closes its issue, and nothing calls that a cancel."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cogworks.forge.effects import CommitFiles, FileText
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import NodeId
from tests.end_to_end.people import Item, new_item, open_hub
from tests.hub.running import RunningHub
from tests.step_fakes import NODES
from tests.world import CONFIG

pytestmark = pytest.mark.slow

QUIET = {"graphql": 1, "rest": 0, "git": 0}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("endings")) as running:
        yield running


def merged(item: Item, slug: str) -> str:
    """Merge one pull request; how the issue stands then."""
    known = item.state().pull(slug)
    assert known is not None
    item.ask("PUT", f"pulls/{known.number}/merge")
    return issue_state(item)


def issue_state(item: Item) -> str:
    return str(item.ask("GET", f"issues/{item.address.number}")["state"])


def closing(item: Item) -> list[str]:
    """The pull requests whose merge closes the issue."""
    words = f"Closes #{item.address.number}<!--"
    known = {pull.number: pull.slug for pull in item.state().pull_requests}
    return [known[pull.number] for pull in item.snapshot().pulls if words in pull.body]


def independent(task: NodeTask, ports: NodePorts) -> Outcome:
    """A plan whose two sub-work-items need nothing of each other."""
    outcome = NODES[NodeId("plan")](task, ports)
    assert isinstance(outcome, Succeeded)
    items = [{**item, "depends_on": []} for item in outcome.output["sub_work_items"]]
    effects = tuple(effect for effect in outcome.effects if effect.kind != "link_dependency")
    return outcome.model_copy(
        update={"output": {**outcome.output, "sub_work_items": items}, "effects": effects}
    )


def apart(task: NodeTask, ports: NodePorts) -> Outcome:
    """Code in a file of its sub-work-item's own."""
    outcome = NODES[NodeId("code")](task, ports)
    assert isinstance(outcome, Succeeded)
    [commit] = [effect for effect in outcome.effects if isinstance(effect, CommitFiles)]
    files = (FileText(path=f"{task.visit.sub_item}.md", text="It adds.\n"),)
    return outcome.model_copy(update={"effects": (commit.model_copy(update={"files": files}),)})


INDEPENDENT = {**NODES, NodeId("plan"): independent, NodeId("code"): apart}


def test_the_last_of_stacked_pull_requests_closes_the_issue_and_the_item_is_done(hub: RunningHub) -> None:
    item = new_item(hub)
    item.until("ship@B")
    assert (closing(item), item.counted_step()[1]) == (["swi-2"], QUIET)

    assert merged(item, "swi-1") == "open"
    item.step()
    assert (closing(item), merged(item, "swi-2")) == (["swi-2"], "closed")

    ended, _ = item.step(), item.step()
    idle, requests = item.counted_step()
    assert (ended.outcome, ended.message) == ("done", "every pull request is merged")
    assert (idle.outcome, requests) == ("done", QUIET)
    [comment] = item.comments()
    assert comment.startswith("### cogworks · done: every pull request is merged\n", comment.index("###"))
    assert "cancel" not in comment.lower()
    assert item.state().status == "done"


def test_of_independent_pull_requests_the_one_that_is_left_gets_the_words(hub: RunningHub) -> None:
    item = replace(new_item(hub), nodes=INDEPENDENT)
    item.until("ship@B")
    item.step()
    assert closing(item) == []

    assert merged(item, "swi-2") == "open"
    item.step()
    assert closing(item) == ["swi-1"]
    assert item.counted_step()[1] == QUIET

    assert merged(item, "swi-1") == "closed"


def test_an_issue_whose_last_two_were_merged_between_two_steps_is_closed_once(hub: RunningHub) -> None:
    item = replace(new_item(hub), nodes=INDEPENDENT)
    item.until("ship@B")
    assert [merged(item, slug) for slug in ("swi-1", "swi-2")] == ["open", "open"]

    item.step()
    assert issue_state(item) == "closed"
    item.ask("PATCH", f"issues/{item.address.number}", state="open")
    item.step()
    assert (issue_state(item), item.counted_step()[1]) == ("open", QUIET)


def test_a_merge_that_passes_the_last_gate_closes_the_issue_and_the_item_is_done(hub: RunningHub) -> None:
    item = new_item(hub)
    item.ask("POST", "labels", name="cogworks:safety-critical", color="d93f0b")
    item.label("cogworks:safety-critical")
    report = item.until("ship@B")
    assert [wait.kind for wait in report.waiting_for] == ["merge"]

    item.merge(report)

    assert issue_state(item) == "closed"
    assert (item.step().outcome, item.step().message) == ("done", "every pull request is merged")
    assert "### cogworks · done: every pull request is merged\n" in item.comments()[0]


def test_a_repository_may_close_its_issues_by_hand(tmp_path: Path) -> None:
    with open_hub(tmp_path) as own:
        item = new_item(own)
        text = base64.b64encode(f"{CONFIG}\n[pull_requests]\ncloses_issue = false\n".encode()).decode()
        blob = item.ask("GET", "contents/.cogworks/config.toml")["sha"]
        item.ask("PUT", "contents/.cogworks/config.toml", content=text, sha=blob, message="By hand")
        item.until("ship@B")
        assert closing(item) == []

        assert merged(item, "swi-1") == "open"
        item.step()
        assert merged(item, "swi-2") == "open"
        item.step()
        assert (issue_state(item), item.step().message) == ("open", "every pull request is merged")
