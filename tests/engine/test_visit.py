import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from cogworks.engine.consider import Wanted
from cogworks.engine.ports import Session, SessionOrder
from cogworks.engine.remember import replies_in
from cogworks.engine.step import take_step
from cogworks.errors import BudgetReached, InvalidReply, TryAgainLater
from cogworks.forge.effects import CreateSubIssue
from cogworks.ledger.record import LedgerUnreadable
from cogworks.llm.gateway import PromptManifest, ReplyRecord
from cogworks.llm.provider import BROKEN_OFF
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import NodeId, SubItemKey
from tests.fakes import finished
from tests.pipeline.graphs import document, edge
from tests.step_fakes import NODES, Died, Fault, Runner, Said
from tests.world import ADDRESS, ANN, ONE_NODE, World

PLAN = NodeId("plan")


def planning() -> World:
    """An item whose specification is merged."""
    world = World()
    Runner(world).step()
    world.merge(world.pulls[0].number)
    return world


def thrice(task: NodeTask, ports: NodePorts) -> Outcome:
    """Asks three times, then plans."""
    for number in range(3):
        ports.model.ask("any", {}, Said, purpose=f"thought-{number}")
    return Succeeded(output={"sub_work_items": []}, summary="three thoughts")


def test_replies_are_found_by_their_request_and_nothing_else_is_one() -> None:
    world = planning()
    folder = "visits/0001-spec"

    found = replies_in(folder, world.files)

    assert {key: reply.text for key, reply in found.items()} == {"spec-1": "spec-1, answer 1"}
    assert replies_in("visits/0002-plan", world.files) == {}


def test_what_came_of_a_reply_that_broke_off_answers_nothing() -> None:
    records = [
        ReplyRecord(
            request_key="k", purpose="p", reply=finished(text, stop_reason=why), cost_usd=Decimal(0),
            manifest=PromptManifest(
                template="t", template_sha256="", system_sha256="", messages_sha256="", schema_sha256=""
            ),
        )
        for text, why in (("whole", "end_turn"), ("wh", BROKEN_OFF))
    ]  # fmt: skip
    files = {f"visits/1/reply-{place}.json": each.model_dump_json() for place, each in enumerate(records)}

    assert replies_in("visits/1", files) == {"k": records[0].reply}


def test_a_reply_that_cannot_be_read_is_named() -> None:
    with pytest.raises(
        LedgerUnreadable, match=r"`visits/0001-spec/reply-1.json` of the item's ledger is not"
    ):
        replies_in("visits/0001-spec", {"visits/0001-spec/reply-1.json": "{}"})


def test_money_beyond_the_limit_is_told_to_the_ledger_at_once() -> None:
    world = planning()
    world.config += "[ledger]\ncheckpoint_usd = 0.15\n"
    runner = Runner(world, nodes={PLAN: thrice})

    runner.step()

    assert runner.calls == ["read", "claim", "checkpoint", "succeeded", "show"]
    assert world.state.visits[-1].spend.model_calls == 3
    assert [name for name in sorted(world.files) if "reply" in name] == [
        "visits/0001-spec/reply-1.json",
        "visits/0002-plan/reply-1.json",
        "visits/0002-plan/reply-2.json",
        "visits/0002-plan/reply-3.json",
    ]


def test_a_hold_that_such_a_checkpoint_sees_ends_the_visit_before_it_pays_again() -> None:
    world = planning()
    world.config += "[ledger]\ncheckpoint_usd = 0.05\n"
    held = Runner(world, nodes={PLAN: thrice})
    held.turn = lambda what: world.labels.append("cogworks:hold") if what == "checkpoint" else None

    report = held.step()

    assert report.outcome == "backed_off"
    assert held.calls == ["read", "claim", "checkpoint", "released"]
    (left,) = world.state.given_back
    assert left.stopped_because == report.message
    assert world.paid.total() == 2
    world.labels.remove("cogworks:hold")
    Runner(world, nodes={PLAN: thrice}).step()
    assert dict(world.paid) == {"spec-1": 1, "thought-0": 1, "thought-1": 1, "thought-2": 1}


