"""Sums by node and by sub-item are the state's own."""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.limits import SpendRow, by_node, by_sub_item
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease, VisitRecord
from cogworks.vocabulary import IssueNumber, NodeId, RunId, SubItemKey, VisitKey

SPENDS = st.builds(
    Spend,
    cost_usd=st.integers(0, 10**10).map(lambda nano: round(nano * 1e-9, 9)),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    model_calls=st.integers(0, 9),
    unconfirmed_usd=st.integers(0, 10**10).map(lambda nano: round(nano * 1e-9, 9)),
    unconfirmed_tokens=st.integers(0, 10**6),
)
PLACES = st.tuples(st.sampled_from(["plan", "code", "review"]), st.sampled_from([None, "A", "B"]))
AMOUNTS = st.lists(st.tuples(PLACES, SPENDS), max_size=12)


def visit(index: int, node: str, sub_item: str | None, spend: Spend, *, is_discarded: bool) -> VisitRecord:
    return VisitRecord(
        index=index,
        node=NodeId(node),
        sub_item=SubItemKey(sub_item) if sub_item else None,
        visit_key=VisitKey(f"{index:064x}"),
        ordinal=1,
        attempt=1,
        status="succeeded",
        summary="",
        spend=spend,
        is_discarded=is_discarded,
    )


def lease(index: int, node: str, sub_item: str | None, spend: Spend) -> Lease:
    return Lease(
        visit_key=VisitKey(f"{index:064x}"),
        index=index,
        node=NodeId(node),
        sub_item=SubItemKey(sub_item) if sub_item else None,
        ordinal=1,
        holder="host",
        attempt=1,
        spent=spend,
        graph_hash="g",
        input_digest="d",
    )


def state(
    visits: tuple[VisitRecord, ...], leases: tuple[Lease, ...], given_back: tuple[Lease, ...]
) -> RunState:
    return RunState(
        run_id=RunId("run-1"),
        repository_id="R_1",
        repository="octo/demo",
        issue=IssueNumber(7),
        issue_digest="d",
        pipeline="default",
        graph_hash="g",
        visits=visits,
        leases=leases,
        given_back=given_back,
    )


def total(rows: tuple[SpendRow, ...]) -> Spend:
    spent = Spend()
    for row in rows:
        spent = spent + row.spend
    return spent


@given(ended=AMOUNTS, running=AMOUNTS, given_back=AMOUNTS, discarded=st.booleans())
def test_nothing_is_lost_and_nothing_counted_twice(
    ended: list[tuple[tuple[str, str | None], Spend]],
    running: list[tuple[tuple[str, str | None], Spend]],
    given_back: list[tuple[tuple[str, str | None], Spend]],
    discarded: bool,
) -> None:
    run = state(
        tuple(visit(n, *place, spend, is_discarded=discarded) for n, (place, spend) in enumerate(ended)),
        tuple(lease(n, *place, spend) for n, (place, spend) in enumerate(running)),
        tuple(lease(n, *place, spend) for n, (place, spend) in enumerate(given_back)),
    )

    for rows in (by_node(run), by_sub_item(run)):
        assert total(rows) == run.spent
        assert sum(row.visits for row in rows) == len(ended)
        assert sum(row.unfinished for row in rows) == len(running) + len(given_back)
    assert len({row.node for row in by_node(run)}) == len(by_node(run))
    assert len({row.sub_item for row in by_sub_item(run)}) == len(by_sub_item(run))
