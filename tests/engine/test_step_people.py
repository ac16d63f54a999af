"""What people say to an item, step by step: obeyed once, answered once, whatever happens in between."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Literal

import pytest

from cogworks.cli.reporting import EXIT_CODES
from cogworks.engine.ports import Push
from cogworks.errors import PermissionRefused, SafetyHalt, TryAgainLater
from cogworks.forge.bodies import parse_marker
from cogworks.forge.effects import Effect
from cogworks.forge.facts import Account, Branch, LabelEvent
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.people import Held
from cogworks.vocabulary import VISIT_TRAILER, CommitOid, IssueNumber, Login, NodeId
from tests.pipeline.graphs import document
from tests.step_fakes import NODES, Died, Fault, Runner, after, undisturbed, until_done
from tests.world import ANN, BOT, PIPELINE, World

EVE = Account(login=Login("eve"), id=66)


def waiting_item() -> World:
    """An item that waits at its first gate."""
    world = World()
    Runner(world).step()
    return world


def head(world: World) -> str:
    return world.pulls[0].head_oid


def test_a_hold_by_command_is_obeyed_in_a_commit_of_its_own_with_a_reaction_and_no_reply() -> None:
    world = waiting_item()
    world.merge(world.pulls[0].number)
    world.say("/cogworks hold I want to look first")
    runner = Runner(world)

    report = runner.step()

    assert runner.calls == ["read", "permissions", "obeyed", "show"]
    assert report.outcome == "waiting"
    assert world.state.held == Held(by="ann", why="I want to look first")
    assert world.reactions() == [("THUMBS_UP",)]
    assert len(world.own_comments()) == 1
    assert "ann holds the item (I want to look first); say why it may go on" in world.own_comments()[0]


def test_an_input_is_dealt_with_once_and_later_steps_cost_one_request() -> None:
    world = waiting_item()
    world.say("/cogworks hold")
    Runner(world).step()
    commits, runner = len(world.commits), Runner(world)

    runner.step()

    assert runner.calls == ["read"]
    assert len(world.commits) == commits


def test_a_resume_is_obeyed_in_the_claim_of_the_node_that_runs_then() -> None:
    world = waiting_item()
    world.merge(world.pulls[0].number)
    world.say("/cogworks hold")
    Runner(world).step()
    number = world.say("/cogworks resume it was only lunch")
    runner = Runner(world)

    report = runner.step()

    assert report.node == "plan"
    assert runner.calls[:3] == ["read", "permissions", "claim"]
    assert (world.state.held, world.state.inputs.last_comment_id) == (None, number)
    assert world.reactions() == [("THUMBS_UP",), ("THUMBS_UP",)]


def test_an_approval_that_names_the_head_opens_the_gate() -> None:
    world = waiting_item()
    world.say(f"/cogworks approve spec {head(world)[:12]}")

    report = Runner(world).step()

    assert report.node == "plan"
    [gate] = world.state.gates
    assert (gate.node, gate.how, gate.by, gate.oid) == ("spec", "approved", "ann", head(world))


def test_the_waiting_line_can_be_pasted() -> None:
    world = waiting_item()
    assert f"Or comment: `/cogworks approve spec {head(world)[:12]}`" in world.own_comments()[0]


def test_an_approval_of_something_else_is_refused_with_the_line_to_paste() -> None:
    world = waiting_item()
    number = world.say("/cogworks approve spec deadbeef")
    runner = Runner(world)

    report = runner.step()

    assert runner.calls == ["read", "permissions", "claim", "publish post_comment", "answered", "show"]
    assert (report.outcome, report.node) == ("succeeded", "inputs")
    assert world.reactions() == [("THUMBS_DOWN",)]
    reply = world.own_comments()[1]
    assert f" t=reply-{number} " in reply
    assert (
        f"`deadbeef` is not the current result of spec. Look at it, then paste: `/cogworks approve spec {head(world)[:12]}`"
        in reply
    )
    assert Runner(world).step().outcome == "waiting"


def test_a_push_after_the_approval_voids_it() -> None:
    world = after(1)
    world.pulls = [pull.model_copy(update={"state": "open"}) for pull in world.pulls]
    world.say(f"/cogworks approve spec {head(world)[:12]}")
    assert Runner(world).step().node == "plan"
    world.pulls = [pull.model_copy(update={"head_oid": "e" * 40}) for pull in world.pulls]

    report = Runner(world).step()

    assert report.outcome == "waiting"
    assert report.waiting_for[0].paste == "/cogworks approve spec eeeeeeeeeeee"


@pytest.mark.parametrize(
    ("line", "why", "sign"),
    [
        ("/cogworks aprove spec", "did you mean `approve`?", "CONFUSED"),
        ("/cogworks retry", "nothing has failed, so there is nothing to do again", "THUMBS_DOWN"),
        ("/cogworks approve plan abcdef0", "plan has no finished result", "THUMBS_DOWN"),
        ("/cogworks reject nothing at all", "`nothing` is no node of this item", "THUMBS_DOWN"),
    ],
)
def test_what_cannot_be_obeyed_gets_one_sign_and_one_reply(line: str, why: str, sign: str) -> None:
    world = waiting_item()
    world.say(line)

    Runner(world).step()
    Runner(world).step()

    assert world.reactions() == [(sign,)]
    [_, reply] = world.own_comments()
    assert why in reply
    assert "/cogworks resume <why>" in reply
    assert (world.state.owed, world.state.leases) == ((), ())


def test_a_stranger_is_refused_and_changes_nothing() -> None:
    world = waiting_item()
    world.say("/cogworks cancel", by=EVE)

    Runner(world).step()

    assert world.state.status == "running"
    assert world.reactions() == [("THUMBS_DOWN",)]
    assert "eve has none permission here, and commands need write" in world.own_comments()[1]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, 6))
def test_a_runner_that_dies_while_it_answers_costs_no_second_reply(
    at: int, when: Literal["before", "after"]
) -> None:
    world = waiting_item()
    world.say("/cogworks dance")
    with pytest.raises(Died):
        Runner(world, fault=Fault(at, when, "death")).step()

    until_done(world)

    assert world.twice() == []
    assert len(world.own_comments()) == 2
    assert world.state.owed == ()


def test_three_runners_that_died_answering_are_enough() -> None:
    world = waiting_item()
    world.say("/cogworks dance")
    for attempt in range(3):
        runner = Runner(
            world, name=f"dead-{attempt}", fault=Fault(4 if attempt == 0 else 3, "before", "death")
        )
        with pytest.raises(Died):
            runner.step()
        world.now += timedelta(seconds=300)
    last = Runner(world)

    report = last.step()

    assert (report.node, world.state.owed) == ("inputs", ())
    assert last.said == ["gave up 1 answer(s), because their runner died 3 times"]
    assert Runner(world).step().outcome == "waiting"


def test_an_answer_that_github_refuses_is_given_up_and_the_item_goes_on() -> None:
    class Locked(Runner):
        def publish(
            self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
        ) -> Published:
            raise PermissionRefused("the issue is locked")

    world = waiting_item()
    world.say("/cogworks dance")
    runner = Locked(world)

    report = runner.step()

    assert report.outcome == "succeeded"
    assert "could not post 1 answer(s): the issue is locked" in runner.said
    assert world.state.owed == ()


def test_a_result_that_is_rejected_fails_with_the_reason_and_a_retry_makes_it_again() -> None:
    world = after(3)
    world.say("/cogworks reject code@A it does not even add")
    rejected = Runner(world).step()
    world.say("/cogworks retry")

    again = Runner(world).step()

    assert (rejected.outcome, rejected.message.splitlines()[0]) == (
        "failed",
        "code@A: rejected by ann: it does not even add",
    )
    assert again.node == "code@A"
    assert world.state.visits[-1].ordinal == 2
    assert world.reactions() == [("THUMBS_UP",), ("THUMBS_UP",)]


def test_what_the_plan_was_made_from_cannot_be_rejected_any_more() -> None:
    world = after(2)
    world.say("/cogworks reject plan too long")

    Runner(world).step()

    assert "the plan is already made from plan; `/cogworks restart` begins anew" in world.own_comments()[1]


def test_a_rejected_pull_request_takes_everything_built_on_it_along_and_a_retry_makes_all_of_it_again() -> (
    None
):
    world = undisturbed()
    first = world.state.pull("swi-1")
    assert first is not None
    world.close(first.number)

    told = Runner(world).step()
    world.say("/cogworks retry")
    steps = [Runner(world).step().node for _ in range(4)]

    assert told.message == (
        f"pull request #{first.number} was closed unmerged; reopen it, or comment `/cogworks retry` to do it again"
    )
    assert steps == ["code@A", "ship@A", "code@B", "ship@B"]
    again = world.state.pull("swi-1")
    assert again is not None
    assert again.number != first.number


def test_a_finished_item_whose_result_was_rejected_is_not_done_until_it_is_reopened() -> None:
    world = undisturbed()
    last = world.state.pull("swi-2")
    assert last is not None
    world.close(last.number)

    told = Runner(world).step()
    shown = world.own_comments()[0]
    resting = Runner(world)
    resting.step()
    world.reopen(last.number)
    reopened = Runner(world).step()

    assert (told.outcome, EXIT_CODES[told.outcome]) == ("rejected", 1)
    assert f"### cogworks · rejected: pull request #{last.number} was closed unmerged\n" in shown
    assert f"Cogworks-Waits-For: reopen {last.number}@" in world.commits[-2].message
    assert resting.calls == ["read"]
    assert reopened.outcome == "done"
    assert "### cogworks · done: " in world.own_comments()[0]


def test_a_pull_request_closed_in_mid_run_blocks_what_is_built_on_it_until_it_is_reopened() -> None:
    world = after(4)
    number = world.state.pull_requests[-1].number
    world.close(number)

    closed = Runner(world).step()
    world.reopen(number)

    assert closed.outcome == "failed"
    assert closed.message.splitlines()[0].endswith("was closed unmerged; reopen it to go on")
    assert Runner(world).step().node == "code@B"


def test_a_base_branch_deleted_under_a_pull_request_is_no_rejection() -> None:
    world = after(4)
    number = world.state.pull_requests[-1].number
    world.pulls = [
        pull.model_copy(update={"state": "closed", "base": "cogworks/7/gone"})
        if pull.number == number
        else pull
        for pull in world.pulls
    ]

    report = Runner(world).step()

    assert report.outcome in ("waiting", "succeeded")
    assert "failed" not in report.message


def deleted_base(*, rejected_before: bool = False) -> tuple[World, IssueNumber]:
    """A finished item whose first pull request was merged and its branch deleted, which closed the one on top of it."""
    world = undisturbed()
    first, second = world.state.pull("swi-1"), world.state.pull("swi-2")
    assert first is not None
    assert second is not None
    if rejected_before:
        world.close(second.number)
        Runner(world).step()
    world.merge(first.number)
    del world.branches[first.head]
    world.close(second.number)
    return world, second.number


def test_a_pull_request_that_lost_its_merged_base_is_opened_again_towards_where_the_base_went() -> None:
    world, number = deleted_base()

    Runner(world).step()
    following = Runner(world)
    report = following.step()

    pull = next(pull for pull in world.pulls if pull.number == number)
    assert (pull.state, pull.base) == ("open", "main")
    assert "rejected" not in world.own_comments()[0]
    assert report.outcome == "done"
    again = Runner(world)
    again.step()
    assert again.calls == ["read"]


def test_a_pull_request_that_somebody_rejected_before_its_base_went_stays_rejected() -> None:
    world, number = deleted_base(rejected_before=True)

    report = Runner(world).step()

    assert next(pull for pull in world.pulls if pull.number == number).state == "closed"
    assert f"pull request #{number} was closed unmerged" in report.message


def test_a_dependent_goes_where_its_dependency_went_as_soon_as_that_is_merged() -> None:
    world = undisturbed()
    first, second = world.state.pull("swi-1"), world.state.pull("swi-2")
    assert first is not None
    assert second is not None
    world.merge(first.number)

    Runner(world).step()

    assert [pull.base for pull in world.pulls if pull.number == second.number] == ["main"]


def test_a_view_that_people_insist_on_is_repaired_once_and_then_left_alone() -> None:
    world = waiting_item()
    view = "cogworks:node:spec"
    repaired = []
    for times in range(3):
        world.now += timedelta(minutes=1)
        world.labels.remove(view)
        world.label_events.append(
            LabelEvent(id=f"off-{times}", label=view, added=False, actor=ANN, created_at=world.now)
        )
        Runner(world).step()
        repaired.append(view in world.labels)
        world.labels = [*{*world.labels, view}]

    assert repaired == [True, False, False]
    quiet = Runner(world)
    quiet.step()
    assert quiet.calls == ["read"]


def test_a_cancelled_item_says_so_once_and_stays_so_until_it_is_restarted() -> None:
    world = after(2)
    world.say("/cogworks cancel")
    runner = Runner(world)

    report = runner.step()
    second = Runner(world).step()

    assert runner.calls == ["read", "permissions", "claim", "publish post_comment", "answered", "show"]
    assert "forget run-1" in runner.said
    assert (report.outcome, second.outcome) == ("succeeded", "done")
    assert second.message == "the item was cancelled; comment `/cogworks restart` to begin anew"
    assert world.state.status == "cancelled"
    assert [body.splitlines()[1].split(".")[0] for body in world.own_comments()[1:]] == ["Cancelled by ann"]
    assert world.own_comments()[0].splitlines()[1] == "### cogworks · cancelled"


def test_a_cancel_ends_the_lease_of_a_live_runner_which_then_effects_nothing() -> None:
    world = after(2)
    said = False

    def cancel_in_between(call: str) -> None:
        nonlocal said
        if call == "publish commit_files" and not said:
            said = True
            world.say("/cogworks cancel")
            Runner(world, name="other").step()

    report = Runner(world, turn=cancel_in_between).step()

    assert report.outcome == "backed_off"
    assert (world.state.status, world.state.leases) == ("cancelled", ())


@pytest.mark.parametrize("by_label", [False, True], ids=["command", "label"])
def test_a_restart_begins_a_new_run_that_adopts_nothing(by_label: bool) -> None:
    world = after(3)
    old = world.state
    if by_label:
        world.set_label("cogworks:restart", "e9")
    else:
        world.say("/cogworks restart")
    runner = Runner(world, run_id="run-2")

    report = runner.step()

    assert report.node == "spec"
    assert "forget run-1" in runner.said
    state = world.state
    assert (state.run_id, state.run_number) == ("run-2", 2)
    assert [visit.index for visit in state.visits] == [old.next_index()]
    assert state.earlier.spend == old.spent
    assert state.status_comment is not None
    assert old.status_comment is not None
    assert state.status_comment.node_id == old.status_comment.node_id
    assert world.pulls[-1].head == "cogworks/7/spec-r2"
    until_done(world)
    assert len(world.own_comments()) == 1


def test_a_cancelled_item_restarts_although_the_cancel_label_is_still_there() -> None:
    world = after(2)
    world.set_label("cogworks:cancel", "e2")
    Runner(world).step()
    assert world.state.status == "cancelled"
    world.now += timedelta(seconds=5)
    world.say("/cogworks restart")

    assert Runner(world, run_id="run-2").step().node == "spec"


def test_a_trigger_set_by_a_stranger_starts_nothing_and_costs_no_write() -> None:
    world = World(permissions={})
    runner = Runner(world)

    report = runner.step()

    assert (report.outcome, runner.calls, world.writes) == ("usage_error", ["read", "permissions"], [])


def test_a_label_set_by_a_stranger_in_mid_run_is_named_and_ignored() -> None:
    world = waiting_item()
    world.set_label("cogworks:hold", "e2", by=EVE)

    report = Runner(world).step()

    assert report.waiting_for[0].kind == "merge"
    assert (
        "The label `cogworks:hold` does not count: eve set it without write permission."
        in world.own_comments()[0]
    )
    assert Runner(world).step().outcome == "waiting"


def test_an_item_can_be_started_by_a_command_alone() -> None:
    world = World(labels=[])
    world.label_events.clear()
    world.labels.clear()
    world.say("/cogworks run")

    assert Runner(world).step().node == "spec"
    assert world.state.asked_by == "ann"


def test_an_edited_issue_goes_on_says_so_and_asks_before_it_makes_a_pull_request() -> None:
    world = after(2)
    world.edit("It should multiply.")

    coded = Runner(world).step()
    stopped = Runner(world).step()
    note = "The issue was edited after this run began." in world.own_comments()[0]
    world.say("/cogworks resume the result still serves")

    assert (coded.node, note) == ("code@A", True)
    assert stopped.outcome == "waiting"
    assert stopped.waiting_for[0].paste == "/cogworks resume <why>"
    assert Runner(world).step().node == "ship@A"


def test_a_closed_issue_stops_and_goes_on_when_it_is_reopened() -> None:
    world = after(1)
    world.is_open = False
    assert Runner(world).step().outcome == "usage_error"
    world.is_open = True
    assert Runner(world).step().node == "plan"


def test_a_locked_issue_goes_on_and_says_that_it_is_locked() -> None:
    world = after(1)
    world.is_locked = True

    report = Runner(world).step()

    assert report.node == "plan"
    assert "The issue is locked" in world.own_comments()[0]


def test_commits_of_others_are_kept_and_named() -> None:
    world = after(3)
    [name] = [name for name in world.branches if "swi" in name]
    world.branches[name] = world.branches[name].model_copy(
        update={"message": "Fix it by hand", "oid": "f" * 40}
    )

    Runner(world).step()

    assert f"Branch `{name}` has a commit that cogworks did not push." in world.own_comments()[0]
    assert world.branches[name].oid == "f" * 40


@pytest.mark.parametrize(
    "message",
    ["Fix it by hand", "", f"Fix it\n\n{VISIT_TRAILER}{'a' * 64}"],
    ids=["their-commit", "set-back-to-a-commit-of-ours", "trailer-of-no-visit"],
)
def test_a_branch_that_others_moved_is_reviewed_before_its_pull_request_is_opened(message: str) -> None:
    nodes = [*PIPELINE["pipelines"]["default"]["nodes"]]
    review = {"id": "review", "type": "llm", "scope": "sub-item", "inputs": ["code"], "outputs": ["review"]}
    world = World(
        pipeline=document(
            [*nodes[:3], review, nodes[3]],
            "spec>plan plan>code code>review review>ship",
            parallel_sub_items=False,
        )
    )
    judged: list[str] = []

    def judge(task: NodeTask, ports: NodePorts) -> Outcome:
        judged.append(world.branches[task.branch].oid)
        return Succeeded(output={"passed": True}, summary="fine")

    def step() -> str:
        report = Runner(world, nodes={**NODES, NodeId("review"): judge}).step()
        for wait in report.waiting_for:
            assert wait.number is not None
            world.merge(wait.number)
        return report.node

    assert [step() for _ in range(4)] == ["spec", "plan", "code@A", "review@A"]
    [name] = [name for name in world.branches if "swi-1" in name]
    message = message or world.branches[name].message
    world.branches[name] = Branch(message=message, oid=CommitOid("f" * 40))

    assert [step() for _ in range(2)] == ["review@A", "ship@A"]
    assert judged[-1] == "f" * 40
    assert world.branches[name].oid == "f" * 40


def test_a_deleted_status_comment_is_posted_anew_and_its_id_recorded() -> None:
    world = waiting_item()
    old = world.state.status_comment
    world.comments.clear()
    runner = Runner(world)

    report = runner.step()

    assert runner.calls[:4] == ["read", "claim", "publish post_comment", "answered"]
    assert report.node == "inputs"
    assert world.state.status_comment != old
    assert len(world.own_comments()) == 1
    following = Runner(world)
    assert following.step().outcome == "waiting"
    assert following.calls == ["read"]
    until_done(world)
    assert len(world.own_comments()) == 1


def test_a_reply_that_somebody_deleted_is_not_posted_again() -> None:
    world = waiting_item()
    world.say("/cogworks dance")
    Runner(world).step()
    world.comments = [comment for comment in world.comments if "dance" not in comment.body]
    before, runner = len(world.comments), Runner(world)

    runner.step()

    assert runner.calls == ["read"]
    assert len(world.comments) == before


@pytest.mark.parametrize(
    "is_heard_meanwhile", [True, False], ids=["another-step-hears-it", "nobody-hears-it"]
)
def test_a_hold_by_command_lets_the_running_node_finish_and_starts_no_other(is_heard_meanwhile: bool) -> None:
    world = after(2)
    said = False

    def hold_in_between(call: str) -> None:
        nonlocal said
        if call == "publish commit_files" and not said:
            said = True
            world.say("/cogworks hold not now")
            if is_heard_meanwhile:
                Runner(world, name="other").step()

    report = Runner(world, turn=hold_in_between).step()
    following = Runner(world).step()

    assert (report.node, report.outcome) == ("code@A", "succeeded")
    assert following.message.startswith("ann holds the item (not now)")
    assert world.state.leases == ()


def test_a_ledger_that_is_gone_is_never_taken_for_a_new_item() -> None:
    world = waiting_item()
    world.commits.clear()
    world.files.clear()
    runner = Runner(world)

    with pytest.raises(SafetyHalt, match=r"its ledger is gone: there is no branch `cogworks/ledger/7`"):
        runner.step()
    assert runner.calls == ["read", "permissions"]


def test_a_forged_status_comment_stops_no_item() -> None:
    world = World()
    forged = waiting_item().own_comments()[0]
    world.say(forged, by=EVE)

    assert Runner(world).step().node == "spec"


def test_a_ledger_that_was_set_back_halts_and_names_both_states() -> None:
    world = waiting_item()
    world.merge(world.pulls[0].number)
    kept, files = list(world.commits), dict(world.files)
    Runner(world).step()
    world.commits, world.files = kept, files

    with pytest.raises(SafetyHalt) as caught:
        Runner(world).step()

    assert f"is at {kept[-1].oid} with revision 2, but the status comment shows revision 3" in str(
        caught.value
    )


def set_back(world: World) -> CommitOid:
    """The item waits at its first gate again, although its status comment shows what came after it; the ledger's tip."""
    world.merge(world.pulls[0].number)
    kept, files = list(world.commits), dict(world.files)
    Runner(world).step()
    world.commits, world.files = kept, files
    return kept[-1].oid


