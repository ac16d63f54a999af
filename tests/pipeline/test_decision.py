from typing import Any

import pytest

from cogworks.pipeline.arbiter import MAX_PROPOSALS, Proposal, Signal
from cogworks.pipeline.decision import (
    Answer,
    BackOff,
    Decision,
    Finish,
    GiveUpOn,
    Nothing,
    Run,
    Stop,
    Wait,
    candidates,
    decide,
)
from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.people import Owed
from cogworks.pipeline.position import Standing, instance_name
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState, visit_key
from cogworks.pipeline.transitions import settle
from cogworks.pipeline.visits import MAX_ATTEMPTS, NextCall
from cogworks.pipeline.waiting import WaitingFor
from cogworks.vocabulary import VisitKey
from tests.pipeline.graphs import pipeline
from tests.pipeline.runs import (
    GRAPH,
    MERGED_SPEC,
    URL,
    at,
    facts,
    finished,
    lease,
    new_run,
    pull,
    visit,
)

WHOLE = (
    "spec",
    "plan",
    "code@A",
    "review@A",
    "ship@A",
    "code@B",
    "review@B",
    "ship@B",
)
OPEN_PULLS = (MERGED_SPEC, pull(41), pull(42))


def run_of(state: RunState, name: str, **changes: Any) -> Run:
    """The run of a node's next visit."""
    instance, index = at(name), state.next_index()
    fields: dict[str, Any] = {
        "instance": instance,
        "index": index,
        "ordinal": state.ordinal_of_next(instance),
        "visit_key": visit_key(state, instance, index),
        "attempt": 1,
    }
    return Run(**{**fields, **changes})


def failed(state: RunState, name: str, why: str = "it is too hard") -> RunState:
    return settle(state, GRAPH, visit(state, name, status="failed", summary=why, has_output=False), {})


def leased(state: RunState, name: str, **changes: Any) -> RunState:
    return state.with_lease(lease(state, name, **changes), identity=1)


def test_a_new_run_starts_with_the_first_node() -> None:
    assert decide(Standing(new_run(), facts(), GRAPH)) == run_of(new_run(), "spec")


@pytest.mark.parametrize(
    ("done", "then"),
    [(WHOLE[:place], WHOLE[place]) for place in range(1, len(WHOLE))],
    ids=WHOLE[1:],
)
def test_nodes_follow_one_another_sub_item_after_sub_item(done: tuple[str, ...], then: str) -> None:
    state = finished(new_run(), *done)

    assert decide(Standing(state, facts(*OPEN_PULLS), GRAPH)) == run_of(state, then)


def test_when_every_node_is_done_only_the_state_has_to_say_so() -> None:
    state = finished(new_run(), *WHOLE)

    assert decide(Standing(state, facts(*OPEN_PULLS), GRAPH)) == Finish()


def test_a_safety_critical_run_ends_when_its_pull_requests_are_approved() -> None:
    state = finished(new_run(is_safety_critical=True), *WHOLE)
    approved = [pull(number, approved_by="ann") for number in (41, 42)]

    before = decide(Standing(state, facts(*OPEN_PULLS), GRAPH))

    assert isinstance(before, Wait)
    assert [wait.number for wait in before.waiting_for] == [41, 42]
    assert decide(Standing(state, facts(MERGED_SPEC, *approved), GRAPH)) == Finish()


def test_a_merge_that_passes_the_last_gate_and_closes_the_issue_ends_the_run_well() -> None:
    state = finished(new_run(is_safety_critical=True), *WHOLE)
    merged = [pull(number, "merged", merged_by="ann") for number in (41, 42)]

    assert decide(Standing(state, facts(MERGED_SPEC, *merged, issue_is_open=False), GRAPH)) == Finish()
    assert (
        decide(Standing(state, facts(MERGED_SPEC, merged[0], pull(42), issue_is_open=False), GRAPH)) == CLOSED
    )


DONE = finished(new_run(), *WHOLE).model_copy(update={"status": "done"})
OTHER_GRAPH = pipeline("a")
CLOSED = Stop(
    outcome="usage_error",
    reason=f"{URL} is closed. Reopen it and set the label 'cogworks:run' to go on.",
)
UNTRIGGERED = Stop(
    outcome="usage_error",
    reason=f"{URL} does not carry the label 'cogworks:run', so nobody asked for it. Set the label 'cogworks:run' "
    "and run the command again.",
)
HELD = Wait(
    waiting_for=(
        WaitingFor(kind="label", who="a maintainer", ask="remove the hold label when the item may go on"),
    )
)
CANCELLED = Wait(
    waiting_for=(
        WaitingFor(kind="label", who="a maintainer", ask="remove the cancel label when the item may go on"),
    )
)


