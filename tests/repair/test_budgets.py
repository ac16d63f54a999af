"""The smaller budget ends the search, and is the one that is named."""

import pytest

from cogworks.repair.options import Budgets


@pytest.mark.parametrize(
    ("budgets", "most", "names"),
    [
        (Budgets(finalists=2, actions_per_txn=3), 2, ("finalists",)),
        (Budgets(finalists=3, actions_per_txn=1), 1, ("actions_per_txn",)),
        (Budgets(finalists=2, actions_per_txn=2), 2, ("finalists", "actions_per_txn")),
    ],
)
def test_the_budget_that_is_used_up_first_is_named(
    budgets: Budgets, most: int, names: tuple[str, ...]
) -> None:
    assert (budgets.most, budgets.reached) == (most, names)
