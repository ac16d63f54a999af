import pytest

from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.frontier import InstanceStatus
from cogworks.pipeline.gates import slug_of
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.people import Approval, GatePassed
from cogworks.pipeline.position import Standing, failures, how_to_retry, instance_name, locate, waiting_for
from cogworks.pipeline.state import RunState
from cogworks.pipeline.transitions import settle
from cogworks.pipeline.waiting import WaitingFor
from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, SubItemKey
from tests.pipeline.graphs import pipeline
from tests.pipeline.runs import GRAPH, MERGED_SPEC, at, facts, finished, lease, new_run, pull, visit

MERGE_SPEC = WaitingFor(
    kind="merge",
    node=NodeId("spec"),
    number=IssueNumber(31),
    url="https://github.com/octo-org/adder/pull/31",
    who="anyone with write permission",
    ask="merge or approve pull request #31, or close it to reject it",
    paste="/cogworks approve spec aaaaaaaaaaaa",
)
SHIPPED = ("spec", "plan", "code@A", "review@A", "ship@A")


def test_a_finished_node_behind_a_human_gate_waits_for_its_pull_request() -> None:
    state = finished(new_run(), "spec")

    position = locate(state, facts(pull(31)), GRAPH)

    assert position.statuses == {at("spec"): InstanceStatus.WAITING_GATE}
    assert position.frontier.ready == ()
    assert waiting_for(Standing(state, facts(pull(31)), GRAPH)) == (MERGE_SPEC,)


@pytest.mark.parametrize(
    ("seen", "how", "by"),
    [
        (MERGED_SPEC, "merged", "ann"),
        (pull(31, approved_by="bob"), "approved", "bob"),
        (pull(31, "merged"), "merged", ""),
    ],
    ids=["merged", "approved", "merged-by-somebody-who-left"],
)
def test_a_gate_is_passed_by_a_merge_or_by_an_approval_of_the_head(
    seen: PullFacts, how: str, by: str
) -> None:
    state = finished(new_run(), "spec")

    position = locate(state, facts(seen), GRAPH)

    assert position.gates == (
        GatePassed.model_validate(
            {"node": "spec", "sub_item": None, "how": how, "by": by, "oid": CommitOid("a" * 40)}
        ),
    )
    assert position.frontier.ready == (at("plan"),)
    assert waiting_for(Standing(state, facts(seen), GRAPH)) == ()


def test_a_pull_request_that_was_closed_unmerged_is_a_rejection() -> None:
    state = finished(new_run(), "spec")

    position = locate(state, facts(pull(31, "closed")), GRAPH)

    assert position.rejected == {at("spec"): 31}
    assert position.statuses == {at("spec"): InstanceStatus.FAILED}
    assert failures(state, position) == (
        (at("spec"), "pull request #31 was closed unmerged; reopen it to go on"),
    )
    assert how_to_retry(state, facts()) == ""


def shown_only() -> RunState:
    """The specification is to be approved, and merged by nobody."""
    state = finished(new_run(), "spec")
    known = tuple(each.model_copy(update={"is_shown_only": True}) for each in state.pull_requests)
    return state.model_copy(update={"pull_requests": known})


@pytest.mark.parametrize(
    "seen",
    [pull(31, "closed", approved_by="bob"), pull(31, approved_by="bob"), MERGED_SPEC],
    ids=["approved-and-closed", "approved", "merged-all-the-same"],
)
def test_the_gate_of_what_is_only_shown_stays_passed_when_it_is_closed(seen: PullFacts) -> None:
    position = locate(shown_only(), facts(seen), GRAPH)

    assert [gate.node for gate in position.gates] == ["spec"]
    assert (position.rejected, position.frontier.ready) == ({}, (at("plan"),))


def test_an_approval_by_command_counts_after_it_is_closed() -> None:
    approval = Approval(node=NodeId("spec"), sub_item=None, artifact="a" * 12, by="ann", comment_id=1)
    state = shown_only().model_copy(update={"approvals": (approval,)})

    position = locate(state, facts(pull(31, "closed")), GRAPH)

    assert [(gate.node, gate.by) for gate in position.gates] == [("spec", "ann")]


def test_what_is_only_shown_and_closed_before_anybody_approves_it_is_rejected() -> None:
    position = locate(shown_only(), facts(pull(31, "closed")), GRAPH)

    assert (position.gates, position.rejected) == ((), {at("spec"): 31})


def test_who_is_asked_about_it_is_told_that_it_is_closed() -> None:
    [asked] = waiting_for(Standing(shown_only(), facts(pull(31)), GRAPH))

    assert (asked.kind, asked.ask) == (
        "review",
        "approve pull request #31, which is then closed unmerged, or close it to reject it",
    )


def test_several_nodes_of_one_rejected_pull_request_are_one_failure() -> None:
    state = finished(new_run(), *SHIPPED)

    position = locate(state, facts(MERGED_SPEC, pull(41, "closed")), GRAPH)

    assert failures(state, position) == (
        (at("code@A"), "pull request #41 was closed unmerged; reopen it to go on"),
    )


def test_a_gate_whose_pull_request_github_does_not_show_waits() -> None:
    state = finished(new_run(), "spec")

    assert waiting_for(Standing(state, facts(), GRAPH)) == (
        MERGE_SPEC.model_copy(update={"url": "", "paste": ""}),
    )


