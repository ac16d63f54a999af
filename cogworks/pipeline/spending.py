"""Where a run's money went: by node and by sub-work-item, with sums that are the state's own."""

from collections.abc import Callable
from operator import itemgetter

from cogworks.pipeline.spend import Spend, unconfirmed
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import FoldedVisits, Lease, VisitRecord
from cogworks.vocabulary import NodeId, SubItemKey, Value


class SpendRow(Value):
    """What one node, or one sub-work-item, has cost."""

    node: NodeId | None = None
    sub_item: SubItemKey | None = None
    """None in a row by sub-work-item: the nodes that work on the item as a whole."""
    visits: int
    """Visits that ended; those that went back and were repeated count too."""
    unfinished: int
    """Visits at work or given back."""
    spend: Spend


def by_node(state: RunState) -> tuple[SpendRow, ...]:
    """One row for each node that was ever visited, in the order of the first visit; their sum is `state.spent`."""
    return _grouped(state, lambda each: (each.node, None))


def by_sub_item(state: RunState) -> tuple[SpendRow, ...]:
    """One row for the item as a whole and one for each visited sub-work-item; their sum is `state.spent`."""
    return _grouped(state, lambda each: (None, each.sub_item))


def earlier_line(state: RunState) -> str:
    """What the item cost before its present run."""
    spend = state.earlier.spend
    lost = unconfirmed(spend)
    return f"before this run of the item: ${spend.cost_usd:.4f}" + (f" ({lost})" if lost else "")


def _grouped(
    state: RunState,
    key_of: Callable[[VisitRecord | FoldedVisits | Lease], tuple[NodeId | None, SubItemKey | None]],
) -> tuple[SpendRow, ...]:
    rows: dict[tuple[NodeId | None, SubItemKey | None], SpendRow] = {}
    amounts = [(visit.index, key_of(visit), visit.spend, 1) for visit in state.visits]
    amounts += [(each.indices[0], key_of(each), each.spend, len(each.indices)) for each in state.folded]
    amounts.sort(key=itemgetter(0))
    amounts += [(lease.index, key_of(lease), lease.spent, 0) for lease in (*state.leases, *state.given_back)]
    for _, key, spend, ended in amounts:
        node, sub_item = key
        row = rows.get(key) or SpendRow(node=node, sub_item=sub_item, visits=0, unfinished=0, spend=Spend())
        rows[key] = row.model_copy(
            update={
                "visits": row.visits + ended,
                "unfinished": row.unfinished + (ended == 0),
                "spend": row.spend + spend,
            }
        )
    return tuple(rows.values())
