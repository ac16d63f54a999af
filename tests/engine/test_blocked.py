"""Items that begin when other issues are closed, and the parts of a divided issue that cogworks itself starts."""

from contextlib import suppress
from typing import Any, Literal

import pytest

from cogworks.engine.consider import Wanted, consider, read_item, work_item
from cogworks.forge.bodies import marked
from cogworks.forge.facts import Account
from cogworks.vocabulary import IssueNumber, Login, RunId, VisitKey
from tests.step_fakes import Died, Fault, Runner, until_done
from tests.world import ANN, BOT, ONE_NODE, World

SEVEN, EIGHT = IssueNumber(107), IssueNumber(108)


def blocked(*numbers: IssueNumber) -> World:
    return World(pipeline=ONE_NODE, open_blockers=numbers)


def test_an_item_waits_for_what_blocks_it_and_says_so_once() -> None:
    world = blocked(SEVEN, EIGHT)

    told = Runner(world).step()
    commits = len(world.commits)
    again = Runner(world)
    again.step()

    assert told.outcome == "waiting"
    assert [(wait.kind, wait.number) for wait in told.waiting_for] == [("blocked", 107)]
    (comment,) = world.own_comments()
    assert "### cogworks · waiting for other issues" in comment
    assert (
        "Nothing is begun yet: it begins by itself once #107, #108 are closed or no longer block it"
        in comment
    )
    assert "Cogworks-Waits-For: blocked 107@; blocked 108@" in world.commits[-1].message
    assert (len(world.commits), again.calls) == (commits, ["read"])
    assert world.state.visits == ()


def test_what_is_left_to_wait_for_is_told_in_the_same_comment() -> None:
    world = blocked(SEVEN, EIGHT)
    Runner(world).step()
    world.open_blockers = (EIGHT,)

    Runner(world).step()

    (comment,) = world.own_comments()
    assert "it begins by itself once #108 is closed or no longer blocks it" in comment
    assert "Cogworks-Waits-For: blocked 108@\n" in f"{world.commits[-1].message}\n"


def test_it_begins_when_nothing_blocks_it_any_more() -> None:
    world = blocked(SEVEN)
    Runner(world).step()
    world.open_blockers = ()

    until_done(world)

    (comment,) = world.own_comments()
    assert "### cogworks · done" in comment
    assert world.state.refusal is None
    assert world.twice() == []


def test_what_is_begun_is_brought_to_its_end() -> None:
    world = World()
    Runner(world).step()
    world.open_blockers = (SEVEN,)

    assert until_done(world)[-1].outcome == "done"


def test_what_nobody_asked_for_is_not_told_of() -> None:
    world = blocked(SEVEN)
    world.labels.clear()

    assert Runner(world).step().outcome == "usage_error"
    assert world.own_comments() == []


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, 8))
def test_a_step_that_dies_while_it_tells_leaves_one_comment(
    at: int, when: Literal["before", "after"]
) -> None:
    world = blocked(SEVEN)
    with suppress(Died):
        Runner(world, name="dying", fault=Fault(at, when, "death")).step()

    for number in range(3):
        Runner(world, name=f"healer-{number}").step(Wanted(take_over=True))
    world.open_blockers = ()
    until_done(world)

    assert len(world.own_comments()) == 1
    assert world.twice() == []


def part(**changes: Any) -> World:
    """An issue that came of a division, started by the App that made it; nobody named the App."""
    world = World(pipeline=ONE_NODE, parent=IssueNumber(3), author=BOT)
    world.body = marked("One of the parts of #3.", visit_key=VisitKey("ab" * 32), topic="A")
    world.labels.clear()
    world.label_events.clear()
    world.set_label("cogworks:run", "e1", by=BOT)
    for name, value in changes.items():
        setattr(world, name, value)
    return world


def asked(world: World) -> bool:
    seen = consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-9"))
    return seen.facts.is_triggered


def test_a_part_that_its_own_app_has_started_is_begun_although_nobody_named_the_app() -> None:
    world = part()

    assert asked(world)
    assert until_done(world)[-1].outcome == "done"


def test_its_mark_is_no_text_for_a_model() -> None:
    seen = consider(read_item(Runner(part())), Wanted(), new_run_id=lambda: RunId("run-9"))

    assert "cogworks:1" in seen.snapshot.issue.body
    assert work_item(seen.snapshot, seen.config).body == "One of the parts of #3."


@pytest.mark.parametrize(
    "changes",
    [
        {"parent": None},
        {"author": ANN},
        {"author": Account(login=Login("other"), id=901, is_bot=True)},
        {"author": None},
        {"body": "One of the parts of #3."},
    ],
    ids=["no-parent", "of-a-person", "of-another-app", "of-nobody", "without-a-mark"],
)
def test_nothing_else_is_started_by_an_app_that_nobody_named(changes: dict[str, Any]) -> None:
    assert not asked(part(**changes))
