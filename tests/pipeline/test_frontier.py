from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.errors import UsageError
from cogworks.pipeline.elements import EdgeId
from cogworks.pipeline.frontier import (
    EdgeMark,
    EdgeRef,
    Frontier,
    Instance,
    InstanceStatus,
    frontier,
    in_dependency_order,
    instances,
)
from cogworks.pipeline.graph import Pipeline, SubItem
from cogworks.vocabulary import NodeId, SubItemKey
from tests.pipeline.graphs import edge, loop, pipeline, sub_items

LINE = pipeline("a *b *c d", "a>b b>c c>d")
WORDS = {"!": InstanceStatus.FAILED, "~": InstanceStatus.RUNNING, "?": InstanceStatus.WAITING_GATE}


def at(text: str) -> Instance:
    """`code@A` or `plan`."""
    node, _, key = text.partition("@")
    return Instance(NodeId(node), SubItemKey(key) if key else None)


def way(text: str) -> EdgeRef:
    """`a>b@A` or `a>b`."""
    edge_id, _, key = text.replace(">", "_to_").partition("@")
    return EdgeRef(EdgeId(edge_id), SubItemKey(key) if key else None)


def look(
    graph: Pipeline, said: str, marks: Mapping[str, str] | str = "", subs: str | None = None
) -> Frontier:
    """The frontier of a run.

    Args:
        said: `a b@A !c ~d ?e`: a and b@A succeeded, c failed, d runs, e waits at its gate.
        marks: `a>b -a>c b>c@A`: taken, not taken; missing ones of succeeded nodes are taken.
    """
    status: dict[Instance, InstanceStatus] = {}
    for word in said.split():
        status[at(word.strip("!~?"))] = WORDS.get(word[0], InstanceStatus.SUCCEEDED)
    refused = {way(word[1:]) for word in str(marks).split() if word[0] == "-"}
    decided = {
        EdgeRef(each.id, where.sub_item): EdgeMark.NOT_TAKEN
        if EdgeRef(each.id, where.sub_item) in refused
        else EdgeMark.TAKEN
        for where, known in status.items()
        if known is InstanceStatus.SUCCEEDED
        for each in graph.forward_from(where.node)
    }
    return frontier(graph, decided, status, None if subs is None else sub_items(subs))


def ready(*parts: Any, **more: Any) -> list[str]:
    return [f"{n}@{s}" if s else n for n, s in look(*parts, **more).ready]


def test_only_the_start_is_ready_at_first() -> None:
    assert ready(LINE, "") == ["a"]


def test_a_fan_out_makes_all_targets_ready_in_declared_order() -> None:
    graph = pipeline("&a c b", "a>b a>c")

    assert ready(graph, "a") == ["c", "b"]


def test_a_join_waits_for_every_source() -> None:
    graph = pipeline("&a b c d", "a>b a>c b>d c>d")

    assert ready(graph, "a b") == ["c"]
    assert ready(graph, "a b ~c") == []
    assert ready(graph, "a b ?c") == []
    assert ready(graph, "a b c") == ["d"]


def test_exclusive_branches_join_and_the_other_branch_is_skipped() -> None:
    graph = pipeline("&a b c d", "a>b a>c b>d c>d")

    found = look(graph, "a b", "-a>c")

    assert found.ready == (Instance(NodeId("d")),)
    assert found.skipped == {Instance(NodeId("c"))}


def test_skipping_runs_down_a_path_to_its_end() -> None:
    graph = pipeline("&a b c d", "a>b b>c c>d a>d")

    found = look(graph, "a d", "-a>b")

    assert found.skipped == {Instance(NodeId("b")), Instance(NodeId("c"))}
    assert found.finished is True


def test_an_instance_that_ran_stays_what_it_is_when_its_edge_is_decided_anew() -> None:
    graph = pipeline("&a b c", "a>b a>c")

    found = look(graph, "a b", "-a>b")

    assert found.skipped == frozenset()
    assert found.ready == (Instance(NodeId("c")),)


def test_everything_behind_a_failure_is_blocked_by_it_and_the_rest_goes_on() -> None:
    graph = pipeline("&a b c d e", "a>b a>c b>d c>d d>e")

    found = look(graph, "a !b")

    assert found.blocked == {
        Instance(NodeId("d")): Instance(NodeId("b")),
        Instance(NodeId("e")): Instance(NodeId("b")),
    }
    assert found.ready == (Instance(NodeId("c")),)
    assert found.finished is False


def test_a_node_that_aborts_its_siblings_stops_them() -> None:
    nodes = [
        {"id": "a", "type": "llm", "evaluation": "all-matching"},
        {"id": "b", "type": "llm", "abort_siblings_on_failure": True},
        *({"id": name, "type": "llm"} for name in "cde"),
    ]
    graph = pipeline(nodes, "a>b a>c a>d c>e")

    found = look(graph, "a !b ~c")

    assert found.to_stop == (Instance(NodeId("c")),)
    assert found.blocked == {
        Instance(NodeId("d")): Instance(NodeId("b")),
        Instance(NodeId("e")): Instance(NodeId("b")),
    }
    assert found.ready == ()


def test_a_succeeded_node_without_a_taken_edge_is_a_dead_end() -> None:
    found = look(LINE, "a", "-a>b", subs="A")

    assert found.dead_ends == (Instance(NodeId("a")),)
    assert found.finished is False


def test_sub_items_start_only_when_they_are_planned() -> None:
    assert look(LINE, "a") == Frontier(
        ready=(), skipped=frozenset(), blocked={}, finished=False, dead_ends=(), held={}, to_stop=()
    )
    assert ready(LINE, "a", subs="A B") == ["b@A", "b@B"]


