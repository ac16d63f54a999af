import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState, edge_key, issue_digest, visit_key
from cogworks.vocabulary import SubItemKey
from tests.pipeline.runs import at, finished, lease, new_run, visit

amounts = st.builds(
    Spend,
    cost_usd=st.integers(0, 10**6).map(lambda millis: millis / 1000),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    model_calls=st.integers(0, 100),
)


@given(amounts, amounts)
def test_what_is_added_to_a_spend_can_be_taken_from_it_again(one: Spend, other: Spend) -> None:
    assert one + other - other == one
    assert one + other == other + one


def test_a_run_has_spent_what_its_visits_its_leases_and_its_unfinished_visits_cost() -> None:
    state = finished(new_run(), "spec")
    running = lease(state, "plan", spent=Spend(cost_usd=0.25, model_calls=2))
    state = state.with_lease(running, identity=5)

    assert state.spent == Spend(cost_usd=0.35, input_tokens=10, output_tokens=5, model_calls=3)
    assert state.reserved_usd == 0.5
    assert state.released(running, running.spent).spent == state.spent
    assert state.released(running, running.spent).reserved_usd == 0


def test_a_claim_adds_a_lease_and_remembers_who_held_one() -> None:
    state = new_run()
    held = lease(state, "spec")

    after = state.with_lease(held, identity=5)

    assert after == state.model_copy(update={"leases": (held,), "identities": (5,)})
    assert after.released(held, Spend()).with_lease(held, identity=5).identities == (5,)


def test_taking_a_lease_over_counts_the_dead_runners_reservation_as_spent_by_the_visit() -> None:
    state = new_run()
    dead = lease(state, "spec", spent=Spend(cost_usd=0.2, model_calls=1))
    heir = dead.model_copy(update={"holder": "bob:2", "attempt": 2})

    after = state.with_lease(dead, identity=1).with_lease(heir, identity=2)

    known = Spend(cost_usd=0.7, model_calls=1, unconfirmed_usd=0.5)
    assert after.leases == (heir.model_copy(update={"spent": known}),)
    assert after.identities == (1, 2)
    assert (after.lease_stands(dead), after.lease_stands(heir)) == (False, True)


def test_a_visit_that_is_given_back_keeps_its_key_and_its_spend_for_the_next_claim() -> None:
    state = new_run()
    held = lease(state, "spec")
    spent = Spend(cost_usd=0.3, model_calls=1)

    released = state.with_lease(held, identity=1).released(held, spent)
    again = released.with_lease(held.model_copy(update={"holder": "bob:2"}), identity=2)

    assert released.leases == ()
    assert released.unfinished(at("spec")) == held.model_copy(update={"spent": spent, "reserved_usd": 0.0})
    assert released.next_index() == 2
    assert again.given_back == ()
    assert again.leases == (held.model_copy(update={"holder": "bob:2", "spent": spent}),)


def test_a_checkpoint_changes_only_its_own_lease() -> None:
    state = finished(new_run(), "spec", "plan")
    one = lease(state, "code@A")
    state = state.with_lease(one, identity=1)
    two = lease(state, "code@B")
    state = state.with_lease(two, identity=1)

    after = state.checkpointed(one, Spend(cost_usd=0.4))

    assert after.leases == (one.model_copy(update={"spent": Spend(cost_usd=0.4)}), two)


def test_recording_a_visit_removes_its_lease_and_no_other() -> None:
    state = finished(new_run(), "spec", "plan")
    done = visit(state, "code@A")
    one = lease(state, "code@A")
    state = state.with_lease(one, identity=1)
    two = lease(state, "code@B")

    after = state.with_lease(two, identity=1).recorded(done)

    assert (after.leases, after.visits[-1]) == ((two,), done)


def test_going_back_discards_visits_and_forgets_marks_but_not_what_they_cost() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")
    key = edge_key("code_to_review", SubItemKey("A"))

    after = state.discarding(frozenset({at("code@A")}), frozenset({key}))

    assert key in state.marks
    assert key not in after.marks
    assert after.latest(at("code@A")) is None
    assert after.latest(at("spec")) == state.visits[0]
    assert after.spent == state.spent
    assert after.ordinal_of_next(at("code@A")) == 2


def test_indices_are_never_used_twice() -> None:
    state = finished(new_run(), "spec", "plan")
    leased = state.with_lease(lease(state, "code@A"), identity=1)
    given_back = leased.released(leased.leases[0], Spend())

    assert [new_run().next_index(), state.next_index(), leased.next_index(), given_back.next_index()] == [
        1,
        3,
        4,
        4,
    ]


def test_a_visits_folder_names_its_index_its_node_and_its_sub_issue() -> None:
    state = finished(new_run(), "spec", "plan")

    assert state.folder(1, at("spec")) == "visits/0001-spec"
    assert state.folder(12, at("code@B")) == "visits/0012-code@22"


def test_a_visit_key_is_the_same_after_a_restart_and_different_for_everything_else() -> None:
    state = finished(new_run(), "spec", "plan")
    keys = [
        visit_key(state, at("code@A"), 3),
        visit_key(state, at("code@A"), 4),
        visit_key(state, at("code@B"), 3),
        visit_key(state, at("review@A"), 3),
        visit_key(new_run(run_id="run-2"), at("code@A"), 3),
        visit_key(new_run(repository_id="R_2"), at("code@A"), 3),
        visit_key(new_run(issue=8), at("code@A"), 3),
    ]

    assert len(set(keys)) == len(keys)
    assert visit_key(new_run(), at("code@A"), 3) == keys[0]
    assert all(len(key) == 64 for key in keys)


def test_the_issues_digest_tells_title_and_body_apart() -> None:
    assert issue_digest("ab", "c") != issue_digest("a", "bc")


def test_a_sub_item_that_is_not_in_the_plan_is_named() -> None:
    with pytest.raises(KeyError, match=r"sub-work-item 'Z' is not in the plan of run run-1"):
        finished(new_run(), "spec", "plan").sub_item(SubItemKey("Z"))


def test_a_state_is_equal_to_itself_after_json() -> None:
    state = finished(new_run(), "spec", "plan", "code@A", "review@A")
    state = state.with_lease(lease(state, "ship@A"), identity=9)

    assert RunState.model_validate_json(state.model_dump_json()) == state


def test_a_state_of_before_there_were_routing_visits_and_boundaries_is_read() -> None:
    state = finished(new_run(), "spec")
    state = state.with_lease(lease(state, "plan"), identity=1)
    older = state.model_dump(mode="json")
    del older["complexity"], older["visits"][0]["awaits_routing"], older["visits"][0]["answers"]
    del older["leases"][0]["is_capped"]
    del older["visits"][0]["spend"]["unconfirmed_usd"], older["visits"][0]["spend"]["unconfirmed_tokens"]

    assert RunState.model_validate_json(json.dumps(older)) == state
