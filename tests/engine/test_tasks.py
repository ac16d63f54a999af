import json

import pytest

from cogworks.engine.tasks import Source, missing_inputs, slot_values, sources_of, task_for, work_branch
from cogworks.ledger.record import LedgerUnreadable
from cogworks.nodes.task import Conventions, NodeTask, PullRequestRef, SubItemRef, Visit, WorkItem
from cogworks.pipeline.decision import Run
from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.graph import Node, Pipeline
from cogworks.pipeline.state import RunState, SubItem, visit_key
from cogworks.pipeline.transitions import settle
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, NodeId, SubItemKey
from tests.pipeline.graphs import pipeline
from tests.pipeline.runs import GRAPH, PLAN, at, finished, new_run, pull, visit, with_pull

ITEM = WorkItem(
    number=IssueNumber(7),
    title="add() subtracts",
    body="It should add.",
    labels=(),
    repository="octo-org/adder",
    default_branch=BranchName("main"),
)
A_DONE = ("spec", "plan", "code@A", "review@A", "ship@A")


def sources(state: RunState, name: str) -> tuple[Source, ...]:
    return sources_of(state, GRAPH, at(name), ordinal=state.ordinal_of_next(at(name)))


def whole(slot: str, path: str, dependency: str | None = None, *, of: RunState) -> Source:
    """What the visit put out whose folder begins with its index."""
    made_by = (visit.visit_key for visit in of.visits if path.startswith(f"{visit.index:04}-"))
    return Source(
        slot=slot,
        dependency=SubItemKey(dependency) if dependency else None,
        path=f"visits/{path}/output.json",
        is_whole=True,
        visit_key=next(made_by),
    )


def task(state: RunState, name: str, *pulls: PullFacts, graph: Pipeline = GRAPH) -> NodeTask:
    """The task of a node's next visit; every file says where it was read from."""
    index = state.next_index()
    move = Run(
        instance=at(name),
        index=index,
        ordinal=state.ordinal_of_next(at(name)),
        visit_key=visit_key(state, at(name), index),
        attempt=1,
    )
    found = sources_of(state, graph, at(name), ordinal=move.ordinal)
    return task_for(
        state,
        graph,
        move,
        item=ITEM,
        pulls={each.number: each for each in pulls},
        files={source.path: json.dumps({"from": source.path}) for source in found},
        conventions=Conventions(),
    )


def test_a_node_is_handed_the_newest_output_of_every_input_it_declares() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")

    assert sources(state, "review@A") == (whole("code", "0003-code@21", of=state),)
    reviewed = finished(state, "review@A")
    assert sources(reviewed, "ship@A") == (
        whole("code", "0003-code@21", of=reviewed),
        whole("review", "0004-review@21", of=reviewed),
    )


def test_another_sub_items_output_is_none_of_its_inputs() -> None:
    state = finished(new_run(), *A_DONE, "code@B")

    assert sources(state, "review@B")[0] == whole("code", "0006-code@22", of=state)


def test_a_sub_item_is_handed_what_the_same_node_made_for_those_it_depends_on() -> None:
    state = finished(new_run(), *A_DONE)

    assert sources(state, "code@B") == (
        whole("plan", "0002-plan", of=state),
        whole("code", "0003-code@21", dependency="A", of=state),
    )


def test_rework_brings_back_the_outputs_it_preserves_and_no_other_discarded_one() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")
    reworked = settle(state, GRAPH, visit(state, "review@A"), {"review": {"passed": False}})

    assert sources(reworked, "code@A") == (
        whole("plan", "0002-plan", of=reworked),
        whole("review", "0004-review@21", of=reworked),
        whole("code", "0003-code@21", of=reworked).model_copy(update={"is_earlier": True}),
    )
    again = finished(reworked, "code@A")
    assert sources(again, "review@A")[0] == whole("code", "0005-code@21", of=again)


def test_rework_is_handed_what_its_own_node_put_out_before() -> None:
    state = finished(new_run(), "spec", "plan")
    first = task(state, "code@A")
    done = finished(state, "code@A")
    again = settle(done, GRAPH, visit(done, "review@A"), {"review": {"passed": False}})

    assert first.earlier == {}
    assert task(again, "code@A").earlier == {"code": {"from": "visits/0003-code@21/output.json"}}
    assert "code" not in task(again, "code@A").inputs


def test_a_visit_that_failed_hands_nothing_on() -> None:
    state = finished(new_run(), "spec")
    failed = state.recorded(visit(state, "plan", status="failed", has_output=False))
    failed = failed.model_copy(update={"sub_items": PLAN})

    assert sources(failed, "code@A") == ()
    assert missing_inputs(GRAPH, at("code@A"), ()) == ("plan",)


def test_an_input_that_only_rework_brings_is_not_missing_at_first() -> None:
    found = sources(finished(new_run(), "spec", "plan"), "code@A")

    assert missing_inputs(GRAPH, at("code@A"), found) == ()


def test_what_a_dependency_made_is_no_substitute_for_an_input_of_ones_own() -> None:
    of_dependency = whole("code", "0003-code@21", dependency="A", of=finished(new_run(), *A_DONE))

    assert missing_inputs(GRAPH, at("review@A"), (of_dependency,)) == ("code",)