@pytest.mark.parametrize(
    ("state", "changes", "wanted"),
    [
        (DONE, {"issue_is_open": False}, Nothing(reason="every sub-work-item has a reviewed pull request")),
        (new_run(), {"issue_is_open": False, "is_held": True}, CLOSED),
        (new_run(), {"is_held": True, "is_cancelled": True, "is_triggered": False}, HELD),
        (new_run(), {"is_cancelled": True, "is_triggered": False}, CANCELLED),
        (new_run(graph_hash="f" * 64), {"is_triggered": False}, UNTRIGGERED),
        (new_run(graph_hash="f" * 64), {"is_held": True}, HELD),
    ],
    ids=[
        "done-before-closed",
        "closed-before-held",
        "held-before-cancelled",
        "cancelled-before-untriggered",
        "untriggered-before-changed-graph",
        "held-before-changed-graph",
    ],
)
def test_what_people_say_comes_first_in_this_order(
    state: RunState, changes: dict[str, Any], wanted: Decision
) -> None:
    assert decide(Standing(state, facts(**changes), GRAPH)) == wanted


def test_a_graph_that_changed_under_a_run_stops_it_before_anything_else_is_looked_at() -> None:
    state = failed(finished(new_run(), "spec"), "plan")

    decision = decide(Standing(state, facts(MERGED_SPEC), OTHER_GRAPH))

    assert decision == Stop(
        outcome="configuration_error",
        reason=f"the pipeline 'default' changed since this run began (graph {GRAPH.graph_hash[:12]}, now "
        f"{OTHER_GRAPH.graph_hash[:12]}). Restore `.cogworks/pipeline.toml`, or comment `/cogworks restart` to begin anew.",
    )


def test_an_open_gate_waits_and_says_for_what() -> None:
    decision = decide(Standing(finished(new_run(), "spec"), facts(pull(31)), GRAPH))

    assert isinstance(decision, Wait)
    assert [wait.ask for wait in decision.waiting_for] == [
        "merge or approve pull request #31, or close it to reject it"
    ]


def test_a_rejected_pull_request_stops_the_run_and_says_how_to_go_on() -> None:
    decision = decide(Standing(finished(new_run(), "spec"), facts(pull(31, "closed")), GRAPH))

    assert decision == Stop(
        outcome="failed", reason="spec: pull request #31 was closed unmerged; reopen it to go on"
    )


def test_a_failed_node_stops_what_comes_after_it_and_says_how_to_retry() -> None:
    state = failed(finished(new_run(), "spec"), "plan")

    assert decide(Standing(state, facts(MERGED_SPEC), GRAPH)) == Stop(
        outcome="failed",
        reason="plan: it is too hard\nRemove the label `cogworks:run` and set it again to retry what failed.",
    )


def test_a_failure_of_one_branch_leaves_the_other_one_running() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = finished(new_run(graph), "a", pipeline=graph)
    state = settle(state, graph, visit(state, "b", status="failed"), {})

    assert decide(Standing(state, facts(), graph)) == run_of(state, "c")


def test_a_live_lease_makes_everybody_else_back_off_until_it_may_be_stolen() -> None:
    state = leased(new_run(), "spec")
    held = state.leases[0]

    decision = decide(Standing(state, facts(lease_ages_s={held.visit_key: 100.0}), GRAPH))

    assert decision == BackOff(lease=held, stealable_in_s=140.0)


@pytest.mark.parametrize(
    "changes",
    [{"age": 240.0}, {"age": 1000.0}, {"age": None}, {"age": 0.0, "take_over": True}],
    ids=["as-old-as-it-may-be", "older", "too-old-to-be-seen", "the-operator-says-so"],
)
def test_a_stale_lease_is_taken_over_with_its_own_key_and_one_more_attempt(changes: dict[str, Any]) -> None:
    state = leased(new_run(), "spec", attempt=1)
    held = state.leases[0]
    ages = {} if changes["age"] is None else {held.visit_key: changes["age"]}
    known = facts(lease_ages_s=ages, take_over=changes.get("take_over", False))

    assert decide(Standing(state, known, GRAPH)) == Run(
        instance=at("spec"),
        index=held.index,
        ordinal=held.ordinal,
        visit_key=held.visit_key,
        attempt=2,
        taken_over_from=held,
    )


def test_a_lease_one_second_short_of_stale_is_respected() -> None:
    state = leased(new_run(), "spec")

    decision = decide(Standing(state, facts(lease_ages_s={state.leases[0].visit_key: 239.0}), GRAPH))

    assert decision == BackOff(lease=state.leases[0], stealable_in_s=1.0)


def test_a_visit_whose_runner_died_three_times_is_given_up() -> None:
    state = leased(new_run(), "spec", attempt=MAX_ATTEMPTS)

    assert decide(Standing(state, facts(), GRAPH)) == GiveUpOn(
        lease=state.leases[0], reason="its runner died 3 times"
    )


def test_another_ready_node_is_run_while_a_lease_is_alive() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = leased(finished(new_run(graph), "a", pipeline=graph), "b")

    known = facts(lease_ages_s={state.leases[0].visit_key: 1.0})

    assert decide(Standing(state, known, graph)) == run_of(state, "c")


