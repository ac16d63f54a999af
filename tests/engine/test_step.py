from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from cogworks.engine import consider
from cogworks.engine.consider import NoSuchNode, Wanted
from cogworks.errors import ConfigurationError, NodeFailed, TryAgainLater
from cogworks.ledger.record import LedgerUnreadable, read_state
from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.position import Position, locate
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.settings.config import require_config
from cogworks.vocabulary import IssueNumber, NodeId
from tests.step_fakes import NODES, Fault, Runner, after, undisturbed, until_done
from tests.world import ONE_NODE, PIPELINE, ROOT, World

FIRST_STEP = [
    "read",
    "permissions",
    "item_costs",
    "create_root",
    "create",
    "checkpoint",
    "publish commit_files",
    "publish open_pull_request",
    "publish post_comment",
    "succeeded",
    "show",
]


def test_a_first_step_claims_before_it_runs_and_keeps_what_it_paid_for_before_it_publishes() -> None:
    world = World()
    runner = Runner(world)

    report = runner.step()

    assert runner.calls == FIRST_STEP
    assert report.outcome == "succeeded"
    assert report.node == "spec"
    assert report.visit_key == world.state.visits[0].visit_key
    assert report.spend == Spend(cost_usd=0.1, input_tokens=100, output_tokens=50, model_calls=1)
    assert [wait.ask for wait in report.waiting_for] == [
        f"merge or approve pull request #{world.pulls[0].number}, or close it to reject it"
    ]
    assert report.urls == {
        "issue": "https://github.com/octo-org/adder/issues/7",
        "status_comment": f"https://github.com/octo-org/adder/issues/7#issuecomment-{world.comments[0].database_id}",
        "spec": world.pulls[0].url,
    }


