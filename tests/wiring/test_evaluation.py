"""What a repair that was broken off counts as: an instance's own budget is part of the question, the evaluation's is not."""

from decimal import Decimal

import pytest

from cogworks.errors import BudgetReached, CogworksError
from cogworks.wiring.evaluation import _outcome_of

OURS = BudgetReached("too much", needs_usd=0.5)


@pytest.mark.parametrize(
    ("error", "max_cost_usd", "outcome"),
    [
        (OURS, None, "not_solved"),
        (OURS, Decimal(2), "not_solved"),
        (OURS, Decimal(1), "unbudgeted"),
        (BudgetReached("the provider's"), Decimal(1), "error"),
        (CogworksError("broken"), Decimal(1), "error"),
    ],
    ids=["no limit", "its own budget", "the evaluation's budget", "the provider's budget", "something else"],
)
def test_what_a_repair_that_was_broken_off_counts_as(
    error: CogworksError, max_cost_usd: Decimal | None, outcome: str
) -> None:
    assert _outcome_of(error, 0.75, max_cost_usd) == outcome
