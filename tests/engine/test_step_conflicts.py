"""A base branch that moved is merged into the pull requests of an item: where a person asks, and where GitHub cannot merge them."""

import contextlib
from typing import Literal

import pytest

from cogworks.errors import TryAgainLater
from cogworks.pipeline.people import FailedHead
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import IssueNumber
from tests.engine.test_step_reviews import number_of, watched
from tests.exhaustive import tasted
from tests.step_fakes import Died, Fault, Runner, after, undisturbed, until_done
from tests.world import World


def conflicting(slug: str = "swi-1") -> tuple[World, IssueNumber]:
    world = undisturbed()
    number = number_of(world, f"cogworks/7/{slug}")
    world.conflict(number)
    return world, number


def visits(world: World, sub_item: str = "A") -> int:
    return sum(1 for visit in world.state.visits if visit.instance == ("code", sub_item))


def head_of(world: World, number: IssueNumber) -> str:
    return next(pull.head_oid for pull in world.pulls if pull.number == number)


def test_a_pull_request_that_conflicts_is_told_which_commit_to_merge() -> None:
    world, number = conflicting()
    head = head_of(world, number)

    runner, tasks = watched(world)
    report = runner.step()

    assert report.node == "code@A"
    asked = AskedChange(
        by="GitHub",
        pull_request=number,
        merges=world.head,
        text=f"Merge its base branch at {world.head[:12]}.",
    )
    assert tasks[0].asked_changes == (asked,)
    # What the visit before made is gone on with.
    assert set(tasks[0].earlier) == {"code"}
    assert world.state.inputs.conflicts == (FailedHead(number=number, oid=head, became="repair"),)  # type: ignore[arg-type]  # A commit's name.
    assert runner.calls.count("read") == 1


def test_one_head_starts_one_visit_and_what_others_built_on_it_stays() -> None:
    world, _ = conflicting()
    before = visits(world, "B")

    until_done(world)
    quiet = Runner(world)

    assert (quiet.step().outcome, quiet.calls) == ("done", ["read"])
    assert (visits(world), visits(world, "B")) == (2, before)
    (body,) = (body for _, body in world.elsewhere)
    assert body.startswith(
        "GitHub could not merge this pull request. This branch now includes its base branch at "
    )


@pytest.mark.parametrize("limit", [1, 2])
def test_after_the_limit_a_person_is_asked_once(limit: int) -> None:
    world, number = conflicting()
    world.config += f"[pull_requests]\nconflict_repairs = {limit}\n"
    for _ in range(limit):
        until_done(world)
        world.move_head(number)
        world.conflict(number)

    until_done(world)
    until_done(world)

    assert visits(world) == 1 + limit
    (asked,) = [body for body in world.own_comments() if "conflicts with" in body]
    assert f"Pull request #{number} conflicts with `main` again, after {limit} merge(s)" in asked
    assert [head.became for head in world.state.inputs.conflicts].count("person") == 1


def test_a_raised_limit_goes_on_with_the_head_that_a_person_was_asked_about() -> None:
    world, number = conflicting()
    world.config += "[pull_requests]\nconflict_repairs = 1\n"
    until_done(world)
    world.move_head(number)
    world.conflict(number)
    until_done(world)

    world.config = world.config.replace("conflict_repairs = 1", "conflict_repairs = 2")

    assert Runner(world).step().node == "code@A"


def test_nothing_is_merged_where_the_repository_wants_it_so() -> None:
    world, _ = conflicting()
    world.config += "[pull_requests]\nconflict_repairs = 0\n"

    assert Runner(world).step().outcome == "done"
    quiet = Runner(world)

    assert (quiet.step().outcome, quiet.calls) == ("done", ["read"])
    assert [head.became for head in world.state.inputs.conflicts] == ["left"]
    assert visits(world) == 1


def test_a_specification_that_conflicts_is_for_people() -> None:
    world = World()
    while Runner(world).step().outcome != "waiting":
        pass
    world.conflict(number_of(world, "cogworks/7/spec"))

    Runner(world).step()

    assert [head.became for head in world.state.inputs.conflicts] == ["left"]


def test_a_person_asks_for_it_and_is_answered_below_the_pull_request() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.head = world.oid()
    world.say(f"/cogworks update #{number}")

    runner, tasks = watched(world)
    report = runner.step()
    until_done(world)

    assert report.node == "code@A"
    assert [change.merges for change in tasks[0].asked_changes] == [world.head]
    ((place, body),) = world.elsewhere
    assert (place, body.split(" now includes")[0]) == (number, "@ann: this branch")
    (said,) = (comment for comment in world.comments if comment.body.startswith("/cogworks update"))
    assert said.own_reactions == ("THUMBS_UP",)


def test_without_a_number_all_that_go_to_the_default_branch_are_brought_up_to_date() -> None:
    world = undisturbed()
    world.head = world.oid()
    world.say("/cogworks update")

    until_done(world)

    merged = {
        pull.number
        for pull in world.pulls
        if pull.base == "main" and pull.state == "open" and pull.head.startswith("cogworks/7/swi")
    }
    assert merged
    assert {number for number, _ in world.elsewhere} == merged


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("/cogworks update #999", "#999 is no pull request of this item"),
        ("/cogworks update", "no pull request of this item is open and holds code"),
    ],
)
def test_what_cannot_be_brought_up_to_date_is_said(said: str, answer: str) -> None:
    world = after(2)
    world.say(said)

    Runner(world).step()

    assert any(answer in body for body in world.own_comments())


def test_a_pull_request_without_code_is_not_said_to_hold_code() -> None:
    world = after(2)
    (shown,) = world.pulls
    world.say(f"/cogworks update #{shown.number}")

    Runner(world).step()

    assert any(
        f"#{shown.number} is closed or holds no code, so there is nothing to bring up to date" in body
        for body in world.own_comments()
    )


@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_call_fails_a_head_is_merged_and_answered_once(when: Literal["before", "after"]) -> None:
    whole = Runner(conflicting()[0])
    whole.step()

    for place in tasted(range(1, len(whole.calls) + 1), days=3):
        world, _ = conflicting()
        with contextlib.suppress(Died, TryAgainLater):
            Runner(world, name="dies", fault=Fault(place, when, "death")).step()
        until_done(world)

        assert (len(world.elsewhere), visits(world)) == (1, 2), (place, whole.calls[place - 1])
        assert world.twice() == []
