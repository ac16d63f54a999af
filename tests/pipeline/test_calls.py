"""Calls of tools that wait for a person: nobody claims such a visit before the answer, and an answer counts for one call."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cogworks.ledger.record import read_state, state_text
from cogworks.pipeline.decision import GiveUpOn, Run, Stop, Wait, decide
from cogworks.pipeline.gates import MAX_APPROVED, asking_visit, lapsed_calls, with_approved_call
from cogworks.pipeline.inputs import Asked, Heard, obey
from cogworks.pipeline.noticing import rest_line
from cogworks.pipeline.people import ApprovedCall, AskedCall
from cogworks.pipeline.position import Standing, waiting_for
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from tests.pipeline.graphs import pipeline
from tests.pipeline.runs import GRAPH, MERGED_SPEC, at, facts, finished, lease, new_run, visit

HASH = "0123456789ab"
CALL = AskedCall(tool="APPLY_PATCH", hash=HASH, shown='{"candidate":"1"}')
APPROVED = ApprovedCall(hash=HASH, by="ann", comment_id=900)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PAID = Spend(cost_usd=0.5, input_tokens=10, output_tokens=5, model_calls=1)


def asking(state: RunState, name: str, **changes: Any) -> RunState:
    """A visit of this node was claimed, and asks about the call."""
    claimed = state.with_lease(lease(state, name, **changes), identity=1)
    return claimed.released(claimed.leases[-1], PAID, asks=CALL)


ASKING = asking(finished(new_run(), "spec", "plan"), "code@A")
NOW = facts(MERGED_SPEC)


def told(state: RunState, verb: str, **changes: Any) -> RunState:
    """The state after ann said it in comment 900."""
    fields = {"verb": verb, "node": "code@A", "by": "ann", "comment_id": 900, "subject_id": "C_900"}
    asked = Asked.model_validate({**fields, **changes})
    return obey(state, NOW, Heard(said=(asked,), last_comment_id=900), GRAPH, fresh=new_run)


def test_a_visit_that_asks_waits_with_the_line_to_paste() -> None:
    decision = decide(Standing(ASKING, NOW, GRAPH))

    assert isinstance(decision, Wait)
    [wait] = decision.waiting_for
    assert (wait.kind, wait.paste) == ("approval", f"/cogworks approve code@A {HASH}")
    assert wait.ask == (
        f'code@A wants to call APPLY_PATCH (call {HASH}) with `{{"candidate":"1"}}`. Its replies in `visits/0003-code@21` '
        "of the ledger hold the whole input. Approve this call, or comment `/cogworks reject code@A <why>`"
    )
    assert rest_line(Standing(ASKING, NOW, GRAPH)) == "approval"


def test_a_node_beside_one_that_asks_goes_on() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = asking(finished(new_run(graph), "a", pipeline=graph), "b", graph_hash=graph.graph_hash)

    decision = decide(Standing(state, facts(), graph))

    assert isinstance(decision, Run)
    assert decision.instance == at("c")


def test_an_approved_visit_goes_on_under_its_key_with_its_costs() -> None:
    state = told(ASKING, "approve", artifact=HASH)
    [left] = ASKING.given_back

    decision = decide(Standing(state, NOW, GRAPH))

    assert isinstance(decision, Run)
    assert (decision.visit_key, decision.attempt) == (left.visit_key, left.attempt)
    taken = state.with_lease(lease(state, "code@A"), identity=1).leases[0]
    assert (taken.approved_calls, taken.asks, taken.spent) == ((APPROVED,), None, PAID)


def test_whoever_takes_an_approved_visit_over_knows_of_the_approval() -> None:
    state = told(ASKING, "approve", artifact=HASH)
    claimed = state.with_lease(lease(state, "code@A", holder="dead"), identity=1)

    taken_over = claimed.with_lease(lease(claimed, "code@A", holder="heir"), identity=1)

    assert [(each.holder, each.approved_calls) for each in taken_over.leases] == [("heir", (APPROVED,))]


@pytest.mark.parametrize("node", ["code@A", "code@21"])
@pytest.mark.parametrize("digits", [7, 12])
def test_a_call_is_named_by_seven_digits_or_more(node: str, digits: int) -> None:
    assert told(ASKING, "approve", node=node, artifact=HASH[:digits]).given_back[0].asks is None


@pytest.mark.parametrize(
    ("changes", "reply"),
    [
        ({"artifact": "f" * 12}, f"code@A now asks about another call than `ffffffffffff`. Look at it, then paste: `/cogworks approve code@A {HASH}`"),
        ({"artifact": f"{HASH}00"}, "code@A now asks about another call than"),
        ({"artifact": HASH, "node": "code@B"}, "code@B has no finished result"),
        ({"artifact": HASH, "node": "plan"}, "plan does not wait for an approval"),
    ],
    ids=["stale", "longer", "another-sub-item", "another-node"],
)  # fmt: skip
def test_an_approval_of_something_else_is_refused_with_the_reason(
    changes: dict[str, Any], reply: str
) -> None:
    state = told(ASKING, "approve", **changes)

    assert asking_visit(state, at("code@A")) is not None
    assert reply in state.owed[0].body
    assert [receipt.content for receipt in state.inputs.receipts] == ["THUMBS_DOWN"]


def test_an_approval_is_used_up_by_the_call_that_it_names() -> None:
    approved = told(ASKING, "approve", artifact=HASH)
    claimed = approved.with_lease(lease(approved, "code@A"), identity=1)
    other = CALL.model_copy(update={"hash": "b" * 12})
    again = claimed.released(claimed.leases[0], PAID, asks=other)

    state = told(again, "approve", artifact=HASH)

    assert isinstance(decide(Standing(again, NOW, GRAPH)), Wait)
    assert "code@A now asks about another call than `0123456789ab`" in state.owed[0].body


def test_a_rejection_fails_the_node_with_the_reason_and_a_retry_begins_it_anew() -> None:
    rejected = told(ASKING, "reject", why="not in my tests")
    [left] = rejected.given_back
    record = visit(ASKING, "code@A", index=left.index, visit_key=left.visit_key, status="failed", spend=PAID)

    decision = decide(Standing(rejected, NOW, GRAPH))

    assert decision == GiveUpOn(lease=left, reason="rejected by ann: not in my tests")
    ended = rejected.recorded(record)
    assert isinstance(decide(Standing(ended, NOW, GRAPH)), Stop)
    assert (ended.given_back, ended.spent) == ((), ASKING.spent)
    retried = decide(Standing(told(ended, "retry"), NOW, GRAPH))
    assert isinstance(retried, Run)
    assert retried.visit_key != left.visit_key


def test_a_rejected_call_is_asked_about_no_more_even_while_the_item_is_held() -> None:
    state = told(told(ASKING, "reject", why="no"), "hold")

    decision = decide(Standing(state, NOW, GRAPH))

    assert isinstance(decision, Wait)
    assert [wait.kind for wait in decision.waiting_for] == ["resume"]
    assert waiting_for(Standing(state, NOW, GRAPH)) == decision.waiting_for
    assert "code@A has no finished result" in told(state, "approve", artifact=HASH).owed[0].body


def test_a_retry_is_no_approval() -> None:
    state = told(ASKING, "retry")

    assert state.given_back == ASKING.given_back
    assert "nothing has failed, so there is nothing to do again" in state.owed[0].body


def test_a_restart_forgets_requests_and_approvals() -> None:
    for state in (ASKING, told(ASKING, "approve", artifact=HASH)):
        assert told(state, "restart").given_back == ()


def test_no_more_than_so_many_approvals_are_kept() -> None:
    state = ASKING
    for number in range(MAX_APPROVED + 2):
        [left] = state.given_back
        call = CALL.model_copy(update={"hash": f"{number:012x}"})
        asked = left.model_copy(update={"asks": call})
        state = with_approved_call(
            state.model_copy(update={"given_back": (asked,)}), asked, by="ann", comment_id=900
        )

    approved = [call.hash for call in state.given_back[0].approved_calls]

    assert (len(approved), approved[0], approved[-1]) == (
        MAX_APPROVED,
        f"{2:012x}",
        f"{MAX_APPROVED + 1:012x}",
    )


def test_an_approval_that_is_obeyed_too_late_is_refused_with_the_reason_and_the_line_to_paste() -> None:
    late = facts(MERGED_SPEC, now=NOON + timedelta(hours=25), approval_hours=24)
    asked = Asked(verb="approve", node="code@A", artifact=HASH, by="ann", comment_id=900, written=NOON)

    state = obey(ASKING, late, Heard(said=(asked,), last_comment_id=900), GRAPH, fresh=new_run)

    [owed] = state.owed
    assert state.given_back == ASKING.given_back
    assert (
        "This was not obeyed: this approval came too late: it was written at 2026-05-01 12:00 UTC and expired "
        "after 24 hour(s) (`approvals.valid_hours`). Look again, then paste: "
        f"`/cogworks approve code@A {HASH}`." in owed.body
    )


def test_a_gate_is_passed_by_no_approval_that_is_obeyed_too_late_and_stays_passed_by_one_that_was_in_time() -> (
    None
):
    state = finished(new_run(), "spec")
    spec = state.visits[0].model_copy(update={"output_sha256": "a" * 64})
    state = state.model_copy(update={"visits": (spec,)})
    waiting = facts()
    asked = Asked(verb="approve", node="spec", artifact="a" * 12, by="ann", comment_id=900, written=NOON)
    heard = Heard(said=(asked,), last_comment_id=900)

    def obeyed(hours: int) -> RunState:
        then = waiting.model_copy(update={"now": NOON + timedelta(hours=hours), "approval_hours": 24})
        return obey(state, then, heard, GRAPH, fresh=new_run)

    assert (obeyed(25).approvals, len(obeyed(25).owed)) == ((), 1)
    in_time = obeyed(23)
    much_later = waiting.model_copy(update={"now": NOON + timedelta(days=99), "approval_hours": 24})
    assert [approval.node for approval in in_time.approvals] == ["spec"]
    assert isinstance(decide(Standing(in_time, much_later, GRAPH)), Run)


def test_an_approved_call_is_judged_by_when_it_was_approved_last() -> None:
    again = ASKING
    for hour in (0, 30):
        [left] = again.given_back
        asked = left.model_copy(update={"asks": CALL})
        again = with_approved_call(
            again.model_copy(update={"given_back": (asked,)}),
            asked,
            by="ann",
            comment_id=900 + hour,
            written=NOON + timedelta(hours=hour),
        )
    approved = again.given_back[0].approved_calls

    [call] = approved
    assert (call.written, call.comment_id) == (NOON + timedelta(hours=30), 930)
    shown = {HASH: NOON + timedelta(hours=30)}
    assert lapsed_calls(approved, shown, now=NOON + timedelta(hours=40), valid_hours=24) == {}
    assert lapsed_calls(approved, shown, now=NOON + timedelta(hours=60), valid_hours=24) == {
        HASH: "by ann, but it was written at 2026-05-02 18:00 UTC and expired after 24 hour(s) "
        "(`approvals.valid_hours`)"
    }


def test_a_state_from_before_approvals_had_a_date_reads_on() -> None:
    data = json.loads(state_text(told(ASKING, "approve", artifact=HASH)))
    data["given_back"][0]["approved_calls"] = [HASH]

    [left] = read_state(json.dumps(data), branch="ledger").given_back

    assert left.approved_calls == (ApprovedCall(hash=HASH, by="somebody"),)
    assert lapsed_calls(left.approved_calls, {HASH: NOON}, now=NOON, valid_hours=1) == {}


def test_a_state_from_before_there_were_such_calls_reads_on() -> None:
    data = json.loads(state_text(ASKING))
    for left in data["given_back"]:
        del left["asks"], left["approved_calls"]

    state = read_state(json.dumps(data), branch="ledger")

    assert [(left.asks, left.approved_calls) for left in state.given_back] == [(None, ())]
