"""A review that asks for changes of a pull request of the item: the work behind it is done again, once, and told why."""

import contextlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

import pytest

from cogworks.errors import TryAgainLater
from cogworks.forge.facts import Account, Remark, ReviewText
from cogworks.forge.unmergeable import MAX_REVIEW
from cogworks.nodes.contract import Failed, NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import IssueNumber, Login, NodeId, SubItemKey
from tests.exhaustive import tasted
from tests.step_fakes import NODES, Died, Fault, Runner, after, undisturbed, until_done
from tests.world import ANN, World

WORDS = ReviewText(
    body="Negative numbers are missing.",
    remarks=(
        Remark(path="adder.py", line=4, body="`abs` is wrong here"),
        Remark(path="adder.py", line=0, body="no docstring"),
    ),
)
NO_PULL = {"pull_request": None}
CHANGES = (
    AskedChange(by="ann", text="Negative numbers are missing."),
    AskedChange(by="ann", file="adder.py", line=4, text="`abs` is wrong here"),
    AskedChange(by="ann", file="adder.py", text="no docstring"),
)
BOT = Account(login=Login("lintbot"), id=99, is_bot=True)


def number_of(world: World, head: str) -> IssueNumber:
    return next(pull.number for pull in world.pulls if pull.head == head)


def watched(world: World) -> tuple[Runner, list[NodeTask]]:
    """A runner, and the tasks that its code node was given."""
    seen: list[NodeTask] = []

    def code(task: NodeTask, ports: NodePorts) -> Outcome:
        seen.append(task)
        return NODES[NodeId("code")](task, ports)

    nodes: Mapping[NodeId, object] = {**NODES, NodeId("code"): code}
    return Runner(world, nodes=nodes), seen  # type: ignore[arg-type]  # the same shape as NODES


def test_the_code_is_written_again_and_told_every_remark_with_its_place() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    review = world.review(number, WORDS)

    runner, tasks = watched(world)
    report = runner.step()

    assert report.node == "code@A"
    (task,) = tasks
    assert tuple(change.model_copy(update=NO_PULL) for change in task.asked_changes) == CHANGES
    assert {change.pull_request for change in task.asked_changes} == {number}
    assert task.earlier_failure == f"ann asked for changes in a review of #{number}"
    assert "review_texts" in runner.calls
    assert world.state.inputs.reviews == (review.database_id,)


def test_the_reviewer_sees_that_the_review_was_taken_up() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.review(number, WORDS)

    Runner(world).step()

    (pull,) = (pull for pull in world.pulls if pull.number == number)
    assert [review.own_reactions for review in pull.reviews] == [("THUMBS_UP",)]


def test_a_review_is_taken_up_once_and_the_item_ends_again() -> None:
    world = undisturbed()
    before = len(world.state.visits)
    world.review(number_of(world, "cogworks/7/swi-1"), WORDS)

    until_done(world)
    visits = [(visit.instance.node, visit.sub_item) for visit in world.state.visits[before:]]
    quiet = Runner(world)
    report = quiet.step()

    assert (NodeId("code"), SubItemKey("A")) in visits
    assert visits.count((NodeId("code"), SubItemKey("A"))) == 1
    assert (report.outcome, quiet.calls.count("review_texts")) == ("done", 0)
    assert world.twice() == []


def test_a_second_review_asks_again_and_only_its_own_words_are_told() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.review(number, WORDS)
    until_done(world)
    world.review(number, ReviewText(body="Still no docstring."))

    runner, tasks = watched(world)
    runner.step()

    assert [change.text for change in tasks[0].asked_changes] == ["Still no docstring."]


@pytest.mark.parametrize(
    ("state", "by", "can_push"),
    [
        ("approved", None, True),
        ("commented", None, True),
        ("dismissed", None, True),
        ("changes_requested", None, False),
        ("changes_requested", BOT, True),
    ],
    ids=["approves", "comments", "was-dismissed", "of-somebody-without-write", "of-an-app-nobody-named"],
)
def test_other_reviews_start_nothing(state: str, by: Account | None, can_push: bool) -> None:
    world = undisturbed()
    before = world.state
    world.review(number_of(world, "cogworks/7/swi-1"), WORDS, state=state, by=by or ANN, can_push=can_push)

    report = Runner(world).step()

    assert report.outcome == "done"
    assert world.state.visits == before.visits


