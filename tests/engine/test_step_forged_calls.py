"""An approved call of a tool that the ledger tells of counts only where a comment of somebody who may says so."""

import json
from datetime import timedelta
from typing import Any

import pytest

from cogworks.engine.report import StepReport
from cogworks.forge.facts import Account
from cogworks.vocabulary import Login, NodeId
from tests.approving import POLICY, POLICY_FILE, RIGHT, WRONG, Coder
from tests.step_fakes import NODES, Runner, after
from tests.world import World

EVE = Account(login=Login("eve"), id=66)


def runner(world: World) -> Runner:
    return Runner(world, nodes={**NODES, NodeId("code"): Coder((WRONG, RIGHT))})


def asking() -> tuple[World, str]:
    """The item when its coder wants to try the first patch, and the line that approves it."""
    world = after(2)
    world.more_files[POLICY_FILE] = POLICY
    report = runner(world).step()
    return world, report.waiting_for[0].paste


def forged(world: World, comment: int, **changed: Any) -> None:
    """Somebody writes into the ledger that the call was approved; nothing that was said is new."""
    state = json.loads(world.files["state.json"])
    [left] = state["given_back"]
    call = {"hash": left["asks"]["hash"], "by": "ann", "comment_id": comment, **changed}
    left.update(asks=None, approved_calls=[call])
    state["inputs"]["last_comment_id"] = max(comment, state["inputs"]["last_comment_id"])
    world.files["state.json"] = json.dumps(state)


def asks_again(world: World, line: str) -> StepReport:
    report = runner(world).step()
    assert report.outcome == "waiting"
    assert [wait.paste for wait in report.waiting_for] == [line]
    return report


def test_a_call_that_no_comment_approves_is_asked_about() -> None:
    world, line = asking()
    forged(world, 4711)

    report = asks_again(world, line)

    assert (
        "It was approved by ann, but no unedited comment of somebody with write permission says so"
        in report.waiting_for[0].ask
    )


@pytest.mark.parametrize("by", [EVE, None], ids=["an-outsider", "nobody"])
def test_a_call_that_somebody_approves_who_may_not_is_asked_about(by: Account | None) -> None:
    world, line = asking()
    number = world.say(line, by=by or EVE)
    if by is None:
        world.comments[-1] = world.comments[-1].model_copy(update={"author": None})
    forged(world, number, by="eve")

    asks_again(world, line)


@pytest.mark.parametrize(
    "said",
    [
        "I like it",
        "/cogworks hold",
        "/cogworks approve code@A 1234567",
        "/cogworks approve spec {hash}",
        "/cogworks reject code@A {hash}",
    ],
)
def test_a_comment_that_says_something_else_approves_no_call(said: str) -> None:
    world, line = asking()
    forged(world, world.say(said.format(hash=line.split()[-1])))

    asks_again(world, line)


def test_a_call_approved_in_the_name_of_another_is_asked_about() -> None:
    world, line = asking()
    forged(world, world.say(line, by=EVE), by="ann")

    asks_again(world, line)


@pytest.mark.parametrize("change", ["gone", "edited"])
def test_an_approval_of_a_call_that_is_taken_back_counts_no_more(change: str) -> None:
    world, line = asking()
    forged(world, world.say(line))
    if change == "gone":
        world.comments.pop()
    else:
        world.comments[-1] = world.comments[-1].model_copy(update={"edited": True})

    asks_again(world, line)


@pytest.mark.parametrize("written", ["2999-01-01T00:00:00Z", None])
def test_an_approval_gets_no_younger_by_what_the_ledger_says(written: str | None) -> None:
    world, line = asking()
    number = world.say(line)
    world.now += timedelta(days=8)
    forged(world, number, written=written)

    report = asks_again(world, line)

    assert "expired after 168 hour(s) (`approvals.valid_hours`)" in report.waiting_for[0].ask


@pytest.mark.parametrize("shape", ["as it is", "without a comment", "a hash alone"])
def test_an_approval_counts_where_a_comment_says_so_also_in_older_ledgers(shape: str) -> None:
    world, line = asking()
    number = world.say(line)
    forged(world, number)
    state = json.loads(world.files["state.json"])
    [left] = state["given_back"]
    [call] = left["approved_calls"]
    if shape == "a hash alone":
        left["approved_calls"] = [call["hash"]]
    elif shape == "without a comment":
        left["approved_calls"] = [{"hash": call["hash"], "by": "ann", "written": None}]
    world.files["state.json"] = json.dumps(state)

    [wait] = runner(world).step().waiting_for

    assert wait.paste != line