def rewritten(world: World, change: Callable[[str], str]) -> None:
    """The program's comments say something else."""
    world.comments = [
        each.model_copy(update={"body": change(each.body)}) if each.author == BOT else each
        for each in world.comments
    ]


def test_a_ledger_that_was_set_back_is_known_by_the_marker_whatever_the_comment_says() -> None:
    world = waiting_item()
    tip = set_back(world)
    rewritten(world, lambda body: body.partition("\n")[0] + "\nRevision 1. Cut short.")

    with pytest.raises(
        SafetyHalt, match=f"is at {tip} with revision 2, but the status comment shows revision 3"
    ):
        Runner(world).step()


def test_a_ledger_that_was_set_back_is_known_by_a_comment_of_an_older_version() -> None:
    world = waiting_item()
    tip = set_back(world)
    rewritten(world, lambda body: re.sub(r" r=\d+ -->", " -->", body))

    with pytest.raises(
        SafetyHalt, match=f"is at {tip} with revision 2, but the status comment shows revision 3"
    ):
        Runner(world).step()


def test_a_line_of_a_model_that_looks_like_our_own_stops_nothing() -> None:
    world = waiting_item()
    line = f"Revision 99. State digest: `{'0' * 64}`"
    # Reasons of failures and names of sub-work-items stand above what we say of the state.
    rewritten(
        world,
        lambda body: re.sub(r" r=\d+ -->", " -->", body).replace("### cogworks", f"{line}\n### cogworks"),
    )

    assert Runner(world).step().outcome == "waiting"


