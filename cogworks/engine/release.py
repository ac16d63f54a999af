"""A claimed visit is given back: it ended neither well nor badly, and whoever claims it next goes on."""

import math
from collections.abc import Callable

from cogworks.errors import ApprovalNeeded, BudgetReached, CogworksError
from cogworks.ledger.lease import RELEASED, Entry, VisitLease
from cogworks.pipeline.people import AskedCall
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import NextCall

MAX_SHOWN_CHARS = 300


def give_back(
    visit_lease: VisitLease,
    say: Callable[[str], None],
    *,
    short_of: NextCall | None = None,
    asks: AskedCall | None = None,
    waits_for: Callable[[RunState], str] = lambda _: "",
) -> None:
    """Release the lease so that nobody has to wait for it to grow old; never raises a deliberate failure.

    Args:
        short_of: the call that did not fit into the budget: nobody claims the visit again before it does.
        asks: the call that a person has to approve before anybody claims the visit again.
        waits_for: what the run rests on then.
    """
    spent = visit_lease.spent

    def released(state: RunState) -> Entry:
        after = state.released(
            visit_lease.lease, spent, short_of=short_of, why=visit_lease.stop_reason, asks=asks
        )
        return Entry(state=after, verb=RELEASED, waits_for=waits_for(after))

    try:
        visit_lease.finish(released)
    except CogworksError as error:
        # What ended the visit matters more; a lease that stays is taken over when it is old enough.
        say(f"could not release the lease, which now ends by its age: {error}")


def short_of(error: BudgetReached) -> NextCall | None:
    """The call that the error refused; None where only somebody outside of the run knows when it may be made."""
    if error.needs_usd is None or error.needs_tokens is None:
        return None
    # Rounded up: a claim that stops at the same call again would be for nothing.
    return NextCall(cost_usd=math.ceil(error.needs_usd * 1_000_000) / 1_000_000, tokens=error.needs_tokens)


def asked_call(error: ApprovalNeeded) -> AskedCall:
    """The call as people are asked about it."""
    # It stands between backticks in a comment of ours, and the model wrote it.
    plain = error.shown.replace("`", "'").replace("<", "\\u003c")
    shown = plain if len(plain) <= MAX_SHOWN_CHARS else f"{plain[:MAX_SHOWN_CHARS]}…"
    asked = {"tool": error.tool, "hash": error.call_hash, "lapsed": error.lapsed, "code": error.code}
    return AskedCall.model_validate({**asked, "shown": shown})
