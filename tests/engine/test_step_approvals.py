"""A coding visit whose policy wants a person for each patch: what it asks, whom it obeys, and what that costs."""

from datetime import timedelta

import pytest

from cogworks.cli.reporting import EXIT_CODES
from cogworks.engine.report import StepReport
from cogworks.forge.facts import Account
from cogworks.ledger.visit_folders import check_folders
from cogworks.nodes.contract import NodePorts, NodeProcedure, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import Login, NodeId
from tests.approving import POLICY, POLICY_FILE, RIGHT, WRONG, Coder
from tests.nodes.examples import change
from tests.pipeline.graphs import document
from tests.step_fakes import NODES, Died, Fault, Runner, after
from tests.world import World

EVE = Account(login=Login("eve"), id=66)
ROBOT = Account(login=Login("robot"), id=67, is_bot=True)


def runner(
    world: World, name: str = "runner", *, fault: Fault | None = None, run_id: str = "run-1"
) -> Runner:
    nodes: dict[NodeId, NodeProcedure] = {**NODES, NodeId("code"): Coder((WRONG, RIGHT))}
    return Runner(world, name, fault, nodes=nodes, run_id=run_id)


def asking() -> tuple[World, StepReport]:
    """The item when its coder wants to try the first patch."""
    world = after(2)
    world.more_files[POLICY_FILE] = POLICY
    return world, runner(world).step()


def test_a_visit_that_needs_a_person_waits_and_says_for_which_call() -> None:
    world, report = asking()

    [wait] = report.waiting_for
    [left] = world.state.given_back
    assert (report.outcome, report.node, world.state.leases) == ("waiting", "code@A", ())
    assert EXIT_CODES[report.outcome] == 0
    assert left.asks is not None
    assert wait.paste == f"/cogworks approve code@A {left.asks.hash}"
    assert left.asks.shown.startswith('{"candidate":')
    comment = world.own_comments()[0]
    assert "### cogworks · waiting for a person" in comment
    assert f"code@A wants to call APPLY_PATCH (call {left.asks.hash}) with `{{" in comment
    assert f"Or comment: `{wait.paste}`" in comment
    assert "comment `/cogworks reject code@A <why>`" in comment
    assert "cogworks:awaiting-review" in world.labels


def test_a_secret_in_the_call_that_is_asked_about_reaches_no_comment_no_state_and_no_audit() -> None:
    token = "ghp_" + "Z9" * 18
    leaking = change(f"TOKEN = '{token}'\n", notes=f"Take {token}.")
    world = after(2)
    world.more_files[POLICY_FILE] = POLICY

    report = Runner(world, nodes={**NODES, NodeId("code"): Coder((leaking,))}).step()

    [audit] = [text for path, text in world.files.items() if path.endswith("tools-1.ndjson")]
    assert report.outcome == "waiting"
    assert "***" in audit
    for shown in (world.own_comments()[0], world.files["state.json"], audit, report.model_dump_json()):
        assert token not in shown


def test_a_step_without_an_answer_reads_and_writes_nothing() -> None:
    world, _ = asking()
    commits, again = len(world.commits), runner(world)

    report = again.step()

    assert (report.outcome, again.calls, len(world.commits)) == ("waiting", ["read"], commits)


def test_an_approved_patch_is_tried_and_the_next_one_asked_about_anew() -> None:
    world, first = asking()
    world.say(first.waiting_for[0].paste)

    second = runner(world).step()
    [wait] = second.waiting_for
    world.say(wait.paste)
    third = runner(world).step()

    assert (second.outcome, third.outcome, third.node) == ("waiting", "succeeded", "code@A")
    assert wait.paste != first.waiting_for[0].paste
    assert world.state.visits[-1].summary.endswith("attempt 2")
    assert (world.state.given_back, world.state.visits[-1].attempt) == ((), 1)
    assert world.reactions() == [("THUMBS_UP",), ("THUMBS_UP",)]


def test_no_reply_is_paid_for_twice() -> None:
    world, report = asking()
    for _ in range(2):
        world.say(report.waiting_for[0].paste)
        report = runner(world).step()

    paid = {purpose: times for purpose, times in world.paid.items() if "code" in purpose}

    assert (len(paid), set(paid.values())) == (2, {1})
    assert world.state.visits[-1].spend.model_calls == 2


@pytest.mark.parametrize("who", [EVE, ROBOT], ids=["stranger", "bot"])
def test_nobody_without_write_permission_approves_a_call(who: Account) -> None:
    world, report = asking()
    world.say(report.waiting_for[0].paste, by=who)

    told = runner(world).step()

    assert (told.node, runner(world).step().outcome) == ("inputs", "waiting")
    assert world.reactions() == [("THUMBS_DOWN",)]


def test_an_edited_approval_counts_for_nothing() -> None:
    world, report = asking()
    world.say(report.waiting_for[0].paste, edited=True)

    runner(world).step()

    assert "it was edited after it was posted" in world.own_comments()[1]
    assert world.state.given_back[0].asks is not None


