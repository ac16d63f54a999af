"""Whole steps of a run in which a model says where a node leads, on a GitHub in memory."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from cogworks.engine.consider import ReadItem, Wanted, configured, consider
from cogworks.errors import BudgetReached, CogworksError, InvalidReply, PermissionRefused, TryAgainLater
from cogworks.ledger.invariants import check_graph, check_visits
from cogworks.ledger.visit_folders import check_folders
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.elements import ConditionAnswer
from cogworks.pipeline.explanation import explain
from cogworks.pipeline.transitions import settle
from cogworks.vocabulary import NodeId, RunId
from tests.pipeline.graphs import document, edge
from tests.step_fakes import Died, Fault, Runner
from tests.world import World

QUESTION = "The change is risky"


def graph(*edges: Mapping[str, Any], **node: Any) -> dict[str, Any]:
    """`draft` leads to `careful` or to `quick`."""
    draft = {"id": "draft", "type": "llm", "outputs": ["text"], "evaluation": "first-matching", **node}
    ends = [{"id": each, "type": "deterministic", "outputs": [each]} for each in ("careful", "quick")]
    ways = edges or (
        edge("draft>careful", condition={"llm": QUESTION, "fallback": True}),
        edge("draft>quick"),
    )
    return document([draft, *ends], list(ways))


def draft(task: NodeTask, ports: NodePorts) -> Outcome:
    return Succeeded(output={"size": 3, "again": task.visit.ordinal == 1}, summary="drafted")


def end(task: NodeTask, ports: NodePorts) -> Outcome:
    return Succeeded(output={}, summary="ended")


NODES = {NodeId("draft"): draft, NodeId("careful"): end, NodeId("quick"): end}


def runner(world: World, name: str = "runner", **fields: Any) -> Runner:
    return Runner(world, name=name, nodes=NODES, **fields)


def visited(world: World) -> list[tuple[str, str, bool]]:
    return [(visit.node, visit.status, visit.is_discarded) for visit in world.state.visits]


def raising(error: CogworksError) -> Callable[[str], Mapping[str, Any]]:
    def judge(question: str) -> Mapping[str, Any]:
        raise error

    return judge


def test_a_condition_for_a_model_is_decided_in_a_visit_of_its_own() -> None:
    world = World(pipeline=graph())

    first = runner(world).step()
    undecided = dict(world.state.marks)
    second = runner(world, judge=lambda _: {"answer": "no", "reason": "It is three lines."}).step()

    assert (first.node, undecided) == ("draft", {})
    assert (second.outcome, second.node) == ("succeeded", "draft-routing")
    assert second.message == "draft-routing: 1 question(s) asked; draft_to_quick holds"
    assert world.state.marks == {"draft_to_careful": "not_taken", "draft_to_quick": "taken"}
    assert world.state.visits[-1].answers == (
        ConditionAnswer(
            question=QUESTION, answer=False, why="It is three lines.", model_id="claude-sonnet-5-5"
        ),
    )
    assert runner(world).step().node == "quick"
    assert world.state.status == "done"
    assert sum(world.paid.values()) == 1


def test_what_was_looked_at_is_kept_beside_the_visit_and_told_in_its_commit() -> None:
    first = edge(
        "draft>careful",
        condition={"all": [{"expr": "text.size > 2"}, {"llm": QUESTION, "fallback": True}]},
    )
    world = World(pipeline=graph(first, edge("draft>quick")))

    for _ in range(2):
        runner(world).step()

    kept = json.loads(world.files["visits/0002-draft-routing/edges.json"])
    assert [(each["edge_id"], each["result"]) for each in kept] == [("draft_to_careful", True)]
    assert kept[0]["input_snapshot"] == {"text.size": 3}
    assert kept[0]["evaluator"] == {"kind": "Composite", "model_id": "claude-sonnet-5-5"}
    assert kept[0]["answers"][0]["question"] == QUESTION
    assert "visits/0001-draft/edges.json" not in world.files
    assert "\nEdges: draft_to_careful=true(model)\n" in world.commits[-1].message
    assert json.loads(world.files["visits/0001-draft/view.json"])["text"] == {"again": True, "size": 3}


def test_expressions_that_settle_it_ask_no_model() -> None:
    first = edge(
        "draft>careful",
        condition={"all": [{"expr": "text.size > 5"}, {"llm": QUESTION, "fallback": True}]},
    )
    world = World(pipeline=graph(first, edge("draft>quick")))

    assert [runner(world).step().node for _ in range(2)] == ["draft", "quick"]
    kept = json.loads(world.files["visits/0001-draft/edges.json"])
    assert [(each["edge_id"], each["result"]) for each in kept] == [
        ("draft_to_careful", False),
        ("draft_to_quick", True),
    ]
    assert not world.paid


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        (raising(TryAgainLater("no answer in time", is_timeout=True)), "timeout"),
        (raising(TryAgainLater("503")), "api_error"),
        (raising(InvalidReply("never fitted")), "unparseable"),
        (lambda _: {"answer": "unclear", "reason": "Nothing is said of it."}, "ambiguous"),
    ],
    ids=["timeout", "api_error", "unparseable", "ambiguous"],
)
def test_without_a_usable_answer_the_fallback_decides_and_says_why(
    judge: Callable[[str], Mapping[str, Any]], kind: str
) -> None:
    world = World(pipeline=graph())
    runner(world).step()

    report = runner(world, judge=judge).step()

    answer = world.state.visits[-1].answers[0]
    assert (answer.answer, answer.fallback) == (None, kind)
    assert answer.why
    assert report.message == "draft-routing: 1 question(s) asked; 1 by fallback; draft_to_careful holds"
    assert "draft_to_careful=true(fallback)" in world.commits[-1].message
    assert runner(world).step().node == "careful"


@pytest.mark.parametrize("error", [PermissionRefused("wrong key"), BudgetReached("nothing left")])
def test_what_an_operator_has_to_put_right_is_no_case_for_the_fallback(error: CogworksError) -> None:
    world = World(pipeline=graph())
    runner(world).step()

    with pytest.raises(type(error)):
        runner(world, judge=raising(error)).step()

    assert world.state.marks == {}
    assert runner(world).step().node == "draft-routing"
    assert len(world.state.visits) == 2


def test_a_dead_routing_visit_is_taken_over_and_its_record_replays_to_the_same_edges() -> None:
    world = World(pipeline=graph())
    runner(world).step()

    with pytest.raises(Died):
        runner(world, fault=Fault(at=3, when="before", kind="death")).step()
    world.now += timedelta(seconds=600)
    report = runner(world, "heir", judge=lambda _: {"answer": "no", "reason": "No."}).step()

    assert report.node == "draft-routing"
    assert world.state.visits[-1].attempt == 2
    _, pipeline = configured(world.snapshot(), world.state)
    before = world.state.model_copy(
        update={"visits": world.state.visits[:1], "marks": {}, "leases": (), "gates": ()}
    )
    view = json.loads(world.files["visits/0001-draft/view.json"])
    assert settle(before, pipeline, world.state.visits[1], view).marks == world.state.marks


def test_the_model_is_asked_only_after_the_gate_of_the_node_is_passed() -> None:
    world = World(pipeline=graph(gate="human-gated"))

    waiting = runner(world).step()
    still = runner(world).step()
    paste = waiting.waiting_for[0].paste
    world.say(paste)
    after = runner(world).step()

    assert still.outcome == "waiting"
    assert paste.startswith("/cogworks approve draft ")
    assert after.node == "draft-routing"


def test_no_way_on_fails_the_run_and_a_retry_does_the_node_again() -> None:
    ways = [
        edge("draft>careful", condition={"llm": QUESTION, "fallback": False}),
        edge("draft>quick", condition={"llm": "It is a typo", "fallback": False}),
    ]
    world = World(pipeline=graph(*ways))
    runner(world).step()

    report = runner(world, judge=lambda _: {"answer": "no", "reason": "No."}).step()
    stopped = runner(world).step()
    world.say("/cogworks retry")
    again = runner(world).step()

    assert report.outcome == "failed"
    assert "no edge that leaves 'draft' holds" in report.message
    assert (stopped.outcome, stopped.message.partition(":")[0]) == ("failed", "draft-routing")
    assert again.node == "draft"
    assert visited(world)[:2] == [("draft", "succeeded", True), ("draft-routing", "failed", True)]


def test_a_loop_forgets_the_answers_and_asks_anew() -> None:
    ways = [
        edge(
            "draft>draft",
            condition={"llm": "It has to be done again", "fallback": False},
            rework={"max_traversals": 1, "overflow": "take-edge", "overflow_edge": "draft_to_quick"},
        ),
        edge("draft>quick"),
        edge("draft>careful", condition={"expr": "text.size > 9"}),
    ]
    world = World(pipeline=graph(*ways))

    nodes = [runner(world).step().node for _ in range(4)]

    assert nodes == ["draft", "draft-routing", "draft", "draft-routing"]
    assert visited(world) == [
        ("draft", "succeeded", True),
        ("draft-routing", "succeeded", True),
        ("draft", "succeeded", False),
        ("draft-routing", "succeeded", False),
    ]
    assert sum(world.paid.values()) == 2
    assert world.state.marks == {"draft_to_quick": "taken", "draft_to_careful": "not_taken"}


def test_people_see_the_routing_visit_and_an_operator_can_pick_it() -> None:
    world = World(pipeline=graph())
    runner(world).step()

    shown = world.own_comments()[0]
    labels = {label for label in world.labels if label.startswith("cogworks:node:")}
    picked = runner(world).step(Wanted(node="draft-routing"))

    assert "next: draft-routing" in shown
    assert labels == {"cogworks:node:draft"}
    assert picked.node == "draft-routing"
    assert "| ✅ | Draft: where next |" in world.own_comments()[0]


def test_a_hold_stops_the_model_from_being_asked() -> None:
    world = World(pipeline=graph())
    runner(world).step()
    world.say("/cogworks hold let me look")

    assert runner(world).step().outcome == "waiting"
    assert not world.paid


def test_the_ledger_of_a_routed_run_is_sound() -> None:
    world = World(pipeline=graph())
    for _ in range(2):
        runner(world).step()
    _, pipeline = configured(world.snapshot(), world.state)
    files = {path: text for path, text in world.files.items() if path != "state.json"}
    broken = {path: text for path, text in files.items() if not path.endswith("view.json")}

    assert list(check_visits(world.state)) == []
    assert list(check_graph(world.state, pipeline)) == []
    assert list(check_folders(world.state, files)) == []
    assert [found.object for found in check_folders(world.state, broken)] == ["visits/0001-draft/view.json"]


def test_the_reasons_name_the_question_and_who_asks_it() -> None:
    world = World(pipeline=graph())
    runner(world).step()
    seen = consider(ReadItem(world.snapshot()), Wanted(), new_run_id=lambda: RunId("run-1"))

    told = explain(seen.standing, seen.decision)

    assert told.because == "no expression decides where draft leads, so a model is asked"
    assert [(each.node, each.status, each.reason) for each in told.not_now] == [
        ("draft", "routing", "finished; a model has yet to say where it leads"),
        ("careful", "pending", "waits for draft"),
        ("quick", "pending", "waits for draft"),
    ]