@pytest.mark.parametrize(
    ("visits", "positions"),
    [
        pytest.param(
            0, 3, id="as found, as the first status comment tells it, as recorded with its pull request"
        ),
        pytest.param(1, 2, id="as found, as recorded"),
    ],
)
def test_a_step_computes_where_the_run_stands_once_for_each_state(
    visits: int, positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, computed = Runner(after(visits)), []

    def counted(state: RunState, known: Facts, pipeline: Pipeline) -> Position:
        computed.append(state)
        return locate(state, known, pipeline)

    monkeypatch.setattr("cogworks.pipeline.position.locate", counted)

    runner.step()

    assert len(computed) == positions


def test_a_step_reads_the_ledger_and_the_configuration_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, read = Runner(after(2)), Counter[str]()

    def counted(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*values: Any, **named: Any) -> Any:
            read[name] += 1
            return plain(*values, **named)

        return reading

    monkeypatch.setattr(consider, "read_state", counted("state", read_state))
    monkeypatch.setattr(consider, "require_config", counted("configuration", require_config))

    runner.step()

    assert read == {"state": 1, "configuration": 1}


def test_a_later_step_of_a_model_node_reads_claims_checkpoints_publishes_records_and_shows() -> None:
    runner = Runner(after(2))

    runner.step()

    assert runner.calls == ["read", "claim", "checkpoint", "publish commit_files", "succeeded", "show"]


def test_a_deterministic_node_with_a_pull_request_needs_five_calls() -> None:
    runner = Runner(after(3))

    report = runner.step()

    assert report.node == "ship@A"
    assert runner.calls == ["read", "claim", "publish open_pull_request", "succeeded", "show"]


def test_an_item_that_waits_is_read_once_and_not_written() -> None:
    world = World()
    Runner(world).step()
    written = list(world.writes)
    runner = Runner(world)

    report = runner.step()

    assert (report.outcome, runner.calls, world.writes) == ("waiting", ["read"], written)


def test_a_finished_item_is_read_once_and_not_written() -> None:
    world = undisturbed()
    written, runner = list(world.writes), Runner(world)

    report = runner.step()

    assert (report.outcome, runner.calls, world.writes) == ("done", ["read"], written)


def test_a_finished_item_keeps_its_views_when_the_repository_changes_its_pipeline() -> None:
    world = undisturbed()
    world.pipeline = ONE_NODE
    runner = Runner(world)

    report = runner.step()

    assert (report.outcome, runner.calls) == ("done", ["read"])


def test_a_view_that_somebody_changed_is_repaired_without_touching_the_ledger() -> None:
    world = World()
    Runner(world).step()
    world.labels.remove("cogworks:awaiting-review")
    world.labels.append("cogworks:node:plan")
    commits, runner = list(world.commits), Runner(world)

    runner.step()

    assert runner.calls == ["read", "show"]
    assert sorted(world.labels) == ["cogworks:awaiting-review", "cogworks:node:spec", "cogworks:run"]
    assert world.commits == commits


def test_a_held_item_says_so_and_goes_on_when_the_label_is_gone() -> None:
    world = after(1)
    world.labels.append("cogworks:hold")
    runner = Runner(world)

    report = runner.step()

    assert report.message == "remove the hold label when the item may go on (a maintainer)"
    assert runner.calls == ["read", "obeyed", "show"]
    assert "stopped by a label" in world.comments[0].body
    again = Runner(world)
    assert (again.step().outcome, again.calls) == ("waiting", ["read"])
    world.labels.remove("cogworks:hold")
    assert Runner(world).step().node == "plan"


def test_a_held_item_whose_pipeline_changed_is_left_alone() -> None:
    world = after(1)
    world.labels.append("cogworks:hold")
    world.pipeline = ONE_NODE
    runner = Runner(world)

    assert (runner.step().outcome, runner.calls) == ("waiting", ["read", "obeyed"])
    assert "Cogworks-Waits-For: label" in world.commits[-1].message


def test_a_changed_pipeline_stops_the_item_and_the_status_comment_tells_once() -> None:
    world = after(1)
    world.pipeline = ONE_NODE
    first, second = Runner(world), Runner(world)

    report = first.step()
    second.step()

    assert report.outcome == "configuration_error"
    assert "the pipeline 'default' changed since this run began" in world.comments[0].body
    assert (first.calls, second.calls) == (["read", "show"], ["read"])


def test_a_malformed_file_is_told_once_in_the_status_comment_and_nothing_else_is_written() -> None:
    world = after(1)
    world.config = "[llm]\nmodle = 'x'\n"
    writes = len(world.writes)

    for _ in range(2):
        with pytest.raises(ConfigurationError, match="did you mean `model`"):
            Runner(world).step()

    assert world.writes[writes:] == ["edit_comment"]
    assert "did you mean `model`" in world.comments[0].body


@pytest.mark.parametrize("wanted", ["nonsense", "plan@Z"])
def test_a_node_that_does_not_exist_is_the_operators_slip_and_not_shown_on_the_issue(wanted: str) -> None:
    world = after(1)
    runner = Runner(world)

    with pytest.raises(NoSuchNode):
        runner.step(Wanted(node=wanted))

    assert runner.calls == ["read"]


def test_a_node_that_is_not_ready_is_the_operators_slip_and_not_shown_on_the_issue() -> None:
    runner = Runner(after(1))

    report = runner.step(Wanted(node="spec"))

    assert report.outcome == "usage_error"
    assert report.message == "node spec cannot start: it is succeeded. Ready now: plan."
    assert runner.calls == ["read"]


def test_a_ledger_of_another_version_is_never_written() -> None:
    world = after(1)
    world.files["state.json"] = '{"schema_version": "9"}'
    runner = Runner(world)

    with pytest.raises(LedgerUnreadable, match="schema version '9'"):
        runner.step()

    assert runner.calls == ["read"]


def test_a_first_claim_that_died_between_branch_and_commit_is_made_again() -> None:
    world = World(root=ROOT)
    world.empty_ledger()
    runner = Runner(world)

    report = runner.step()

    assert report.outcome == "succeeded"
    assert runner.calls[:4] == ["read", "permissions", "item_costs", "claim"]


def test_a_merged_pull_request_that_github_no_longer_shows_is_read_by_its_id() -> None:
    world = World()
    Runner(world).step()
    world.merge(world.pulls[0].number)
    world.hidden_pulls = {world.pulls[0].number}
    runner = Runner(world)

    report = runner.step()

    assert report.node == "plan"
    assert runner.calls[:3] == ["read", "complete", "claim"]


def test_a_node_that_fails_is_recorded_and_told_and_runs_again_when_the_trigger_is_set_again() -> None:
    world = World()

    def give_up(task: NodeTask, ports: NodePorts) -> Outcome:
        raise NodeFailed("the issue asks for two opposite things")

    report = Runner(world, nodes={NodeId("spec"): give_up}).step()
    again = Runner(world)

    assert report.outcome == "failed"
    assert "cogworks:node:failed" in world.labels
    assert "**spec:** the issue asks for two opposite things" in world.comments[0].body
    assert "Remove the label `cogworks:run` and set it again" in world.comments[0].body
    assert (again.step().outcome, again.calls) == ("failed", ["read"])
    world.set_label("cogworks:run", "e2")
    assert Runner(world).step().outcome == "succeeded"
    assert [(v.ordinal, v.status, v.is_discarded) for v in world.state.visits] == [
        (1, "failed", True),
        (2, "succeeded", False),
    ]
    assert "cogworks:node:failed" not in world.labels


def test_a_node_without_a_procedure_fails_with_the_names_that_there_are() -> None:
    report = Runner(World(), nodes={NodeId("plan"): NODES[NodeId("plan")]}).step()

    assert report.message == "spec: node 'spec' has no procedure in this version; there are: plan"


def test_a_budget_that_is_used_up_stops_the_item_before_the_next_claim() -> None:
    world = after(1)
    world.config += "[budgets]\npipeline_max_cost_dollars = 0.1\n"
    runner = Runner(world)

    report = runner.step()

    assert report.outcome == "budget_reached"
    assert report.message.startswith("budget: 0.10 of 0.10 USD is spent or reserved; raise `budgets.")
    assert "claim" not in runner.calls


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda world: world.labels.append("cogworks:hold"), "the label 'cogworks:hold' was set"),
        (lambda world: setattr(world, "is_open", False), "the issue was closed"),
    ],
    ids=["hold", "closed"],
)
def test_a_person_who_stops_the_item_while_its_node_runs_is_obeyed_before_anything_is_published(
    change: object, message: str
) -> None:
    world = after(2)
    assert callable(change)

    def stop_it(task: NodeTask, ports: NodePorts) -> Outcome:
        change(world)
        return NODES[NodeId("code")](task, ports)

    writes = list(world.writes)
    runner = Runner(world, nodes={NodeId("code"): stop_it})

    report = runner.step()

    assert report.outcome == "backed_off"
    assert report.message.startswith(message)
    assert runner.calls == ["read", "claim", "checkpoint", "released"]
    assert world.writes == writes
    assert (world.state.leases, len(world.state.given_back)) == ((), 1)
    world.is_open = True
    world.labels = [name for name in world.labels if name != "cogworks:hold"]
    until_done(world)
    assert world.paid == Counter({"spec-1": 1, "plan-1": 1, "code@A-1": 1, "code@B-1": 1})


