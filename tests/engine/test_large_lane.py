"""Whole steps of an item that is divided into several issues, on a GitHub in memory."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

import pytest

from cogworks.engine.consider import Wanted, consider, read_item
from cogworks.forge.effects import PostComment
from cogworks.forge.facts import SubIssue
from cogworks.nodes import parting
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.decision import Nothing
from cogworks.pipeline.gates import approval_line
from cogworks.vocabulary import IssueNumber, NodeId, RunId
from tests.nodes.dividing import EXPORT, division, part
from tests.step_fakes import Died, Fault, Runner
from tests.world import World

LARGE = "cogworks:lane:large"
SCOPE: Mapping[str, Any] = {"files": 12, "interfaces": 3, "complexity": "high"}
FEATURE: Mapping[str, Any] = {"type": "new_feature", "safety_affecting": False, "estimated_scope": SCOPE}
HUGE: Mapping[str, Any] = {**FEATURE, "estimated_scope": {**SCOPE, "files": 41}}
BRAKES: Mapping[str, Any] = {**FEATURE, "safety_affecting": True}


def nodes(classification: Mapping[str, Any], told: list[NodeTask]) -> Mapping[NodeId, Any]:
    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task)
        return Succeeded(output=dict(classification), summary="classified")

    def divide(task: NodeTask, ports: NodePorts) -> Outcome:
        told.append(task)
        proposed = division(part(title=f"Proposed {task.visit.ordinal}"), EXPORT)
        comment = PostComment(
            number=task.item.number, topic="node-division", body="A table.", visit_key=task.visit.visit_key
        )
        return Succeeded(output=proposed.model_dump(mode="json"), effects=(comment,), summary="proposed")

    return {
        NodeId("intake"): intake,
        NodeId("division"): divide,
        NodeId("parts"): parting.create,
        NodeId("start"): parting.start,
    }


class Divided:
    """An item in the lane `large`."""

    def __init__(self, *labels: str, config: str = "", classification: Mapping[str, Any] = FEATURE) -> None:
        self.world = World(pipeline=None)
        self.world.config += config
        for number, label in enumerate(labels, 2):
            self.world.set_label(label, f"e{number}")
        self.told: list[NodeTask] = []
        self.runner = Runner(self.world, nodes=nodes(classification, self.told))

    def step(self, times: int = 1) -> str:
        return [self.runner.step().outcome for _ in range(times)][-1]

    def approve(self) -> None:
        visit = self.world.state.visits[-1]
        self.world.say(approval_line("division", visit.output_sha256))

    def close(self, *places: int) -> None:
        for place in places:
            closed = self.world.sub_issues[place].model_copy(update={"state": "closed"})
            self.world.sub_issues[place] = SubIssue.model_validate(closed.model_dump())


def divided(*labels: str, **given: Any) -> Divided:
    """An item whose division was approved and carried out."""
    item = Divided(*(labels or (LARGE,)), **given)
    item.step(2)
    item.approve()
    item.step(2)
    return item


def test_a_proposal_waits_for_a_person_and_creates_nothing() -> None:
    item = Divided(LARGE)

    assert item.step(2) == "succeeded"
    assert item.step() == "waiting"
    assert item.world.sub_issues == []
    status, _ = item.world.own_comments()
    assert "- **Lane:** `large`. The issue is divided into several" in status
    assert "read the proposal in its comment and approve it" in status
    assert f"`/cogworks approve division {item.world.state.visits[-1].output_sha256[:7]}" in status


def test_an_approved_proposal_becomes_issues_which_are_linked_before_any_is_started() -> None:
    item = Divided(LARGE)
    item.step(2)
    item.approve()

    item.step()
    assert item.world.labels_elsewhere == {each.number: set() for each in item.world.sub_issues}
    assert item.world.links == {("B", "A")}
    item.step()

    first, second = item.world.sub_issues
    assert [first.title, second.title] == ["Proposed 1", "Part B works"]
    assert item.world.labels_elsewhere == {each.number: {"cogworks:run"} for each in item.world.sub_issues}
    assert item.world.state.status == "done"
    status = item.world.own_comments()[0]
    assert (
        f"### cogworks · done: divided into #{first.number}, #{second.number}; this issue is closed with"
        in status
    )
    assert f"- #{second.number}: Part B works (after #{first.number})" in status


def test_a_rejected_proposal_is_made_anew_at_once_with_the_reason_and_the_one_before() -> None:
    item = Divided(LARGE)
    item.step(2)
    before = item.world.state.visits[-1].output_sha256
    item.world.say("/cogworks reject division The export goes first.")

    assert item.step() == "succeeded"

    again = item.told[-1]
    assert [each.text for each in again.asked_changes] == ["The export goes first."]
    assert again.earlier["division"]["parts"][0]["title"] == "Proposed 1"
    assert item.world.state.visits[-1].output_sha256 != before
    item.world.say(approval_line("division", before))
    assert item.step() != "failed"
    assert item.world.sub_issues == []
    item.approve()
    item.step(3)
    assert item.world.sub_issues[0].title == "Proposed 2"


def test_what_is_carried_out_is_not_rejected_any_more() -> None:
    item = divided()
    item.world.say("/cogworks reject division Too late.")

    item.step()

    assert item.world.reactions()[-1] == ("THUMBS_DOWN",)
    assert "the issues that were made from division are there (#" in item.world.own_comments()[-1]
    assert len(item.world.sub_issues) == 2


def test_the_issue_is_closed_with_the_last_of_its_parts_and_who_reopens_it_is_left_alone() -> None:
    item = divided()
    item.close(0)
    item.step()
    assert item.world.is_open

    item.close(1)
    assert item.step() == "done"
    assert not item.world.is_open
    assert "done: every part of this issue is closed" in item.world.own_comments()[0]

    item.world.is_open = item.world.is_reopened = True
    item.step()
    assert item.world.is_open


def test_a_repository_that_closes_its_issues_by_hand_closes_this_one_by_hand() -> None:
    item = divided(config="[pull_requests]\ncloses_issue = false\n")
    item.close(0, 1)
    item.step()

    assert item.world.is_open


def test_left_to_the_rule_an_issue_that_is_too_large_for_one_item_is_divided() -> None:
    item = Divided(classification=HUGE)
    item.step()

    assert item.told[0].conventions.division == "by_rule"
    assert (item.world.state.pipeline, item.told[-1].visit.node) == ("large", "intake")
    assert (
        "**Lane:** `large`, chosen by what Intake found: the work is too large"
        in item.world.own_comments()[0]
    )
    item.step()
    assert item.told[-1].visit.node == "division"


@pytest.mark.parametrize(
    ("labels", "config"),
    [((), '[pipelines]\nlane = "default"\n'), (("cogworks:safety-critical",), "")],
    ids=["the-repository-says-default", "safety"],
)
def test_it_is_not_divided_where_people_want_another_way(labels: tuple[str, ...], config: str) -> None:
    item = Divided(*labels, config=config, classification=HUGE)
    item.step()

    assert item.told[0].conventions.division == "on_request"
    assert item.world.state.pipeline == "default"


def test_safety_critical_work_is_divided_where_people_ask_and_its_parts_are_safety_critical() -> None:
    item = divided(LARGE, classification=BRAKES)

    assert item.told[0].conventions.division == "asked"
    assert item.world.labels_elsewhere == {
        each.number: {"cogworks:safety-critical", "cogworks:run"} for each in item.world.sub_issues
    }


def test_a_repository_that_divides_everything_does_not_divide_what_is_a_part_already() -> None:
    item = Divided(config='[pipelines]\nlane = "large"\n')
    whole = consider(read_item(item.runner), Wanted(), new_run_id=lambda: RunId("run-9"))
    item.world.parent = IssueNumber(3)
    below = consider(read_item(item.runner), Wanted(), new_run_id=lambda: RunId("run-9"))

    assert (whole.state.pipeline, whole.facts.lane) == ("large", "large")
    assert (below.state.pipeline, below.facts.lane) == ("default", "auto")


def test_a_text_that_was_edited_meanwhile_is_asked_about_before_anything_is_started() -> None:
    item = Divided(LARGE)
    item.step(2)
    item.approve()
    item.step()
    item.world.edit("Something else.")

    assert item.step() == "waiting"
    assert item.world.labels_elsewhere == {each.number: set() for each in item.world.sub_issues}


CALLS = 9
"""More than a step of this lane makes."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, CALLS))
@pytest.mark.parametrize("dies", ["creating", "starting"])
def test_a_step_that_dies_anywhere_leaves_every_issue_created_and_started_once(
    dies: str, at: int, when: Literal["before", "after"]
) -> None:
    item = Divided(LARGE)
    item.step(2)
    item.approve()
    if dies == "starting":
        item.step()
    dying = Runner(item.world, name="dying", nodes=item.runner.nodes, fault=Fault(at, when, "death"))
    with suppress(Died):
        dying.step()

    for number in range(8):
        healer = Runner(item.world, name=f"healer-{number}", nodes=item.runner.nodes)
        report = healer.step(Wanted(take_over=True))
        if report.outcome == "done":
            break

    assert len(item.world.sub_issues) == 2
    assert item.world.twice() == []
    assert all("cogworks:run" in item.world.labels_elsewhere[each.number] for each in item.world.sub_issues)


def test_an_item_that_is_done_says_so_to_whoever_steps_again() -> None:
    item = divided()

    seen = consider(read_item(item.runner), Wanted(), new_run_id=lambda: RunId("run-9"))

    assert isinstance(seen.decision, Nothing)
    assert seen.decision.reason.startswith("divided into #")
