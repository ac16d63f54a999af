"""An approval that the ledger tells of opens a gate only where a comment of somebody who may says so."""

import json
from typing import Any

import pytest

from cogworks.forge.facts import Account
from cogworks.vocabulary import Login
from tests.step_fakes import Runner
from tests.world import ANN, World

EVE = Account(login=Login("eve"), id=66)


def waiting_item() -> World:
    """An item that waits at its first gate."""
    world = World()
    Runner(world).step()
    return world


def line(world: World, artifact: str = "", *, node: str = "spec") -> str:
    return f"/cogworks approve {node} {artifact or world.pulls[0].head_oid[:12]}"


def forged(world: World, comment: int, **changed: Any) -> None:
    """Somebody writes an approval into the ledger; nothing that was said is new."""
    state = json.loads(world.files["state.json"])
    approval = {"node": "spec", "sub_item": None, "artifact": world.pulls[0].head_oid[:12], "by": "ann"}
    state["approvals"] = [{**approval, "comment_id": comment, **changed}]
    state["inputs"]["last_comment_id"] = comment
    world.files["state.json"] = json.dumps(state)


def test_an_approval_of_no_comment_opens_no_gate() -> None:
    world = waiting_item()
    forged(world, 4711)

    assert Runner(world).step().outcome == "waiting"


@pytest.mark.parametrize("by", [EVE, None], ids=["an-outsider", "nobody"])
def test_an_approval_by_the_comment_of_somebody_who_may_not_opens_no_gate(by: Account | None) -> None:
    world = waiting_item()
    number = world.say(line(world), by=by or EVE)
    if by is None:
        world.comments[-1] = world.comments[-1].model_copy(update={"author": None})
    forged(world, number, by="eve")

    assert Runner(world).step().outcome == "waiting"


@pytest.mark.parametrize(
    "said",
    ["I like it", "/cogworks hold", "/cogworks approve spec 1234567", "/cogworks approve plan {head}"],
)
def test_an_approval_by_a_comment_that_says_something_else_opens_no_gate(said: str) -> None:
    world = waiting_item()
    number = world.say(said.format(head=world.pulls[0].head_oid[:12]))
    forged(world, number)

    assert Runner(world).step().outcome == "waiting"


def test_an_approval_in_the_name_of_another_opens_no_gate() -> None:
    world = waiting_item()
    forged(world, world.say(line(world), by=EVE), by="ann")

    assert Runner(world).step().outcome == "waiting"


@pytest.mark.parametrize("change", ["gone", "edited"])
def test_an_approval_that_is_taken_back_opens_no_gate_any_more(change: str) -> None:
    world = waiting_item()
    world.say(line(world))
    assert Runner(world).step().node == "plan"

    if change == "gone":
        world.comments.pop()
    else:
        world.comments[-1] = world.comments[-1].model_copy(update={"edited": True})

    assert Runner(world).step().outcome == "waiting"


def test_an_approval_counts_as_long_as_its_comment_says_so() -> None:
    world = waiting_item()
    forged(world, world.say(line(world), by=ANN))

    assert Runner(world).step().node == "plan"