def test_ctrl_c_gives_the_visit_back_at_once() -> None:
    world = after(1)
    runner = Runner(world, fault=Fault(4, "before", "interrupt"))

    with pytest.raises(KeyboardInterrupt):
        runner.step()

    assert runner.calls[-1] == "released"
    assert Runner(world, name="next").step().node == "plan"
    assert world.paid["plan-1"] == 1


@pytest.mark.parametrize("error", [RecursionError("too deep"), OSError("no room"), KeyboardInterrupt()])
def test_whatever_fails_between_the_claim_and_the_visit_leaves_no_lease_behind(error: BaseException) -> None:
    def fail() -> None:
        raise error

    world = after(1)
    world.say("/cogworks restart")
    runner = Runner(world, run_id="run-2", forgetting=fail)

    with pytest.raises(type(error)):
        runner.step()

    assert runner.calls[-1] == "released"
    assert (world.state.run_id, world.state.leases) == ("run-2", ())
    assert Runner(world, name="next").step().outcome == "succeeded"


def test_a_visit_that_was_given_back_keeps_its_key_although_another_node_ran_meanwhile() -> None:
    world = World(pipeline={"pipelines": {"default": {**PIPELINE["pipelines"]["default"], "settings": {}}}})
    for _ in range(2):
        for wait in Runner(world).step().waiting_for:
            world.merge(wait.number or IssueNumber(0))
    with pytest.raises(TryAgainLater):
        Runner(world, fault=Fault(5, "before", "lost")).step()
    key = world.state.given_back[0].visit_key

    until_done(world)

    assert [v.visit_key for v in world.state.visits if v.instance == (NodeId("code"), "A")] == [key]
    assert world.twice() == []
    assert world.paid["code@A-1"] == 1