def test_an_app_that_the_repository_names_is_obeyed() -> None:
    world = undisturbed()
    world.config += '[commands]\nallowed_apps = ["lintbot"]\n'
    world.review(number_of(world, "cogworks/7/swi-1"), WORDS, by=BOT)

    assert Runner(world).step().node == "code@A"


def test_a_specification_is_written_again_before_its_gate_and_told_why() -> None:
    world = after(0)
    Runner(world).step()
    world.review(number_of(world, "cogworks/7/spec"), ReviewText(body="Say what happens to text."))

    report = Runner(world).step()

    assert report.node == "spec"
    assert world.state.visits[-1].ordinal == 2


def test_a_review_of_what_was_merged_meanwhile_starts_nothing() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.merge(number)
    before = world.state.visits
    world.review(number, WORDS)

    Runner(world).step()

    assert world.state.visits == before


def test_a_review_of_a_specification_that_the_plan_was_made_from_is_answered_with_what_to_do() -> None:
    world = undisturbed()
    spec = number_of(world, "cogworks/7/spec")
    world.pulls = [
        pull.model_copy(update={"state": "open", "merged_by": None}) if pull.number == spec else pull
        for pull in world.pulls
    ]
    before = world.state.visits
    world.review(spec, WORDS)

    Runner(world).step()

    (answer,) = [body for body in world.own_comments() if "This was not obeyed" in body]
    assert (
        "@ann: This was not obeyed: the plan is already made from spec; `/cogworks restart` begins anew."
        in answer
    )
    assert world.state.visits == before


def test_a_rejection_by_command_tells_its_reason_to_whoever_writes_the_code_again() -> None:
    world = after(3)
    world.say("/cogworks reject code@A it does not even add")
    Runner(world).step()
    world.say("/cogworks retry")

    runner, tasks = watched(world)
    runner.step()

    assert tasks[0].asked_changes == (AskedChange(by="ann", text="it does not even add"),)


def test_a_long_remark_is_cut_and_says_so() -> None:
    world = undisturbed()
    world.review(number_of(world, "cogworks/7/swi-1"), ReviewText(body="x" * (MAX_REVIEW + 1)))

    runner, tasks = watched(world)
    runner.step()

    (change,) = tasks[0].asked_changes
    assert change.text == "x" * MAX_REVIEW + " … (the rest is in the review)"


def test_a_review_without_words_still_asks_for_something() -> None:
    world = undisturbed()
    world.review(number_of(world, "cogworks/7/swi-1"), ReviewText(body="  "))

    runner, tasks = watched(world)
    runner.step()

    (change,) = tasks[0].asked_changes
    assert change.text.startswith("The review says nothing about what to change")


def test_the_reviewer_is_answered_below_the_pull_request_once() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.review(number, ReviewText(body="Hello @octocat,\nmore", remarks=WORDS.remarks[:1]))

    until_done(world)

    ((at, body),) = world.elsewhere
    assert at == number
    assert body.startswith("@ann: the newest commits of this branch respond to this review.")
    assert "- `adder.py:4`: `abs` is wrong here\n" in body
    # Whom a review mentions is not called by our answer.
    assert "@octocat" not in body
    assert "Hello" in body


def test_a_rejection_by_command_is_answered_by_its_receipt_alone() -> None:
    world = after(3)
    world.say("/cogworks reject code@A it does not even add")
    Runner(world).step()
    world.say("/cogworks retry")

    Runner(world).step()

    assert world.elsewhere == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_call_fails_a_review_is_taken_up_and_answered_once(when: Literal["before", "after"]) -> None:
    def reviewed() -> World:
        world = undisturbed()
        world.review(number_of(world, "cogworks/7/swi-1"), WORDS)
        return world

    whole = Runner(reviewed())
    whole.step()

    for place in tasted(range(1, len(whole.calls) + 1), days=3):
        world = reviewed()
        with contextlib.suppress(Died, TryAgainLater):
            Runner(world, name="dies", fault=Fault(place, when, "death")).step()
        until_done(world)

        visits = [visit for visit in world.state.visits if visit.instance == ("code", "A")]
        assert (len(world.elsewhere), len(visits)) == (1, 2), (place, whole.calls[place - 1])
        assert world.twice() == []


BOB = Account(login=Login("bob"), id=8)