def test_a_task_says_everything_a_visit_is_about() -> None:
    state = finished(new_run(), "spec", "plan")

    assert task(state, "code@A", pull(31, "merged")) == NodeTask(
        visit=Visit(
            index=3,
            node=NodeId("code"),
            sub_item=SubItemKey("A"),
            visit_key=visit_key(state, at("code@A"), 3),
            attempt=1,
            ordinal=1,
        ),
        item=ITEM,
        inputs={"plan": {"from": "visits/0002-plan/output.json"}},
        made_by={"plan": state.visits[1].visit_key},
        dependency_outputs={},
        sub_item=SubItemRef(key=SubItemKey("A"), ordinal=1, number=IssueNumber(21), depends_on=()),
        sub_items=(
            SubItemRef(key=SubItemKey("A"), ordinal=1, number=IssueNumber(21), depends_on=()),
            SubItemRef(key=SubItemKey("B"), ordinal=2, number=IssueNumber(22), depends_on=(SubItemKey("A"),)),
        ),
        pull_requests=(
            PullRequestRef(
                slug="spec",
                number=IssueNumber(31),
                head=BranchName("cogworks/7/spec"),
                base=BranchName("main"),
            ),
        ),
        branch=BranchName("cogworks/7/swi-1"),
        slug="swi-1",
        base_branch=BranchName("main"),
        merge_branches=(),
        approved={"specification": CommitOid("a" * 40)},
    )


def test_an_output_that_the_ledger_lost_is_named() -> None:
    state = finished(new_run(), "spec")
    move = Run(instance=at("plan"), index=2, ordinal=1, visit_key=visit_key(state, at("plan"), 2), attempt=1)

    with pytest.raises(
        LedgerUnreadable, match=r"`visits/0001-spec/output.json` is not on branch `cogworks/ledger/7`"
    ):
        task_for(state, GRAPH, move, item=ITEM, pulls={}, files={}, conventions=Conventions())


def test_what_was_rejected_or_has_no_pull_request_is_approved_at_no_commit() -> None:
    state = finished(new_run(), "spec", "plan")

    assert task(state, "code@A", pull(31, "closed")).approved == {}
    assert task(state, "code@A").approved == {}


@pytest.mark.parametrize(
    ("dependency", "base"),
    [
        (pull(41), "cogworks/7/swi-1"),
        (pull(41, "merged"), "main"),
        (None, "cogworks/7/swi-1"),
    ],
    ids=["open", "merged", "not-shown"],
)
def test_a_sub_item_starts_from_its_dependency_until_that_is_merged(
    dependency: PullFacts | None, base: str
) -> None:
    state = finished(new_run(), *A_DONE)

    made = task(state, "code@B", *([dependency] if dependency else []))

    assert (made.base_branch, made.merge_branches) == (base, ())


def test_of_several_unmerged_dependencies_the_last_is_the_base_and_the_others_are_merged_in() -> None:
    state = finished(new_run(), "spec", "plan")
    third = SubItem(key=SubItemKey("C"), ordinal=3, title="c", depends_on=(SubItemKey("A"), SubItemKey("B")))
    state = state.model_copy(update={"sub_items": (*PLAN, third)})
    # A pull request of the item whose slug looks like a sub-item's must not be taken for one.
    state = with_pull(with_pull(with_pull(state, "swi-1", 41), "swi-2", 42), "notes-1", 43)

    made = task(state, "code@C", pull(41), pull(42), pull(43))

    assert (made.base_branch, made.merge_branches) == ("cogworks/7/swi-2", ("cogworks/7/swi-1",))


def test_a_node_without_a_branch_of_its_own_looks_at_its_sub_items_branch() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")

    assert task(state, "review@A").branch == "cogworks/7/swi-1"
    assert task(finished(new_run(), "spec"), "plan").branch == "main"


def test_a_later_run_of_the_same_item_has_branches_of_its_own() -> None:
    assert work_branch(new_run(), "spec") == "cogworks/7/spec"
    assert work_branch(new_run(run_number=3), "spec") == "cogworks/7/spec-r3"


def node(*outputs: str) -> Node:
    graph = pipeline([{"id": "a", "type": "llm", "outputs": list(outputs)}])
    return graph.node(NodeId("a"))


def test_one_slot_is_the_whole_output_and_several_are_its_keys() -> None:
    output = {"x": 1, "z": 3}

    assert slot_values(node("x"), output) == {"x": output}
    assert slot_values(node("x", "y"), output) == {"x": 1, "y": None}


def test_a_slot_of_several_is_read_from_its_key() -> None:
    graph = pipeline(
        [
            {"id": "a", "type": "llm", "outputs": ["from", "other"]},
            {"id": "b", "type": "llm", "inputs": ["from"]},
        ],
        "a>b",
    )
    state = finished(new_run(graph), "a", pipeline=graph)

    assert task(state, "b", graph=graph).inputs == {"from": "visits/0001-a/output.json"}


def test_whoever_tries_again_is_told_why_the_visit_before_failed_until_one_succeeds() -> None:
    failed = visit(finished(new_run(), "spec"), "plan", status="failed", summary="no plan", has_output=False)
    state = finished(new_run(), "spec").recorded(failed)

    assert task(finished(new_run(), "spec"), "plan").earlier_failure == ""
    assert task(state, "plan").earlier_failure == "no plan"
    assert task(finished(state, "plan"), "code@A").earlier_failure == ""
