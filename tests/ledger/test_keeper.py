import pytest

from cogworks.errors import LostRace, TryAgainLater
from cogworks.ledger.lease import MAX_RECORD_TRIES, RELEASED, Entry, VisitLease
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from tests.ledger.scripted import MemoryStore
from tests.pipeline.runs import finished, lease, new_run, visit

PAID = Spend(cost_usd=0.3, input_tokens=10, output_tokens=5, model_calls=1)
STOP = frozenset({"cogworks:hold", "cogworks:cancel"})


def claimed() -> tuple[VisitLease, MemoryStore]:
    """A keeper of a fresh lease on `code@A`, with the plan made and nobody else about."""
    state = finished(new_run(), "spec", "plan")
    held = lease(state, "code@A")
    state = state.with_lease(held, identity=1)
    store = MemoryStore(state)
    return VisitLease(store, state=state, tip=store.oid, lease=held), store


def finish(visit_lease: VisitLease) -> RunState:
    """Record the visit."""
    record = visit(finished(new_run(), "spec", "plan"), "code@A", spend=visit_lease.spent)
    return visit_lease.finish(
        lambda state: Entry(
            state=state.recorded(record),
            verb="succeeded",
            files={"visits/0003-code@21/output.json": "{}\n"},
        )
    ).state


def headlines(store: MemoryStore) -> list[str]:
    return [change.headline.split()[2] for change in store.changes]


def test_a_checkpoint_says_what_was_paid_and_keeps_the_replies() -> None:
    visit_lease, store = claimed()

    unrecorded = visit_lease.spend(PAID, {"visits/0003-code@21/reply-1.json": "r"})
    visit_lease.checkpoint()

    assert unrecorded == PAID
    [change] = store.changes
    assert change.files["visits/0003-code@21/reply-1.json"] == "r"
    assert store.state.leases[0].spent == PAID
    assert (visit_lease.has_pending, visit_lease.spend(PAID, {})) == (False, PAID)


def test_what_was_paid_is_pending_until_it_is_in_the_ledger() -> None:
    visit_lease, store = claimed()
    visit_lease.spend(PAID, {"reply-1": "r"})
    store.failure = TryAgainLater("GitHub is out of order")

    with pytest.raises(TryAgainLater):
        visit_lease.checkpoint()
    assert visit_lease.has_pending
    assert visit_lease.spend(PAID, {"reply-2": "s"}) == PAID + PAID
    finish(visit_lease)

    assert {"reply-1", "reply-2"} <= store.changes[0].files.keys()
    assert not visit_lease.has_pending


def test_a_kept_file_goes_into_the_next_commit_and_the_newest_text_of_it_counts() -> None:
    visit_lease, store = claimed()
    visit_lease.keep({"events-1.ndjson": "old"})
    visit_lease.keep({"events-1.ndjson": "new"})
    before = visit_lease.has_pending

    visit_lease.checkpoint()

    assert (before, visit_lease.has_pending) == (True, False)
    assert store.changes[0].files["events-1.ndjson"] == "new"


def test_a_finished_visit_has_its_record_and_no_lease() -> None:
    visit_lease, store = claimed()
    visit_lease.spend(PAID, {})

    state = finish(visit_lease)

    assert state == store.state
    assert (state.leases, state.visits[-1].spend) == ((), PAID)
    assert headlines(store) == ["succeeded"]


def test_every_try_has_a_number_of_its_own() -> None:
    visit_lease, store = claimed()
    store.failure = TryAgainLater("no answer")

    with pytest.raises(TryAgainLater):
        visit_lease.checkpoint()
    visit_lease.checkpoint()
    finish(visit_lease)

    assert [change.body.split("Sequence: ")[1].split()[0] for change in store.changes] == ["2", "3"]


def test_a_record_that_lost_a_race_is_made_again_on_what_the_others_wrote() -> None:
    visit_lease, store = claimed()
    other = lease(store.state, "code@B", holder="bob:2")
    store.elsewhere(store.state.with_lease(other, identity=2))

    state = finish(visit_lease)

    assert state.leases == (other,)
    assert state.identities == (1, 2)
    assert state.visits[-1].instance == ("code", "A")
    assert headlines(store) == ["succeeded"]


def test_a_checkpoint_that_lost_a_race_is_made_again_too() -> None:
    visit_lease, store = claimed()
    other = lease(store.state, "code@B", holder="bob:2")
    store.elsewhere(store.state.with_lease(other, identity=2))
    visit_lease.spend(PAID, {})

    visit_lease.checkpoint()

    assert [(held.holder, held.spent) for held in store.state.leases] == [("ann:1", PAID), ("bob:2", Spend())]


