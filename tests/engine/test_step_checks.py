"""Checks that fail at the head of a pull request of the item: the work behind it is done again, a few times, and then a person is asked."""

import contextlib
from typing import Literal

import pytest

from cogworks.errors import TryAgainLater
from cogworks.forge.facts import FailedCheck, Remarked, ReviewText
from cogworks.pipeline.people import FailedHead
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import IssueNumber
from tests.engine.test_step_reviews import BOB, number_of, watched
from tests.exhaustive import tasted
from tests.step_fakes import Died, Fault, Runner, after, undisturbed, until_done
from tests.world import World

TESTS = FailedCheck(
    name="tests",
    summary="2 failed",
    remarks=(Remarked(path="adder.py", line=4, text="assert 1 == 2"),),
    log_tail="one\nE   assert 1 == 2\n",
)
LINT = FailedCheck(name="lint", summary="Line too long.")


def failing(*told: FailedCheck, slug: str = "swi-1") -> tuple[World, IssueNumber]:
    world = undisturbed()
    number = number_of(world, f"cogworks/7/{slug}")
    world.check(number, *(told or (TESTS,)))
    return world, number


def code_visits(world: World) -> int:
    return sum(1 for visit in world.state.visits if visit.instance == ("code", "A"))


def test_the_code_is_written_again_and_told_what_the_checks_say() -> None:
    world, number = failing(TESTS, LINT)

    runner, tasks = watched(world)
    report = runner.step()

    assert report.node == "code@A"
    told = {"by": "a check", "pull_request": number}
    assert tasks[0].asked_changes == (
        AskedChange.model_validate(
            {
                **told,
                "check": "tests",
                "text": "The check tests failed.\n\n2 failed\n\nThe last lines of its log:\none\nE   assert 1 == 2",
            }
        ),
        AskedChange.model_validate(
            {**told, "check": "tests", "file": "adder.py", "line": 4, "text": "assert 1 == 2"}
        ),
        AskedChange.model_validate(
            {**told, "check": "lint", "text": "The check lint failed.\n\nLine too long."}
        ),
    )
    assert tasks[0].earlier_failure == f"checks of #{number} failed: tests, lint"


def test_what_was_made_is_mended_and_its_tests_are_not_written_anew() -> None:
    world, _ = failing()

    runner, tasks = watched(world)
    runner.step()

    assert list(tasks[0].earlier) == ["code"]


def test_one_head_starts_one_visit_and_the_item_ends_again() -> None:
    world, number = failing()
    head = next(pull.head_oid for pull in world.pulls if pull.number == number)

    until_done(world)
    quiet = Runner(world)
    report = quiet.step()

    assert code_visits(world) == 2
    assert (report.outcome, quiet.calls) == ("done", ["read"])
    assert world.state.inputs.failed_heads == (FailedHead(number=number, oid=head, became="repair"),)
    assert world.twice() == []


def test_the_pull_request_is_told_once_that_its_checks_were_worked_on() -> None:
    world, number = failing(TESTS.model_copy(update={"name": "tests @octocat"}))

    until_done(world)

    ((at, body),) = world.elsewhere
    assert at == number
    assert body.startswith("Checks of this pull request had failed: `tests @")
    assert "@octocat" not in body
    assert "- `adder.py:4`\n" in body


def test_a_pending_check_is_waited_for() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.check(number, TESTS, pending=["slow"])

    quiet = Runner(world)
    assert (quiet.step().outcome, quiet.calls) == ("done", ["read"])
    world.check(number, TESTS)

    assert Runner(world).step().node == "code@A"


def test_our_own_check_starts_nothing() -> None:
    world = undisturbed()
    world.check(number_of(world, "cogworks/7/swi-1"), ours=["cogworks: tests before and after"])

    quiet = Runner(world)

    assert (quiet.step().outcome, quiet.calls) == ("done", ["read"])


def test_what_fails_on_the_base_as_well_is_not_the_works_fault() -> None:
    world, _ = failing(TESTS.model_copy(update={"fails_on_base": True}))

    Runner(world).step()
    quiet = Runner(world)

    assert (quiet.step().outcome, quiet.calls) == ("done", ["read"])
    assert code_visits(world) == 1
    assert [head.became for head in world.state.inputs.failed_heads] == ["left"]