def test_the_comment_of_an_older_version_gets_its_revision_with_the_next_step() -> None:
    world = waiting_item()
    rewritten(world, lambda body: re.sub(r" r=\d+ -->", " -->", body))

    Runner(world).step()

    assert [parse_marker(body).revision for body in world.own_comments()] == [world.state.revision]  # type: ignore[union-attr]  # ours has one


def test_a_status_command_only_gets_eyes() -> None:
    world = waiting_item()
    world.say("/cogworks status")

    Runner(world).step()

    assert world.reactions() == [("EYES",)]


def test_a_receipt_that_could_not_be_given_is_given_by_the_next_step() -> None:
    world = waiting_item()
    world.say("/cogworks status")
    Runner(world, fault=Fault(4, "before", "lost")).step()
    assert world.reactions() == [()]

    Runner(world).step()

    assert world.reactions() == [("EYES",)]


def test_an_answer_whose_outcome_is_unknown_stays_owed_and_is_not_posted_twice() -> None:
    world = waiting_item()
    world.say("/cogworks dance")
    with pytest.raises(TryAgainLater):
        Runner(world, fault=Fault(4, "after", "lost")).step()

    report = Runner(world).step()

    assert report.node == "inputs"
    assert len(world.own_comments()) == 2


def test_two_runners_that_hear_the_same_command_answer_once() -> None:
    world = waiting_item()
    world.say("/cogworks dance")
    other: list[str] = []

    def overtake(call: str) -> None:
        if call == "claim" and not other:
            other.append(call)
            Runner(world, name="faster").step()

    Runner(world, turn=overtake).step()

    assert len(world.own_comments()) == 2
    assert world.state.inputs.times == 2