def test_a_lease_that_was_taken_over_throws_the_result_away_for_good() -> None:
    visit_lease, store = claimed()
    heir = visit_lease.lease.model_copy(update={"holder": "bob:2", "attempt": 2})
    taken = store.state.with_lease(heir, identity=2)
    store.elsewhere(taken)

    with pytest.raises(
        LostRace, match=r"another runner took over code, so the result of this one was thrown away"
    ):
        finish(visit_lease)

    assert (visit_lease.is_lost, store.state, store.changes) == (True, taken, [])
    with pytest.raises(LostRace, match="took over code"):
        visit_lease.check()
    with pytest.raises(LostRace, match="took over code"):
        visit_lease.checkpoint()


def test_a_ledger_that_is_gone_throws_the_result_away() -> None:
    visit_lease, store = claimed()
    store.is_gone = True

    with pytest.raises(LostRace, match=r"branch 'cogworks/ledger/7' is gone"):
        visit_lease.checkpoint()
    assert visit_lease.is_lost


def test_five_lost_races_in_a_row_end_the_try_but_not_the_lease() -> None:
    visit_lease, store = claimed()
    moves = 0

    def always_moving() -> None:
        nonlocal moves
        moves += 1
        store.elsewhere(store.state)

    store.before_append = always_moving

    with pytest.raises(
        LostRace, match="the ledger moved 5 times while code was being recorded; run it again"
    ):
        finish(visit_lease)

    assert (moves, visit_lease.is_lost) == (MAX_RECORD_TRIES, False)
    store.before_append = lambda: None
    assert finish(visit_lease).leases == ()


@pytest.mark.parametrize(
    ("label", "is_open", "reason"),
    [
        (
            "cogworks:hold",
            True,
            "the label 'cogworks:hold' was set while the node ran; nothing was published",
        ),
        ("cogworks:cancel", True, "the label 'cogworks:cancel' was set while the node ran"),
        ("cogworks:run", False, "the issue was closed while its node ran; nothing was published"),
    ],
    ids=["hold", "cancel", "closed"],
)
def test_a_person_who_stops_the_item_is_seen_by_the_next_renewal(
    label: str, is_open: bool, reason: str
) -> None:
    visit_lease, store = claimed()
    store.labels, store.is_open = frozenset({label}), is_open

    visit_lease.checkpoint(stop_labels=STOP)

    with pytest.raises(LostRace, match=reason):
        visit_lease.check()
    assert not visit_lease.is_lost


def test_labels_that_stop_nothing_stop_nothing() -> None:
    visit_lease, store = claimed()
    store.labels = frozenset({"cogworks:run", "bug"})

    visit_lease.checkpoint(stop_labels=STOP)

    visit_lease.check()


def test_a_stopped_visit_can_still_be_given_back() -> None:
    visit_lease, store = claimed()
    visit_lease.spend(PAID, {"reply-1": "r"})
    store.is_open = False
    visit_lease.checkpoint(stop_labels=STOP)

    visit_lease.finish(
        lambda state: Entry(state=state.released(visit_lease.lease, visit_lease.spent), verb=RELEASED)
    )

    assert headlines(store) == ["checkpoint", "released"]
    assert (store.state.leases, store.state.given_back[0].spent) == ((), PAID)


def stoppable() -> tuple[VisitLease, MemoryStore]:
    """A keeper whose visit stops as soon as somebody else holds a lease."""
    visit_lease, store = claimed()
    return (
        VisitLease(
            store,
            state=visit_lease.state,
            tip=visit_lease.tip,
            lease=visit_lease.lease,
            stopped_by=lambda state: "stopped" if len(state.leases) > 1 else "",
        ),
        store,
    )


def test_what_others_recorded_may_stop_the_visit_at_its_next_renewal() -> None:
    visit_lease, store = stoppable()
    store.elsewhere(store.state.with_lease(lease(store.state, "code@B", holder="bob:2"), identity=2))

    with pytest.raises(LostRace, match="stopped"):
        visit_lease.checkpoint()
    with pytest.raises(LostRace, match="stopped"):
        visit_lease.check()
    assert not visit_lease.is_lost
    assert headlines(store) == []


def test_a_stopped_visit_is_given_back_but_never_recorded() -> None:
    visit_lease, store = stoppable()
    visit_lease.spend(PAID, {})
    store.elsewhere(store.state.with_lease(lease(store.state, "code@B", holder="bob:2"), identity=2))

    with pytest.raises(LostRace, match="stopped"):
        finish(visit_lease)
    visit_lease.finish(
        lambda state: Entry(state=state.released(visit_lease.lease, visit_lease.spent), verb=RELEASED)
    )

    assert headlines(store) == ["released"]
    assert store.state.given_back[0].spent == PAID