def test_two_reviews_at_one_look_are_one_piece_of_work_that_is_told_both() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    first = world.review(number, ReviewText(body="Add negative numbers."))
    second = world.review(number, ReviewText(body="Call it sum."), by=BOB)

    runner, tasks = watched(world)
    runner.step()
    until_done(world)

    assert [(change.by, change.text) for change in tasks[0].asked_changes] == [
        ("ann", "Add negative numbers."),
        ("bob", "Call it sum."),
    ]
    assert world.state.inputs.reviews == (first.database_id, second.database_id)
    assert [visit.instance for visit in world.state.visits].count(
        Instance(NodeId("code"), SubItemKey("A"))
    ) == 2
    (pull,) = (pull for pull in world.pulls if pull.number == number)
    assert [review.own_reactions for review in pull.reviews] == [("THUMBS_UP",), ("THUMBS_UP",)]
    ((_, body),) = world.elsewhere
    assert body.startswith("@ann, @bob: the newest commits of this branch respond to this review.")


def test_a_review_that_comes_while_the_work_is_done_again_waits_for_its_end_and_is_then_taken_up() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.review(number, ReviewText(body="Add negative numbers."))
    with contextlib.suppress(Died):
        # Its lease is there, and it writes nothing any more.
        Runner(world, name="dies", fault=Fault(6, "before", "death")).step()
    assert [lease.node for lease in world.state.leases] == ["code"]
    late = world.review(number, ReviewText(body="Call it sum."), by=BOB)

    assert Runner(world, name="another").step().outcome == "backed_off"
    assert late.database_id not in (world.state.inputs.reviews or ())
    world.now += timedelta(hours=1)
    reports = until_done(world)

    assert [report.node for report in reports].count("code@A") == 2
    assert late.database_id in (world.state.inputs.reviews or ())
    # The first was not brought to its end before the second was taken up.
    ((_, body),) = world.elsewhere
    assert body.startswith("@ann, @bob: the newest commits of this branch respond to this review.")


def test_a_review_of_work_that_failed_has_it_done_again_with_its_words() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.review(number, ReviewText(body="Add negative numbers."))

    def fails(task: NodeTask, ports: NodePorts) -> Outcome:
        return Failed(reason="no idea", category="escalated")

    assert Runner(world, nodes={**NODES, NodeId("code"): fails}).step().outcome == "failed"
    world.review(number, ReviewText(body="As in the docs."), by=BOB)
    runner, tasks = watched(world)

    assert runner.step().node == "code@A"
    assert [change.text for change in tasks[0].asked_changes][-1] == "As in the docs."


def test_a_review_is_not_taken_up_again_when_its_pull_request_is_closed_and_reopened() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.review(number, WORDS)
    until_done(world)
    visits = len(world.state.visits)
    world.close(number)
    Runner(world).step()
    world.review(number_of(world, "cogworks/7/swi-2"), ReviewText(body="B is wrong."))
    Runner(world).step()
    world.reopen(number)

    until_done(world)

    codes = [visit.sub_item for visit in world.state.visits[visits:] if visit.node == "code"]
    assert "A" not in codes


def test_what_a_review_asked_for_is_told_again_as_long_as_its_pull_request_was_not_reached() -> None:
    world = undisturbed()
    world.review(number_of(world, "cogworks/7/swi-1"), ReviewText(body="Add negative numbers."))
    Runner(world).step()
    assert world.elsewhere == []
    world.say("/cogworks reject code@A the tests are empty")
    world.say("/cogworks retry")

    runner, tasks = watched(world)
    runner.step()

    assert [change.text for change in tasks[0].asked_changes] == [
        "Add negative numbers.",
        "the tests are empty",
    ]


def test_reviews_from_before_an_upgrade_start_nothing_and_later_ones_do() -> None:
    world = undisturbed()
    number = number_of(world, "cogworks/7/swi-1")
    world.files["state.json"] = world.files["state.json"].replace('"reviews": []', '"reviews": null')
    assert world.state.inputs.reviews is None
    old = world.review(number, WORDS, at=world.commits[-1].committed_date - timedelta(hours=1))

    assert Runner(world).step().outcome == "done"
    world.now += timedelta(hours=1)
    new = world.review(number, ReviewText(body="Call it sum."), by=BOB)

    assert Runner(world).step().node == "code@A"
    assert world.state.inputs.reviews == (old.database_id, new.database_id)


def test_remarks_that_could_not_be_read_are_counted() -> None:
    world = undisturbed()
    world.review(number_of(world, "cogworks/7/swi-1"), ReviewText(body="See below.", left_out=7))

    runner, tasks = watched(world)
    runner.step()

    assert tasks[0].asked_changes[-1].text == "The review has 7 remarks more than could be read."