def test_a_safety_critical_item_gates_code_when_there_is_a_pull_request_to_look_at() -> None:
    before = finished(new_run(is_safety_critical=True), *SHIPPED[:-1])
    after = finished(before, "ship@A")
    known = facts(MERGED_SPEC, pull(41))

    assert locate(before, facts(MERGED_SPEC), GRAPH).frontier.ready == (at("ship@A"),)
    assert [wait.number for wait in waiting_for(Standing(after, known, GRAPH))] == [41]
    assert waiting_for(Standing(after, facts(MERGED_SPEC, pull(41, "merged")), GRAPH)) == ()


def test_the_safety_label_gates_like_the_classification() -> None:
    state = finished(new_run(), *SHIPPED)
    labelled = facts(MERGED_SPEC, pull(41), is_safety_critical=True)

    assert waiting_for(Standing(state, facts(MERGED_SPEC, pull(41)), GRAPH)) == ()
    assert [wait.number for wait in waiting_for(Standing(state, labelled, GRAPH))] == [41]


def test_a_gate_without_a_pull_request_asks_for_approval() -> None:
    graph = pipeline([{"id": "look", "type": "llm", "gate": "human-gated"}])
    state = finished(new_run(graph), "look", pipeline=graph)

    assert waiting_for(Standing(state, facts(), graph)) == (
        WaitingFor(
            kind="approval",
            node=NodeId("look"),
            who="anyone with write permission",
            ask="review the result of look and approve it",
        ),
    )


def test_where_safety_is_at_stake_people_confirm_that_there_is_nothing_to_do() -> None:
    graph = pipeline([{"id": "look", "type": "llm", "gate": "human-gated"}])

    def asked(*, is_safety_critical: bool) -> list[str]:
        state = finished(new_run(graph, is_safety_critical=is_safety_critical), "look", pipeline=graph)
        empty = state.visits[0].model_copy(update={"is_empty": True, "summary": "no public name changes."})
        standing = Standing(state.model_copy(update={"visits": (empty,)}), facts(), graph)
        return [wait.ask for wait in waiting_for(standing)]

    assert asked(is_safety_critical=False) == []
    assert asked(is_safety_critical=True) == [
        "confirm that look has nothing to do, for safety is at stake (no public name changes)"
    ]


def test_a_label_that_stops_the_run_comes_before_its_gates() -> None:
    state = finished(new_run(), "spec")

    waits = waiting_for(Standing(state, facts(pull(31), is_cancelled=True), GRAPH))

    assert [wait.ask for wait in waits] == [
        "remove the cancel label when the item may go on",
        MERGE_SPEC.ask,
    ]


def test_a_finished_run_waits_for_nobody() -> None:
    state = finished(new_run(status="done"), "spec")

    assert waiting_for(Standing(state, facts(pull(31), is_held=True), GRAPH)) == ()


def test_a_leased_node_is_running_whatever_became_of_its_earlier_visits() -> None:
    state = finished(new_run(), "spec")
    state = state.with_lease(lease(state, "spec"), identity=1)

    assert locate(state, facts(MERGED_SPEC), GRAPH).statuses == {at("spec"): InstanceStatus.RUNNING}


def test_discarded_visits_and_places_that_the_graph_does_not_have_do_not_count() -> None:
    state = finished(new_run(), "spec")
    other = visit(state, "gone")
    stray = visit(state, "code@Z", index=9)
    state = state.recorded(other).recorded(stray)
    state = state.with_lease(lease(state, "gone"), identity=1)
    discarded = state.discarding(frozenset({at("spec")}), frozenset())

    assert locate(state, facts(), GRAPH).statuses == {at("spec"): InstanceStatus.WAITING_GATE}
    assert locate(discarded, facts(), GRAPH).statuses == {}


def test_slugs_carry_the_position_of_their_sub_item() -> None:
    state = finished(new_run(), "spec", "plan")

    def slug(graph: Pipeline, node: str, sub_item: str | None) -> str:
        return slug_of(state, graph.node(NodeId(node)), SubItemKey(sub_item) if sub_item else None)

    assert [slug(GRAPH, "spec", None), slug(GRAPH, "ship", "B"), slug(GRAPH, "review", "A")] == [
        "spec",
        "swi-2",
        "",
    ]


def test_instances_are_named_as_people_write_them() -> None:
    assert [instance_name(at("plan")), instance_name(at("code@A"))] == ["plan", "code@A"]


def test_nobody_is_asked_to_approve_what_a_failed_sibling_stopped() -> None:
    graph = pipeline(
        [
            {"id": "a", "type": "llm", "evaluation": "all-matching"},
            {"id": "b", "type": "llm", "gate": "human-gated"},
            {"id": "c", "type": "llm", "abort_siblings_on_failure": True},
        ],
        "a>b a>c",
    )
    waiting = finished(new_run(graph), "a", "b", pipeline=graph)
    failed = settle(waiting, graph, visit(waiting, "c", status="failed"), {})

    assert [wait.node for wait in waiting_for(Standing(waiting, facts(), graph))] == ["b"]
    assert waiting_for(Standing(failed, facts(), graph)) == ()