def test_a_sub_item_waits_for_the_last_nodes_of_those_it_depends_on() -> None:
    assert ready(LINE, "a", subs="A B:A") == ["b@A"]
    assert ready(LINE, "a b@A", subs="A B:A") == ["c@A"]
    assert ready(LINE, "a b@A ?c@A", subs="A B:A") == []
    assert ready(LINE, "a b@A c@A", subs="A B:A") == ["b@B"]


def test_a_join_waits_for_every_sub_item() -> None:
    assert ready(LINE, "a b@A c@A b@B", subs="A B") == ["c@B"]
    assert ready(LINE, "a b@A c@A b@B c@B", subs="A B") == ["d"]
    assert look(LINE, "a b@A c@A b@B c@B d", subs="A B").finished is True


def test_a_failed_sub_item_blocks_its_dependents_and_the_join_but_no_other() -> None:
    found = look(LINE, "a !b@A", subs="A B:A C")

    assert found.ready == (at("b@C"),)
    assert found.blocked == {
        at("c@A"): at("b@A"),
        at("b@B"): at("b@A"),
        at("c@B"): at("b@A"),
        at("d"): at("b@A"),
    }


def test_sub_items_one_after_the_other_unless_one_waits_for_a_person() -> None:
    graph = pipeline("a *b *c", "a>b b>c", parallel_sub_items=False)

    assert ready(graph, "a", subs="A B") == ["b@A"]
    assert ready(graph, "a ~b@A", subs="A B") == []
    assert ready(graph, "a ~b@B", subs="A B") == []
    assert ready(graph, "a ?b@A", subs="A B") == ["b@B"]
    assert ready(graph, "a !b@A", subs="A B") == ["b@B"]


def test_an_empty_plan_lets_what_comes_after_the_sub_items_go_on() -> None:
    assert ready(LINE, "a", subs="") == ["d"]


def test_a_branch_past_the_planning_finishes_without_sub_items() -> None:
    graph = pipeline("&a plan *b docs end", "a>plan a>docs plan>b b>end docs>end")

    assert ready(graph, "a docs", "-a>plan") == ["end"]
    assert look(graph, "a docs end", "-a>plan").finished is True


def test_the_order_of_instances_is_a_sub_item_after_the_other() -> None:
    assert instances(LINE, sub_items("B:A A")) == tuple(map(at, ["a", "b@A", "c@A", "b@B", "c@B", "d"]))
    assert instances(LINE, None) == tuple(map(at, ["a", "d"]))


def test_sub_items_are_ordered_by_dependency_then_as_given() -> None:
    assert [item.key for item in in_dependency_order(sub_items("D:C B A C:A"))] == ["B", "A", "C", "D"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A:B B:A", "the sub-items 'A', 'B' depend on one another in a circle"),
        ("A:A", "the sub-items 'A' depend on one another in a circle"),
        ("A:Z", "sub-item 'A' depends on 'Z', which is not a sub-item"),
    ],
)
def test_sub_items_without_an_order_are_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        in_dependency_order(sub_items(text))


# `d` goes back to `c`. When `b` has gone back to `a`, another answer of `a` leads to `c`, which was skipped before.
TWO_LOOPS = pipeline(
    "a& b& c d& e", [*map(edge, ["a>b", "a>c", "a>d", "c>d", "d>e", "b>e"]), loop("b>a"), loop("d>c")]
)
# The same with `x`, which is not repeated by `b` and so keeps its result.
KEPT_BETWEEN = pipeline(
    "a& b& c x d& e",
    [*map(edge, ["a>b", "a>c", "a>x", "c>x", "x>d", "d>e", "b>e"]), loop("b>a"), loop("d>c")],
)


@pytest.mark.parametrize("known", ["~", "?"])
def test_no_node_of_a_loop_starts_while_the_node_that_may_lead_back_over_it_is_at_work(known: str) -> None:
    found = look(TWO_LOOPS, f"a {known}d")

    assert found.ready == (at("b"),)
    assert found.held == {at("c"): at("d")}
    assert ready(TWO_LOOPS, "a d") == ["b", "c"]


def test_a_loop_of_another_sub_item_holds_nothing() -> None:
    graph = pipeline(
        "a& b& *c *d& e", [*map(edge, ["a>b", "a>c", "a>d", "c>d", "d>e", "b>e"]), loop("b>a"), loop("d>c")]
    )

    assert ready(graph, "a ~d@A", subs="A B") == ["b", "c@B"]


def test_what_leads_back_starts_after_all_that_it_may_repeat_though_a_kept_result_lies_between() -> None:
    assert ready(KEPT_BETWEEN, "a x") == ["b", "c"]
    assert ready(KEPT_BETWEEN, "a x ~c") == ["b"]
    assert ready(KEPT_BETWEEN, "a x c") == ["b", "d"]
    assert ready(KEPT_BETWEEN, "a x", "-a>c") == ["b", "d"]


def test_what_leads_back_does_not_go_back_over_a_node_that_failed() -> None:
    found = look(KEPT_BETWEEN, "a x !c")

    assert found.ready == (at("b"),)
    assert found.blocked == {at("d"): at("c"), at("e"): at("c")}


def test_marks_of_a_node_whose_gate_is_not_passed_do_not_count_yet() -> None:
    graph = pipeline("a b", [edge("a>b")])
    marks = {EdgeRef(EdgeId("a_to_b")): EdgeMark.TAKEN}

    waiting = frontier(
        graph, marks, {Instance(NodeId("a")): InstanceStatus.WAITING_GATE}, [SubItem(key=SubItemKey("A"))]
    )

    assert waiting.ready == ()
