from typing import Any

import pytest

from cogworks.pipeline.elements import ConditionAnswer, routing_of
from cogworks.pipeline.routing import Undecided
from cogworks.pipeline.state import SubItem
from cogworks.pipeline.transitions import learn_classification, learn_plan, settle
from cogworks.vocabulary import IssueNumber, SubItemKey
from tests.pipeline.graphs import edge, pipeline
from tests.pipeline.runs import GRAPH, at, finished, lease, new_run, visit

FAILED = {"review": {"passed": False}}
PASSED = {"review": {"passed": True}}


def test_a_finished_visit_is_recorded_its_lease_goes_and_its_edges_are_decided() -> None:
    state = new_run()
    done = visit(state, "spec")

    after = settle(state.with_lease(lease(state, "spec"), identity=1), GRAPH, done, {})

    assert (after.visits, after.leases, after.marks) == ((done,), (), {"spec_to_plan": "taken"})


def test_a_failed_visit_decides_no_edge() -> None:
    state = new_run()
    failed = visit(state, "spec", status="failed", summary="no", has_output=False)

    after = settle(state, GRAPH, failed, {})

    assert (after.visits, after.marks) == ((failed,), {})


def test_a_rework_edge_makes_everything_it_repeats_undecided_again_and_is_counted() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")

    after = settle(state, GRAPH, visit(state, "review@A"), FAILED)

    assert after.traversals == {"review_to_code@A": 1}
    assert after.marks == {"spec_to_plan": "taken", "plan_to_code": "taken"}
    assert [v.instance for v in after.visits if v.is_discarded] == [at("code@A"), at("review@A")]


def test_rework_of_one_sub_item_leaves_the_other_alone() -> None:
    state = finished(new_run(), "spec", "plan", "code@A", "review@A", "ship@A", "code@B")

    after = settle(state, GRAPH, visit(state, "review@B"), FAILED)

    assert after.traversals == {"review_to_code@B": 1}
    assert [v.instance for v in after.visits if v.is_discarded] == [at("code@B"), at("review@B")]
    assert after.marks["review_to_ship@A"] == "taken"


def test_a_loop_that_is_used_up_is_a_failure_with_the_reason() -> None:
    state = finished(new_run(), "spec", "plan")
    for _ in range(2):
        state = finished(state, "code@A")
        state = settle(state, GRAPH, visit(state, "review@A"), FAILED)
    state = finished(state, "code@A")

    after = settle(state, GRAPH, visit(state, "review@A"), FAILED)

    last = after.visits[-1]
    assert last.status == "failed"
    assert last.summary == (
        "review@A is done; edge 'review_to_code' was taken 2 times, its limit; a person has to look"
    )
    assert after.latest(at("code@A")) == state.visits[-1]
    assert "review_to_ship@A" not in after.marks


def test_a_node_none_of_whose_edges_hold_has_failed() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")

    after = settle(state, GRAPH, visit(state, "review@A"), {"review": {}})

    assert after.visits[-1].status == "failed"
    assert "no edge that leaves 'review' holds" in after.visits[-1].summary


def test_a_condition_that_holds_opens_its_edge() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")

    after = settle(state, GRAPH, visit(state, "review@A"), PASSED)

    assert after.marks["review_to_ship@A"] == "taken"
    assert after.visits[-1].status == "succeeded"


def test_the_classification_is_kept_for_labels_and_gates_and_never_lifts_a_safety_mark() -> None:
    state = learn_classification(new_run(), {"type": "bug_fix", "safety_affecting": True})

    assert (state.kind, state.is_safety_critical) == ("bug_fix", True)
    assert learn_classification(state, {"type": "bug_fix"}).is_safety_critical is True
    assert (
        learn_classification(new_run(), {"type": "x", "safety_affecting": "yes"}).is_safety_critical is False
    )


def test_the_plan_is_kept_with_the_numbers_of_its_sub_issues() -> None:
    output = {
        "sub_work_items": [
            {"key": "A", "title": "first", "depends_on": []},
            {"key": "B", "title": "second", "depends_on": ["A"]},
        ]
    }

    state = learn_plan(
        new_run(),
        output,
        {SubItemKey("A"): (IssueNumber(21), "I_21"), SubItemKey("B"): (IssueNumber(22), "I_22")},
    )

    assert state.sub_items == (
        SubItem(key=SubItemKey("A"), ordinal=1, title="first", number=IssueNumber(21), node_id="I_21"),
        SubItem(
            key=SubItemKey("B"),
            ordinal=2,
            title="second",
            depends_on=(SubItemKey("A"),),
            number=IssueNumber(22),
            node_id="I_22",
        ),
    )


ASKS = pipeline(
    [{"id": "a", "type": "llm", "evaluation": "first-matching"}, *({"id": n, "type": "llm"} for n in "bc")],
    [edge("a>b", condition={"llm": "It is risky", "fallback": True}), edge("a>c")],
)


def answered(**answer: Any) -> ConditionAnswer:
    return ConditionAnswer(question="It is risky", **answer)


def test_edges_that_only_a_model_can_decide_await_a_routing_visit() -> None:
    after = finished(new_run(ASKS), "a", pipeline=ASKS)

    assert (after.visits[-1].awaits_routing, after.marks) == (True, {})


@pytest.mark.parametrize(
    ("answer", "taken"),
    [({"answer": True}, "b"), ({"answer": False}, "c"), ({"answer": None, "fallback": "timeout"}, "b")],
)
def test_the_answers_of_a_routing_visit_decide_the_edges_of_its_node(
    answer: dict[str, Any], taken: str
) -> None:
    state = finished(new_run(ASKS), "a", pipeline=ASKS)
    routed = visit(state, routing_of(at("a")).node, answers=(answered(**answer),))

    after = settle(state, ASKS, routed, {})

    assert after.marks == {f"a_to_{n}": "taken" if n == taken else "not_taken" for n in "bc"}
    assert after == settle(state, ASKS, routed, {})


def test_a_routing_visit_without_the_answer_it_needs_decides_nothing() -> None:
    state = finished(new_run(ASKS), "a", pipeline=ASKS)

    with pytest.raises(Undecided, match="It is risky"):
        settle(state, ASKS, visit(state, routing_of(at("a")).node), {})
