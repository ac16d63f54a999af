"""Somebody who may ask for nothing writes commands all day: we do not post as often as they do."""

from datetime import timedelta

import pytest

from cogworks.forge.facts import Account
from cogworks.vocabulary import Login
from tests.step_fakes import Runner
from tests.world import ANN, World

EVE = Account(login=Login("eve"), id=66)
BOB = Account(login=Login("bob"), id=67)


def waiting_item() -> World:
    """An item that waits at its first gate."""
    world = World()
    Runner(world).step()
    return world


def replies(world: World) -> int:
    return sum("This was not obeyed" in body or "do not understand" in body for body in world.own_comments())


@pytest.mark.parametrize("line", ["/cogworks cancel", "/cogworks pwn"])
@pytest.mark.parametrize("at_once", [True, False], ids=["between-two-steps", "a-step-each"])
def test_thirty_commands_of_a_day_get_one_reply_and_a_sign_each(line: str, at_once: bool) -> None:
    world = waiting_item()

    for _ in range(30):
        world.say(line, by=EVE)
        if not at_once:
            Runner(world).step()
    Runner(world).step()

    assert replies(world) == 1
    assert len(world.reactions()) == 30
    assert all(signs for signs in world.reactions())


def test_another_person_and_another_day_are_answered() -> None:
    world = waiting_item()
    for by in (EVE, BOB, EVE, BOB):
        world.say("/cogworks cancel", by=by)
    Runner(world).step()
    world.now += timedelta(days=1)
    world.say("/cogworks cancel", by=EVE)
    Runner(world).step()

    assert replies(world) == 3
    assert sorted(world.state.inputs.answered) == ["bob", "eve"]


def test_whoever_may_ask_is_told_every_time_what_is_wrong() -> None:
    world = waiting_item()
    for artifact in ("1111111", "2222222"):
        world.say(f"/cogworks approve specify {artifact}", by=ANN)
        Runner(world).step()

    assert replies(world) == 2


def test_who_was_answered_is_forgotten_after_two_days() -> None:
    world = waiting_item()
    world.say("/cogworks cancel", by=EVE)
    Runner(world).step()
    world.now += timedelta(days=3)
    world.say("/cogworks cancel", by=BOB)
    Runner(world).step()

    assert list(world.state.inputs.answered) == ["bob"]