def test_a_runner_that_lost_its_lease_publishes_nothing() -> None:
    world = after(1)
    thief = Runner(world, name="thief")
    sleeper = Runner(world, name="sleeper")

    def oversleep(task: NodeTask, ports: NodePorts) -> Outcome:
        outcome = NODES[NodeId("plan")](task, ports)
        world.now += timedelta(seconds=300)
        sleeper.clock_s += 300
        assert thief.step().outcome == "succeeded"
        return outcome

    sleeper.nodes = {NodeId("plan"): oversleep}

    report = sleeper.step()

    assert report.outcome == "backed_off"
    assert report.message == "another runner took over plan, so the result of this one was thrown away."
    assert sleeper.calls == ["read", "claim", "checkpoint", "tip"]
    assert world.twice() == []


@pytest.mark.parametrize(("asleep_at", "lost_at"), [("claim", "checkpoint"), ("checkpoint", "checkpoint")])
def test_a_runner_that_was_stopped_while_an_answer_was_on_its_way_publishes_nothing(
    asleep_at: str, lost_at: str
) -> None:
    world = after(1)
    thief = Runner(world, name="thief")
    sleeper = Runner(world, name="sleeper")

    def oversleep(what: str) -> None:
        if what == asleep_at and not thief.calls:
            world.now += timedelta(seconds=300)
            sleeper.clock_s += 300
            assert thief.step().outcome == "succeeded"

    sleeper.pause = oversleep

    report = sleeper.step()

    assert report.outcome == "backed_off"
    assert sleeper.calls[-2:] == [lost_at, "tip"]
    assert world.twice() == []


def test_a_lost_claim_is_tried_three_times_and_then_left() -> None:
    world = after(1)
    runner = Runner(world)

    def somebody_moves(what: str) -> None:
        if what == "claim":
            world.commits.append(world.commits[-1].model_copy(update={"oid": world.oid()}))

    runner.turn = somebody_moves

    report = runner.step()

    assert report.outcome == "backed_off"
    assert report.message.endswith("other runners moved the ledger 3 times in a row; nothing was done.")
    assert runner.calls == ["read", "claim"] * 3
    assert runner.naps_s == [2.0, 2.0]


def test_views_that_cannot_be_shown_fail_nothing_and_the_next_step_shows_them() -> None:
    world = World()
    runner = Runner(world, fault=Fault(len(FIRST_STEP), "before", "lost"))

    report = runner.step()

    assert (report.outcome, report.warnings) == ("succeeded", ("no answer came",))
    assert "cogworks:awaiting-review" not in world.labels
    Runner(world).step()
    assert "cogworks:awaiting-review" in world.labels