def test_a_stale_hash_is_refused_with_the_line_to_paste() -> None:
    world, report = asking()
    world.say("/cogworks approve code@A 0123456789ab")

    runner(world).step()

    assert "code@A now asks about another call than `0123456789ab`" in world.own_comments()[1]
    assert report.waiting_for[0].paste in world.own_comments()[1]


def test_a_rejected_call_fails_the_visit() -> None:
    world, _ = asking()
    world.say("/cogworks reject code@A add() must not multiply")

    report = runner(world).step()

    assert report.outcome == "failed"
    assert "code@A: rejected by ann: add() must not multiply" in report.message
    assert "rejected by ann" in world.own_comments()[0]
    assert (world.reactions(), world.state.given_back) == ([("THUMBS_UP",)], ())
    visits = {path: text for path, text in world.files.items() if path.startswith("visits/")}
    assert list(check_folders(world.state, visits)) == []


def test_an_heir_of_a_dead_runner_asks_no_second_time() -> None:
    world, report = asking()
    world.say(report.waiting_for[0].paste)
    # Read, permission, claim: it dies at the next move, on an approval that is in the ledger.
    with pytest.raises(Died):
        runner(world, name="dead", fault=Fault(at=4, when="before", kind="death")).step()
    world.now += timedelta(minutes=10)

    heir = runner(world).step()

    [wait] = heir.waiting_for
    assert wait.paste != report.waiting_for[0].paste
    assert world.state.given_back[0].attempt == 2


def test_an_approval_that_no_step_read_in_time_is_refused_by_githubs_clock() -> None:
    world, report = asking()
    world.say(report.waiting_for[0].paste)
    world.now += timedelta(days=7, minutes=1)

    told = runner(world).step()

    assert (told.node, runner(world).step().outcome) == ("inputs", "waiting")
    assert world.reactions() == [("THUMBS_DOWN",)]
    assert "expired after 168 hour(s) (`approvals.valid_hours`)" in world.own_comments()[1]
    assert report.waiting_for[0].paste in world.own_comments()[1]


def test_an_approval_that_lapsed_before_the_visit_could_go_on_is_asked_for_anew_with_the_reason() -> None:
    world, report = asking()
    world.config += "[approvals]\nvalid_hours = 24\n"
    world.say(report.waiting_for[0].paste)
    world.set_label("cogworks:hold", "e2")
    runner(world).step()
    assert world.reactions() == [("THUMBS_UP",)]
    world.labels.remove("cogworks:hold")
    world.now += timedelta(hours=25)

    again = runner(world).step()

    [wait] = again.waiting_for
    assert (again.outcome, wait.paste) == ("waiting", report.waiting_for[0].paste)
    assert "It was approved by ann, but it was written at " in wait.ask
    assert "expired after 24 hour(s) (`approvals.valid_hours`)" in world.own_comments()[0]

    world.say(wait.paste)
    third = runner(world).step()
    assert third.waiting_for[0].paste != wait.paste
    assert "It was approved" not in third.waiting_for[0].ask
    paid = {purpose: times for purpose, times in world.paid.items() if "code" in purpose}
    assert set(paid.values()) == {1}


def test_approvals_that_count_for_ever_do_so() -> None:
    world, report = asking()
    world.config += "[approvals]\nvalid_hours = 0\n"
    world.say(report.waiting_for[0].paste)
    world.now += timedelta(days=900)

    [wait] = runner(world).step().waiting_for

    assert wait.paste != report.waiting_for[0].paste


def test_a_restart_forgets_what_was_asked() -> None:
    world, _ = asking()
    world.say("/cogworks restart")

    report = runner(world, run_id="run-2").step()

    assert (report.node, world.state.given_back) == ("spec", ())


def test_an_item_without_such_a_policy_makes_no_further_requests() -> None:
    world = after(2)
    free = runner(world)

    report = free.step()

    assert (report.outcome, report.node) == ("succeeded", "code@A")
    assert free.calls == ["read", "claim", "checkpoint", "publish commit_files", "succeeded", "show"]


def test_a_node_beside_a_visit_that_asks_goes_on_with_the_next_step() -> None:
    world = World(pipeline=document("&spec code ship", "spec>code spec>ship"))
    world.more_files[POLICY_FILE] = POLICY
    nodes: dict[NodeId, NodeProcedure] = {
        NodeId("spec"): _nothing,
        NodeId("ship"): _nothing,
        NodeId("code"): Coder((RIGHT,)),
    }

    reports = [Runner(world, nodes=nodes).step() for _ in range(4)]

    assert [(report.outcome, report.node) for report in reports] == [
        ("succeeded", "spec"),
        ("succeeded", "code"),
        ("succeeded", "ship"),
        ("waiting", ""),
    ]
    assert [len(report.waiting_for) for report in reports] == [0, 1, 1, 1]


def _nothing(task: NodeTask, ports: NodePorts) -> Outcome:
    return Succeeded(output={}, summary="nothing to do")
