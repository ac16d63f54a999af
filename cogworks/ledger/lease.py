"""Who may work on a visit: the age of a lease by GitHub's clocks, and nobody else's."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from cogworks.pipeline.state import Lease
from cogworks.vocabulary import VisitKey


def lease_ages_s(
    leases: Iterable[Lease], history: Iterable[tuple[str, datetime]], *, server_date: datetime
) -> Mapping[VisitKey, float]:
    """Seconds since each lease was last heard of.

    Args:
        history: message and committed date of the ledger's commits, newest first.
        server_date: the `Date` header of the answer that carried them; no client clock takes part.

    A lease whose visit key is in none of the messages is absent: nobody has heard of it for longer than the
    history reaches, so it is stale.
    """
    newest: dict[VisitKey, datetime] = {}
    wanted = {lease.visit_key for lease in leases}
    for message, committed in history:
        for key in wanted - newest.keys():
            if key in message:
                newest[key] = committed
    return {key: max(0.0, (server_date - committed).total_seconds()) for key, committed in newest.items()}
