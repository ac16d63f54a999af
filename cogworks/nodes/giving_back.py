"""A claimed visit is given back: it ended neither well nor badly, and whoever claims it next goes on."""

import math
from collections.abc import Callable

from cogworks.errors import BudgetReached, CogworksError
from cogworks.ledger.keeper import RELEASED, Keeper
from cogworks.pipeline.state import NextCall, RunState


def give_back(
    keeper: Keeper,
    say: Callable[[str], None],
    *,
    short_of: NextCall | None = None,
    waits_for: Callable[[RunState], str] = lambda _: "",
) -> None:
    """Release the lease so that nobody has to wait for it to grow old; never raises a deliberate failure.

    Args:
        short_of: the call that did not fit into the budget: nobody claims the visit again before it does.
        waits_for: what the run rests on then.
    """
    spent = keeper.spent
    try:
        keeper.finish(
            lambda state: state.released(keeper.lease, spent, short_of=short_of),
            RELEASED,
            lambda _: {},
            waits_for=waits_for,
        )
    except CogworksError as error:
        # What ended the visit matters more; a lease that stays is taken over when it is old enough.
        say(f"the lease could not be given back: {error}")


def short_of(error: BudgetReached) -> NextCall | None:
    """The call that the error refused; None where only somebody outside of the run knows when it may be made."""
    if error.needs_usd is None or error.needs_tokens is None:
        return None
    # Rounded up: a claim that stops at the same call again would be for nothing.
    return NextCall(cost_usd=math.ceil(error.needs_usd * 1_000_000) / 1_000_000, tokens=error.needs_tokens)