def test_a_node_may_have_its_reply_put_into_the_ledger_at_once() -> None:
    def careful(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.model.ask("thought", {}, Said, purpose="thought-0")
        ports.checkpoint()
        seen.append(sorted(name for name in world.files if name.startswith("visits/0002")))
        return Succeeded(output={"text": "done"}, summary="done")

    seen: list[list[str]] = []
    world = planning()
    runner = Runner(world, nodes={PLAN: careful})

    runner.step()

    assert runner.calls[:3] == ["read", "claim", "checkpoint"]
    assert seen == [["visits/0002-plan/manifest-1.json", "visits/0002-plan/reply-1.json"]]


def test_a_runner_that_takes_over_is_handed_the_replies_that_are_paid_for() -> None:
    world = planning()
    world.config += "[ledger]\ncheckpoint_usd = 0.15\n"
    with pytest.raises(Died):
        Runner(world, nodes={PLAN: thrice}, fault=Fault(4, "before", "death")).step()

    report = Runner(world, nodes={PLAN: thrice}).step(Wanted(take_over=True))

    # The third reply was never told to the ledger.
    assert dict(world.paid) == {"spec-1": 1, "thought-0": 1, "thought-1": 1, "thought-2": 2}
    assert report.spend.model_calls == 1
    assert "visits/0002-plan/reply-3.json" in world.files


def test_a_runner_that_takes_over_keeps_the_record_of_a_reply_that_broke_off() -> None:
    world = planning()
    world.config += "[ledger]\ncheckpoint_usd = 0.15\n"
    with pytest.raises(Died):
        Runner(world, nodes={PLAN: thrice}, fault=Fault(4, "before", "death")).step()
    broken = json.loads(world.files["visits/0002-plan/reply-2.json"])
    broken["reply"]["stop_reason"] = BROKEN_OFF
    world.files["visits/0002-plan/reply-2.json"] = json.dumps(broken)

    Runner(world, nodes={PLAN: thrice}).step(Wanted(take_over=True))

    replies = {
        name.removeprefix("visits/0002-plan/"): json.loads(text)
        for name, text in world.files.items()
        if name.startswith("visits/0002-plan/reply-")
    }
    assert replies["reply-2.json"] == broken
    assert [replies[f"reply-{number}.json"]["purpose"] for number in (1, 2, 3, 4)] == [
        "thought-0", "thought-1", "thought-1", "thought-2",
    ]  # fmt: skip


def test_a_takeover_looks_again_before_it_publishes() -> None:
    world = planning()
    with pytest.raises(Died):
        Runner(world, fault=Fault(5, "before", "death")).step()
    heir = Runner(world)

    heir.step(Wanted(take_over=True))

    assert heir.calls[:3] == ["read", "claim", "read"]
    assert world.twice() == []


def test_what_a_dead_runner_published_after_the_heirs_first_look_is_adopted() -> None:
    world = planning()
    with pytest.raises(Died):
        Runner(world, fault=Fault(4, "before", "death")).step()
    late = CreateSubIssue(
        key=SubItemKey("A"), title="A", body="Do it.", visit_key=world.state.leases[0].visit_key
    )
    heir = Runner(world)
    heir.turn = lambda what: world.do(late) if what == "claim" else None

    heir.step(Wanted(take_over=True))

    assert len(world.sub_issues) == 2
    assert world.twice() == []


def test_a_long_visit_makes_sure_of_its_lease_before_it_publishes() -> None:
    world = planning()
    for _ in range(2):
        Runner(world).step()
    runner = Runner(world)

    def slow(task: NodeTask, ports: NodePorts) -> Outcome:
        runner.clock_s += 100
        return NODES[NodeId("ship")](task, ports)

    runner.nodes = {NodeId("ship"): slow}
    runner.step()

    assert runner.calls == ["read", "claim", "checkpoint", "publish open_pull_request", "succeeded", "show"]
    assert world.state.visits[-1].duration_s == 100.0


def test_a_visit_that_publishes_nothing_is_not_renewed_for_it() -> None:
    world = planning()
    runner = Runner(world, nodes={PLAN: thrice})

    runner.step()

    assert runner.calls == ["read", "claim", "succeeded", "show"]


def test_the_record_says_what_the_item_waits_for_so_that_a_poll_needs_no_state() -> None:
    world = World()

    Runner(world).step()

    number, head = world.pulls[0].number, world.pulls[0].head_oid
    assert f"\nCogworks-Waits-For: merge {number}@{head}\n" in world.commits[-1].message


def test_a_record_and_its_folder_tell_the_same_end() -> None:
    graph = document(
        [{"id": "a", "type": "llm", "outputs": ["x"]}, {"id": "b", "type": "llm"}],
        [edge("a>b", condition={"expr": "x.ok == true"})],
    )
    world = World(pipeline=graph)

    def undecided(task: NodeTask, ports: NodePorts) -> Outcome:
        return Succeeded(output={"ok": False}, summary="not ok")

    report = Runner(world, nodes={NodeId("a"): undecided}).step()

    record = json.loads(world.files["visits/0001-a/visit.json"])
    assert report.outcome == "failed"
    assert (record["status"], world.state.visits[0].status) == ("failed", "failed")
    assert world.commits[-1].message.startswith("cogworks: a failed [skip ci]")
    assert json.loads(world.files["visits/0001-a/output.json"]) == {"ok": False}


@pytest.mark.parametrize(
    ("outcome", "kept"),
    [
        (Failed(reason="no", category="escalated", output={"type": "question"}), {"type": "question"}),
        (Failed(reason="no", category="escalated"), None),
    ],
    ids=["with-output", "without"],
)
def test_what_a_failure_left_is_kept_for_people(outcome: Failed, kept: dict[str, str] | None) -> None:
    world = World()

    Runner(world, nodes={NodeId("spec"): lambda *_: outcome}).step()

    text = world.files.get("visits/0001-spec/output.json")
    assert (json.loads(text) if text else None) == kept
    assert world.state.visits[0].has_output is False


def test_a_reply_that_never_fitted_fails_the_node() -> None:
    def confused(task: NodeTask, ports: NodePorts) -> Outcome:
        raise InvalidReply("spec-1: no reply fitted its schema")

    world = World()

    report = Runner(world, nodes={NodeId("spec"): confused}).step()

    assert (report.outcome, report.message) == ("failed", "spec: spec-1: no reply fitted its schema")
    assert world.state.visits[0].status == "failed"


def test_an_outage_gives_the_visit_back_and_is_told() -> None:
    def cut_off(task: NodeTask, ports: NodePorts) -> Outcome:
        raise TryAgainLater("the model provider is out of order")

    world = World()

    with pytest.raises(TryAgainLater, match="out of order"):
        Runner(world, nodes={NodeId("spec"): cut_off}).step()

    assert (world.state.visits, world.state.leases) == ((), ())
    assert Runner(world).step().outcome == "succeeded"
    assert world.state.visits[0].attempt == 1


def test_a_budget_that_a_node_reaches_is_shown_and_the_visit_goes_on_when_it_is_raised() -> None:
    world = planning()

    def dear(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.model.ask("any", {}, Said, purpose="thought-0")
        raise BudgetReached("budget: this call needs up to 0.31 USD")

    with pytest.raises(BudgetReached):
        Runner(world, nodes={PLAN: dear}).step()

    assert "budget: this call needs up to 0.31 USD" in world.comments[0].body
    assert (world.state.leases, world.state.given_back[0].spent.cost_usd) == ((), 0.1)
    Runner(world, nodes={PLAN: thrice}).step()
    assert world.paid["thought-0"] == 1
    assert world.state.visits[-1].spend.cost_usd == 0.3


def test_a_bug_in_a_node_gives_the_visit_back_too() -> None:
    def broken(task: NodeTask, ports: NodePorts) -> Outcome:
        raise ZeroDivisionError

    world = planning()

    with pytest.raises(ZeroDivisionError):
        Runner(world, nodes={PLAN: broken}).step()

    assert world.state.leases == ()


def orders_of(world: World, wanted: Wanted | None = None) -> list[SessionOrder]:
    """What sessions one step opened."""
    runner, orders = Runner(world), []
    ports = runner.ports()

    @contextmanager
    def session(order: SessionOrder) -> Iterator[Session]:
        orders.append(order)
        with ports.visit.session(order) as opened:
            yield opened

    take_step(replace(ports, visit=replace(ports.visit, session=session)), ADDRESS, wanted or Wanted())
    return orders


def test_a_session_is_given_what_is_left_of_the_budget_and_the_repositorys_files() -> None:
    world = planning()
    world.config += "[budgets]\npipeline_max_cost_dollars = 2.0\npipeline_max_tokens = 1000\n"
    world.more_files = {"prompts/plan.md.j2": "Plan it.", "constitution.md": "Be kind."}

    [order] = orders_of(world)

    assert (order.budget_usd, order.budget_tokens) == (1.9, 850)
    assert order.files["prompts/plan.md.j2"] == "Plan it."
    assert (order.run_id, order.task.visit.node, order.memory) == ("run-1", "plan", {})


@pytest.mark.parametrize(
    ("tables", "asked"),
    [
        ("", "claude-sonnet-5-5"),
        ('[llm.nodes.plan]\nmodel = "of-the-node"\n', "of-the-node"),
        ('[llm.nodes.spec]\nmodel = "of-another"\n', "claude-sonnet-5-5"),
        ('[llm.lanes.default]\nmodel = "of-the-lane"\n', "of-the-lane"),
        ('[llm.lanes.other]\nmodel = "of-another"\n', "claude-sonnet-5-5"),
        ('[llm.lanes.default]\nmodel = "l"\n[llm.nodes.plan]\nmodel = "of-the-node"\n', "of-the-node"),
    ],
    ids=["usual", "node", "other-node", "lane", "other-lane", "node-before-lane"],
)
def test_a_node_asks_the_model_that_is_named_for_it_or_its_lane(tables: str, asked: str) -> None:
    world = planning()
    world.config += tables

    [order] = orders_of(world)

    assert order.config.llm.model == asked


def test_what_other_runners_reserved_is_not_theirs_to_spend() -> None:
    parallel = document(
        [
            {"id": "spec", "type": "llm", "outputs": ["s"], "evaluation": "all-matching"},
            {"id": "plan", "type": "llm", "outputs": ["p"]},
            {"id": "code", "type": "llm", "outputs": ["c"]},
        ],
        "spec>plan spec>code",
    )
    world = World(pipeline=parallel)
    world.config += "[budgets]\npipeline_max_cost_dollars = 2.0\n"

    def simple(task: NodeTask, ports: NodePorts) -> Outcome:
        return Succeeded(output={}, summary="done")

    Runner(world, nodes={NodeId("spec"): simple}).step()
    with pytest.raises(Died):
        Runner(world, name="other", nodes={PLAN: simple}, fault=Fault(3, "before", "death")).step()

    [order] = orders_of(world)

    assert order.task.visit.node == "code"
    assert order.budget_usd == 1.5


def test_a_retry_starts_without_the_replies_of_the_visit_that_failed() -> None:
    world = World(pipeline=ONE_NODE)

    def fails(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.model.ask("any", {}, Said, purpose="thought-0")
        return Failed(reason="no", category="escalated")

    Runner(world, nodes={PLAN: fails}).step()
    world.set_label("cogworks:run", "e2")
    world.now += timedelta(seconds=1)

    [order] = orders_of(world)

    assert (order.task.visit.ordinal, order.task.visit.index, order.memory) == (2, 2, {})


def test_a_file_that_a_node_keeps_is_in_its_folder_also_when_the_visit_is_given_back() -> None:
    world = planning()

    def keeps(task: NodeTask, ports: NodePorts) -> Outcome:
        ports.keep("events-1.ndjson", "one line\n")
        raise TryAgainLater("the provider is down")

    with pytest.raises(TryAgainLater):
        Runner(world, nodes={PLAN: keeps}).step()

    assert world.files["visits/0002-plan/events-1.ndjson"] == "one line\n"


def walls_wanted(world: World) -> tuple[list[bool], list[str]]:
    """What a node is told of isolation, asked twice, and the calls of its step."""
    told: list[bool] = []

    def plans(task: NodeTask, ports: NodePorts) -> Outcome:
        order: SessionOrder = ports.order  # type: ignore[attr-defined]  # of the fakes only
        told.extend([order.needs_walls(), order.needs_walls()])
        return Succeeded(output={"sub_work_items": []}, summary="planned")

    runner = Runner(world, nodes={PLAN: plans})
    runner.step()
    return told, runner.calls


def test_the_node_of_an_item_by_a_writer_needs_no_walls() -> None:
    world = planning()
    world.permissions[ANN.login] = "write"

    assert walls_wanted(world)[0] == [False, False]


def test_the_node_of_an_item_by_a_stranger_needs_walls() -> None:
    world = planning()
    world.permissions[ANN.login] = "read"

    assert walls_wanted(world)[0] == [True, True]