def test_only_what_does_not_fail_on_the_base_is_told() -> None:
    world, _ = failing(TESTS.model_copy(update={"fails_on_base": True}), LINT)

    runner, tasks = watched(world)
    runner.step()

    assert [change.check for change in tasks[0].asked_changes] == ["lint"]


def test_checks_of_a_specification_are_left_to_people() -> None:
    world = after(0)
    Runner(world).step()
    world.check(number_of(world, "cogworks/7/spec"), TESTS)

    first = Runner(world)
    assert first.step().outcome == "waiting"
    quiet = Runner(world)
    assert quiet.step().outcome == "waiting"

    assert "failed_checks" not in (*first.calls, *quiet.calls)
    # A sweep reads there that nobody has to look again.
    assert [head.became for head in world.state.inputs.failed_heads] == ["left"]
    assert "write" not in quiet.calls


@pytest.mark.parametrize("limit", [1, 2])
def test_after_the_limit_a_person_is_asked_once(limit: int) -> None:
    world, number = failing()
    world.config += f"[pull_requests]\nci_repairs = {limit}\n"
    for _ in range(limit):
        until_done(world)
        world.move_head(number)
        world.check(number, TESTS, LINT)

    until_done(world)
    until_done(world)

    assert code_visits(world) == 1 + limit
    (asked,) = [body for body in world.own_comments() if "still fail" in body]
    assert f"Checks of pull request #{number} still fail after {limit} repair(s): `tests`, `lint`." in asked
    assert [head.became for head in world.state.inputs.failed_heads].count("person") == 1


def test_a_raised_limit_starts_the_repair_that_a_person_was_asked_for() -> None:
    world, number = failing()
    world.config += "[pull_requests]\nci_repairs = 1\n"
    until_done(world)
    world.move_head(number)
    world.check(number, TESTS)
    until_done(world)

    world.config = world.config.replace("ci_repairs = 1", "ci_repairs = 2")
    world.say("/cogworks run")

    assert Runner(world).step().node == "code@A"


def test_no_repairs_are_started_where_the_repository_wants_none() -> None:
    world, _ = failing()
    world.config += "[pull_requests]\nci_repairs = 0\n"

    first = Runner(world)
    assert first.step().outcome == "done"
    quiet = Runner(world)

    assert (quiet.step().outcome, quiet.calls) == ("done", ["read"])
    assert "failed_checks" not in first.calls
    assert len(world.own_comments()) == len(undisturbed().own_comments())


def test_each_pull_request_has_its_own_limit() -> None:
    world, _ = failing()
    world.config += "[pull_requests]\nci_repairs = 1\n"
    until_done(world)
    other = number_of(world, "cogworks/7/swi-2")
    world.check(other, LINT)

    assert Runner(world).step().node == "code@B"


def test_checks_and_a_review_are_one_piece_of_work_and_both_are_answered() -> None:
    world, number = failing()
    world.review(number, ReviewText(body="Call it sum."), by=BOB)

    runner, tasks = watched(world)
    runner.step()
    until_done(world)

    assert [change.check for change in tasks[0].asked_changes] == ["", "tests", "tests"]
    assert code_visits(world) == 2
    assert [body.split(":")[0] for _, body in world.elsewhere] == [
        "@bob",
        "Checks of this pull request had failed",
    ]


def test_a_pull_request_that_is_merged_all_the_same_starts_nothing() -> None:
    world, number = failing()
    world.merge(number)
    before = world.state.visits

    Runner(world).step()

    assert world.state.visits == before


@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_call_fails_a_head_is_repaired_and_answered_once(when: Literal["before", "after"]) -> None:
    whole = Runner(failing()[0])
    whole.step()

    for place in tasted(range(1, len(whole.calls) + 1), days=3):
        world, _ = failing()
        with contextlib.suppress(Died, TryAgainLater):
            Runner(world, name="dies", fault=Fault(place, when, "death")).step()
        until_done(world)

        assert (len(world.elsewhere), code_visits(world)) == (1, 2), (place, whole.calls[place - 1])
        assert world.twice() == []
