"""What Intake is shown of other issues: asked for once, when a run begins, and the same for whoever takes the visit over."""

from contextlib import suppress
from datetime import timedelta

from cogworks.engine.remember import NEIGHBOURS_FILE
from cogworks.errors import TryAgainLater
from cogworks.forge.snapshot import Neighbour
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import IssueNumber, NodeId
from tests.step_fakes import Died, Fault, Runner
from tests.world import World

BODY = "When I call add(2, 2) it subtracts and gives 0; it should add and give 4."
SAME = Neighbour(
    number=IssueNumber(3), title="add() subtracts numbers", body="It should add.", kind="issue", state="open"
)


class Intake:
    """Notes which other issues it is told of; its outcomes come one after the other."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.told: list[tuple[int, ...]] = []
        self.bodies: list[tuple[str, ...]] = []
        self._outcomes = list(outcomes)

    def __call__(self, task: NodeTask, ports: NodePorts) -> Outcome:
        self.told.append(tuple(each.number for each in task.neighbours))
        self.bodies.append(tuple(each.body for each in task.neighbours))
        ports.checkpoint()
        return self._outcomes.pop(0)


DONE = Succeeded(output={"type": "bug_fix", "safety_affecting": False}, summary="classified")
KNOWN = Failed(reason="#42 asks for the same as #3", category="escalated")


def item() -> World:
    return World(pipeline=None, body=BODY, neighbours=[SAME])


def runner(world: World, intake: Intake, **more: object) -> Runner:
    return Runner(world, nodes={NodeId("intake"): intake}, **more)  # type: ignore[arg-type]  # Fields of it.


def test_other_issues_are_listed_once_and_kept_in_the_ledger() -> None:
    world, intake = item(), Intake(DONE)
    step = runner(world, intake)

    report = step.step()

    assert (report.outcome, intake.told, step.calls.count("neighbours")) == ("succeeded", [(3,)], 1)
    [kept] = [text for path, text in world.files.items() if path.endswith(NEIGHBOURS_FILE)]
    assert '"number":3' in kept.replace(" ", "")


def test_a_token_in_another_issue_is_kept_from_the_ledger_and_from_the_first_question_alike() -> None:
    token = "ghp_" + "a1" * 18
    leaking = SAME.model_copy(update={"body": f"{SAME.body}\n{token}"})
    world, intake = World(pipeline=None, body=BODY, neighbours=[leaking]), Intake(DONE)

    runner(world, intake).step()

    [text] = [text for path, text in world.files.items() if path.endswith(NEIGHBOURS_FILE)]
    assert token not in text
    assert intake.bodies == [(f"{SAME.body}\n***",)]


def test_the_issue_that_was_divided_is_no_neighbour_of_its_parts() -> None:
    world, intake = item(), Intake(DONE)
    world.parent = SAME.number

    runner(world, intake).step()

    assert intake.told == [()]


def test_a_visit_that_is_taken_over_is_told_the_same_without_a_request() -> None:
    world, intake = item(), Intake(DONE, DONE)
    first = runner(world, intake)
    calls = _calls_until(first, "publish")
    assert calls
    world, intake = item(), Intake(DONE, DONE)
    dying = runner(world, intake, fault=Fault(at=calls, when="before", kind="death"))
    with suppress(Died):
        dying.step()
    world.neighbours = []
    world.now += timedelta(seconds=600)
    second = runner(world, intake)

    report = second.step()

    assert (report.outcome, intake.told) == ("succeeded", [(3,), (3,)])
    assert "neighbours" not in second.calls


def test_who_asks_for_the_item_again_knows_them_and_nothing_is_listed() -> None:
    world, intake = item(), Intake(KNOWN, DONE)
    assert runner(world, intake).step().outcome == "failed"
    world.say("/cogworks retry")
    second = runner(world, intake)

    report = second.step()

    assert (report.outcome, intake.told) == ("succeeded", [(3,), ()])
    assert "neighbours" not in second.calls


def test_a_new_run_lists_nothing_either() -> None:
    world, intake = item(), Intake(KNOWN, DONE)
    runner(world, intake).step()
    world.say("/cogworks restart")
    second = runner(world, intake)

    assert second.step().outcome == "succeeded"
    assert "neighbours" not in second.calls


def test_nothing_is_listed_for_an_issue_that_is_too_thin_to_be_read() -> None:
    world = World(pipeline=None, body="", neighbours=[SAME])
    step = runner(world, Intake(KNOWN))

    step.step()

    assert "neighbours" not in step.calls


class Deaf(Runner):
    """Finds GitHub out of order when it lists issues."""

    def neighbours(self) -> tuple[Neighbour, ...]:
        raise TryAgainLater("GitHub is out of order")


def test_a_list_that_cannot_be_read_stops_no_visit() -> None:
    world, intake = item(), Intake(DONE)
    deaf = Deaf(world, nodes={NodeId("intake"): intake})

    assert (deaf.step().outcome, intake.told) == ("succeeded", [()])
    assert (
        "intake: WARNING: continuing without a comparison with other issues: GitHub is out of order"
        in deaf.said
    )


def _calls_until(runner: Runner, name: str) -> int:
    """At which of its calls a runner first does something of that name."""
    runner.step()
    return next(number for number, call in enumerate(runner.calls, 1) if call.startswith(name))
