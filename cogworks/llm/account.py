"""What is left of a budget while several calls are under way."""

import threading
from collections.abc import Callable
from decimal import Decimal

from cogworks.errors import BudgetReached
from cogworks.llm.budget import Budget, Estimate

Secures = Callable[[Decimal, int], None]
"""Has dollars and tokens set aside where other runners see it; raises BudgetReached where so much is not left."""


class Account:
    """A budget from which calls reserve before they begin; for several threads at once.

    What is reserved and what is spent never pass the limit together, but for a call that costs more than its estimate.
    """

    def __init__(self, budget: Budget, *, secure: Secures = lambda *_: None) -> None:
        """Args:
        secure: is told what is spent and reserved together before a reservation counts, and where it is less afterwards.
        """
        self._budget = budget
        self._secure = secure
        self._lock = threading.Lock()

    @property
    def budget(self) -> Budget:
        """As it is now."""
        return self._budget

    def reserve(self, need: Estimate, *, purpose: str) -> None:
        """Set aside the most that a call can cost; `settle` or `release` has to follow.

        Raises:
            BudgetReached: so much is not left; nothing is set aside.
        """
        with self._lock:
            refusal = self._budget.refusal(need)
            if refusal is not None:
                raise BudgetReached(
                    f"{refusal} (asked for: {purpose})",
                    needs_usd=float(need.cost_usd),
                    needs_tokens=need.tokens,
                )
            after = self._budget.reserving(need)
            # Under the lock: whoever reserves later has a sum that holds this one.
            self._secure(*_sums(after))
            self._budget = after

    def release(self, need: Estimate) -> None:
        """A call came to nothing."""
        with self._lock:
            self._take(self._budget.releasing(need))

    def settle(self, need: Estimate, cost_usd: Decimal, tokens: int) -> None:
        """A call has cost so much."""
        with self._lock:
            self._take(self._budget.releasing(need).spending(cost_usd, tokens))

    def _take(self, after: Budget) -> None:
        """Go on with what a call that ended has left; the lock is held."""
        usd_before, tokens_before = _sums(self._budget)
        usd, tokens = _sums(after)
        self._budget = after
        # One that cost more than its estimate is told with the next reservation, for nobody can refuse it any more.
        if usd <= usd_before and tokens <= tokens_before:
            self._secure(usd, tokens)


def _sums(budget: Budget) -> tuple[Decimal, int]:
    return budget.spent_usd + budget.reserved_usd, budget.spent_tokens + budget.reserved_tokens
