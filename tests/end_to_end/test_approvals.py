"""People and one patch of a coding visit: on a real hub, by comments, with the real step and the real node."""

import base64
from collections.abc import Iterator
from dataclasses import replace

import pytest

from cogworks.vocabulary import NodeId
from tests.approving import POLICY, POLICY_FILE, RIGHT, WRONG, Coder
from tests.end_to_end.people import Item, new_item, open_hub
from tests.hub.administrator import Administrator
from tests.hub.running import RunningHub
from tests.step_fakes import NODES

pytestmark = pytest.mark.slow

QUIET = {"graphql": 1, "rest": 0, "git": 0}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("approvals")) as running:
        content = base64.b64encode(POLICY.encode()).decode()
        new_item(running).ask(
            "PUT", f"contents/.cogworks/{POLICY_FILE}", content=content, message="Ask people about patches"
        )
        yield running


@pytest.fixture
def item(hub: RunningHub) -> Item:
    """An item whose coder is next, with two patches to propose: the first one breaks a test."""
    made = replace(new_item(hub), nodes={**NODES, NodeId("code"): Coder((WRONG, RIGHT))})
    made.until("plan")
    return made


def test_a_writer_approves_patch_after_patch_and_nobody_else_does(item: Item) -> None:
    first = item.step()
    [wait] = first.waiting_for
    resting = item.counted_step()
    assert (first.outcome, first.node, wait.kind) == ("waiting", "code@A", "approval")
    assert f"Or comment: `{wait.paste}`" in item.comments()[0]
    assert "cogworks:awaiting-review" in item.snapshot().issue.labels
    assert (resting[0].outcome, resting[1]) == ("waiting", QUIET)

    refused = [item.say(wait.paste, by=who) for who in ("eve", "robot[bot]")]
    refused.append(item.say("/cogworks approve code@A 0123456789ab"))
    item.step()
    assert item.step().outcome == "waiting"
    assert [item.reactions(comment) for comment in refused] == [[("cogs", "-1")]] * 3
    assert "robot is an App that `[commands] allowed_apps` does not name" in item.comments()[2]
    assert wait.paste in item.comments()[3]

    obeyed = item.say(wait.paste)
    second = item.step()
    [again] = second.waiting_for
    assert (second.outcome, item.reactions(obeyed)) == ("waiting", [("cogs", "+1")])
    assert again.paste not in ("", wait.paste)

    item.say(again.paste)
    third = item.step()
    assert (third.outcome, third.node) == ("succeeded", "code@A")
    last = item.state().visits[-1]
    assert (last.summary.split(", ")[-1], last.spend.model_calls, last.attempt) == ("attempt 2", 2, 1)


def test_an_approval_that_the_hubs_clock_has_let_lapse_is_refused_and_a_new_one_obeyed(
    hub: RunningHub, item: Item
) -> None:
    [wait] = item.step().waiting_for
    late = item.say(wait.paste)
    with Administrator(hub.url, hub.directory) as administrator:
        administrator.advance(7 * 24 * 3600 + 60)
        try:
            item.step()
            assert (item.step().outcome, item.reactions(late)) == ("waiting", [("cogs", "-1")])
            assert "expired after 168 hour(s) (`approvals.valid_hours`)" in item.comments()[1]

            in_time = item.say(wait.paste)
            [next_one] = item.step().waiting_for
            assert (item.reactions(in_time), next_one.paste == wait.paste) == ([("cogs", "+1")], False)
        finally:
            administrator.advance(-(7 * 24 * 3600 + 60))


def test_a_rejected_patch_fails_the_node_with_the_reason(item: Item) -> None:
    item.step()
    item.say("/cogworks reject code@A add() must not multiply")

    report = item.step()

    assert report.outcome == "failed"
    assert report.message.startswith("code@A: rejected by ann: add() must not multiply")
