"""Which views people changed again after they were repaired: nobody fights over a label (architecture §8)."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from cogworks.github.snapshot import Snapshot
from cogworks.pipeline.state import RunState

_RECORDED = re.compile(r"cogworks: \S+ (?:succeeded|failed)\b")


@dataclass(frozen=True)
class Insisted:
    """Labels that are left as people want them until the next visit ends."""

    gone: frozenset[str]
    there: frozenset[str]


def insisted_on(snapshot: Snapshot, state: RunState) -> Insisted:
    """The labels that were taken off, or put on, more than once since the last visit ended.

    The first time is repaired. Since a visit ended its views do not change, so the second time was no doing of ours.
    """
    since = _end_of_last_visit(snapshot, state)
    if since is None:
        return Insisted(frozenset(), frozenset())
    events = [event for event in snapshot.issue.label_events if event.created_at >= since]
    off = Counter(event.label for event in events if not event.added)
    on = Counter(event.label for event in events if event.added)
    return Insisted(
        gone=frozenset(label for label, times in off.items() if times > 1),
        there=frozenset(label for label, times in on.items() if times > 1),
    )


def _end_of_last_visit(snapshot: Snapshot, state: RunState) -> datetime | None:
    """None where the last visit ended after the snapshot, or too long ago to be in it."""
    ledger = snapshot.ledger
    if ledger is None or not state.visits or state.visits[-1].visit_key not in (ledger.state_text or ""):
        return None
    return next((c.committed_date for c in ledger.history if _RECORDED.match(c.message)), None)