def test_a_visit_that_was_given_back_goes_on_under_its_own_key() -> None:
    state = leased(new_run(), "spec")
    held = state.leases[0]

    decision = decide(Standing(state.released(held, Spend(cost_usd=1.0)), facts(), GRAPH))

    assert decision == run_of(new_run(), "spec")
    assert isinstance(decision, Run)
    assert decision.visit_key == held.visit_key


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (
            {"max_cost_usd": 0.1},
            (
                "budget: 0.10 of 0.10 USD is spent or reserved; raise `budgets.pipeline_max_cost_dollars` in "
                "`.cogworks/config.toml` or split the issue."
            ),
        ),
        (
            {"max_tokens": 15},
            (
                "budget: 15 of 15 tokens are spent or reserved; raise `budgets.pipeline_max_tokens` in "
                "`.cogworks/config.toml` or split the issue."
            ),
        ),
    ],
    ids=["dollars", "tokens"],
)
def test_no_node_starts_when_the_budget_is_used_up(limits: dict[str, Any], reason: str) -> None:
    state = finished(new_run(), "spec")

    decision = decide(Standing(state, facts(MERGED_SPEC, **limits), GRAPH))

    assert decision == Stop(outcome="budget_reached", reason=reason)


def test_what_other_runners_have_reserved_counts_against_the_budget() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = leased(finished(new_run(graph), "a", pipeline=graph), "b", reserved_usd=0.5)
    ages = {state.leases[0].visit_key: 1.0}

    short = decide(Standing(state, facts(lease_ages_s=ages, max_cost_usd=0.6), graph))
    enough = decide(Standing(state, facts(lease_ages_s=ages, max_cost_usd=0.61), graph))

    assert isinstance(short, Stop)
    assert short.outcome == "budget_reached"
    assert isinstance(enough, Run)


def test_a_node_that_stopped_short_of_a_call_holds_up_no_other() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = leased(finished(new_run(graph), "a", pipeline=graph), "b")
    state = state.released(state.leases[0], Spend(), short_of=NextCall(cost_usd=0.5, tokens=10))

    decision = decide(Standing(state, facts(max_cost_usd=0.55), graph))

    assert isinstance(decision, Run)
    assert instance_name(decision.instance) == "c"


def test_the_operator_may_pick_a_ready_node() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = finished(new_run(graph), "a", pipeline=graph)

    assert decide(Standing(state, facts(wanted=at("c")), graph)) == run_of(state, "c")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("spec", "node spec cannot start: it is succeeded. Ready now: plan."),
        ("ship@A", "node ship@A cannot start: its inputs are not there yet. Ready now: plan."),
    ],
)
def test_a_node_that_is_not_ready_is_refused_with_those_that_are(name: str, reason: str) -> None:
    decision = decide(Standing(finished(new_run(), "spec"), facts(MERGED_SPEC, wanted=at(name)), GRAPH))

    assert decision == Stop(outcome="usage_error", reason=reason, is_about_item=False)


def test_an_approval_that_was_given_for_an_older_head_closes_the_gate_again() -> None:
    state = finished(new_run(), "spec")
    approved = pull(31, approved_by="ann")

    assert isinstance(decide(Standing(state, facts(approved), GRAPH)), Run)
    assert isinstance(decide(Standing(state, facts(pull(31)), GRAPH)), Wait)


@pytest.mark.parametrize(
    ("seen", "kind"), [(pull(31), Wait), (pull(31, "closed"), Stop)], ids=["unapproved", "rejected"]
)
def test_a_gate_that_shuts_after_later_nodes_ran_holds_everything_behind_it(
    seen: PullFacts, kind: type
) -> None:
    state = finished(new_run(), "spec", "plan", "code@A")

    assert isinstance(decide(Standing(state, facts(seen), GRAPH)), kind)


def test_what_people_want_is_forced_and_nothing_is_proposed_beside_it() -> None:
    owed = Owed(topic="command-9", body="no such command", visit_key=VisitKey("9" * 64))
    state = finished(new_run(), "spec").model_copy(update={"owed": (owed,)})

    found = candidates(Standing(state, facts(MERGED_SPEC, is_held=True), GRAPH))

    assert [(type(each.claim), type(each.move)) for each in found] == [(Signal, Answer), (Signal, Wait)]


def test_what_is_ready_is_proposed_with_its_score() -> None:
    graph = pipeline("&a b c", "a>b a>c")
    state = leased(finished(new_run(graph), "a", pipeline=graph), "b")

    found = [each.claim for each in candidates(Standing(state, facts(), graph))]

    assert [(claim.slot_id, claim.score) for claim in found if isinstance(claim, Proposal)] == [
        ("left/0002-b", 500_000),
        ("ready/c", 400_000),
    ]


def test_no_more_nodes_are_judged_than_take_part_in_a_choice() -> None:
    names = [f"n{number}" for number in range(30)]
    graph = pipeline(f"&a {' '.join(names)}", " ".join(f"a>{name}" for name in names))
    state = finished(new_run(graph), "a", pipeline=graph)

    assert len(candidates(Standing(state, facts(), graph))) == MAX_PROPOSALS
    assert decide(Standing(state, facts(), graph)) == run_of(state, "n0")
