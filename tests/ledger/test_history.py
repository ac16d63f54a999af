"""The ledger's own words are understood, and nothing else is taken for them."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cogworks.ledger.history import ENDINGS, entry, logged_entries, parse_message
from cogworks.ledger.record import change_for
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease, VisitRecord
from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, RunId, SubItemKey, VisitKey

WORD = st.text(st.characters(codec="ascii", categories=["L", "N"], include_characters="_-"), min_size=1)
ONE_LINE = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEYS = [VisitKey(digit * 64) for digit in "abc"]
STATE = RunState(
    run_id=RunId("run-1"),
    repository_id="R_1",
    repository="octo/demo",
    issue=IssueNumber(7),
    issue_digest="d",
    pipeline="default",
    graph_hash="g",
)


def lease(key: VisitKey, *, index: int = 1, spent: Spend | None = None) -> Lease:
    return Lease(
        visit_key=key,
        index=index,
        node=NodeId("intake"),
        sub_item=None,
        ordinal=1,
        holder="host:1:ab",
        attempt=1,
        spent=spent or Spend(),
        graph_hash="g",
        input_digest="d",
    )


@given(
    node=WORD,
    sub_item=st.none() | WORD,
    verb=st.sampled_from(["claim", "checkpoint", "succeeded", "failed", "released", "done"]),
    key=st.text("0123456789abcdef", min_size=64, max_size=64),
    run_id=ONE_LINE,
    holder=ONE_LINE,
    attempt=st.integers(1, 99),
    sequence=st.integers(0, 9999),
    waits_for=st.sampled_from(["", "approval", "merge 12@" + "0" * 40]),
    edges=st.sampled_from(["", "a_to_b=true", "a_to_b=false(model) a_to_c=true"]),
)
def test_whatever_a_commit_says_is_read_back(
    *,
    node: str,
    sub_item: str | None,
    verb: str,
    key: str,
    run_id: str,
    holder: str,
    attempt: int,
    sequence: int,
    waits_for: str,
    edges: str,
) -> None:
    held = lease(VisitKey(key)).model_copy(
        update={"node": node, "sub_item": sub_item, "holder": holder, "attempt": attempt}
    )
    change = change_for(
        STATE.model_copy(update={"run_id": run_id}),
        held,
        verb,
        {},
        sequence=sequence,
        waits_for=waits_for,
        edges=edges,
    )

    # GitHub trims the last line end and keeps the rest.
    for text in (change.message, change.message + "\n", change.message.replace("\n", "\r\n")):
        read = parse_message(text)
        assert read is not None
        assert read.model_dump() == {
            "node": node,
            "sub_item": sub_item,
            "verb": verb,
            "visit_key": key,
            "run_id": run_id,
            "holder": holder,
            "attempt": attempt,
            "sequence": sequence,
            "edges": edges,
            "waits_for": waits_for,
        }


@given(st.text())
def test_other_text_is_nobodys_and_raises_nothing(text: str) -> None:
    assert parse_message(text) is None
    assert parse_message(f"cogworks: intake claim [skip ci]\n\n{text}") is None
    assert entry(CommitOid("0" * 40), NOON, text).message is None


@given(st.integers(0, 200))
def test_a_message_cut_short_before_its_key_is_not_ours(length: int) -> None:
    text = change_for(STATE, lease(KEYS[0]), "claim", {}, sequence=0).message
    read = parse_message(text[:length])
    assert read is None or read.visit_key == KEYS[0]


def test_a_visit_is_priced_where_it_ends_and_nowhere_else() -> None:
    done = VisitRecord(
        index=1,
        node=NodeId("intake"),
        sub_item=None,
        visit_key=KEYS[0],
        ordinal=1,
        attempt=1,
        status="succeeded",
        summary="classified",
        spend=Spend(cost_usd=0.5),
    )
    state = STATE.model_copy(
        update={"visits": (done,), "given_back": (lease(KEYS[1], index=2, spent=Spend(cost_usd=0.25)),)}
    )
    verbs = [(KEYS[0], "claim"), (KEYS[0], "succeeded"), (KEYS[1], "released"), (KEYS[2], "failed")]
    entries = [
        entry(CommitOid("0" * 40), NOON, change_for(STATE, lease(key), verb, {}, sequence=0).message)
        for key, verb in verbs
    ]

    rows = [(row.visit, row.spent.cost_usd if row.spent else None) for row in logged_entries(entries, state)]

    assert rows == [(1, None), (1, 0.5), (2, 0.25), (None, None)]
    assert {verb for _, verb in verbs} - ENDINGS == {"claim"}


def test_a_commit_of_somebody_else_keeps_its_subject() -> None:
    found = entry(CommitOid("0" * 40), NOON, "Tidy up\n\nby hand\n")

    assert (found.message, found.subject) == (None, "Tidy up")
    assert logged_entries([found], None)[0].visit is None


def test_a_sub_item_is_told_from_its_node() -> None:
    held = lease(KEYS[0]).model_copy(update={"sub_item": SubItemKey("A")})
    read = parse_message(change_for(STATE, held, "claim", {}, sequence=0).message)

    assert read is not None
    assert (read.node, read.sub_item) == ("intake", "A")
