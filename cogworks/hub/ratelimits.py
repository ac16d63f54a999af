"""How many requests a caller has left this hour, in GitHub's words."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from cogworks.hub.refusals import RateLimited

BILL: ContextVar[list[int] | None] = ContextVar("BILL", default=None)
"""Where the costs of the request at hand are written, for the code that counts them."""


@dataclass(frozen=True)
class Allowance:
    limit: int
    used: int
    reset_at: datetime

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


class RateLimits:
    """Per caller and resource (`core`, `graphql`, `search`): an hour's budget that starts with the first request."""

    def __init__(self, now: Callable[[], datetime], limits: dict[str, int]) -> None:
        self._now = now
        self._limits = limits
        self._lock = Lock()
        self._windows: dict[tuple[str, str], Allowance] = {}

    def allowance(self, caller: str, resource: str) -> Allowance:
        """What is left, without taking anything."""
        with self._lock:
            return self._current(caller, resource)

    def check(self, caller: str, resource: str) -> None:
        """Raises `RateLimited` when nothing is left."""
        if self.allowance(caller, resource).remaining == 0:
            raise RateLimited(f"API rate limit exceeded for {caller}.")

    def spend(self, caller: str, resource: str, cost: int = 1) -> Allowance:
        """Take `cost` from the budget and return what is left. Raises `RateLimited` when it is used up."""
        with self._lock:
            window = self._current(caller, resource)
            if window.used + cost > window.limit:
                raise RateLimited(f"API rate limit exceeded for {caller}.")
            spent = Allowance(limit=window.limit, used=window.used + cost, reset_at=window.reset_at)
            self._windows[caller, resource] = spent
            bill = BILL.get()
            if bill is not None:
                bill.append(cost)
            return spent

    def refill(self) -> None:
        """Start everybody's hour anew."""
        with self._lock:
            self._windows.clear()

    def _current(self, caller: str, resource: str) -> Allowance:
        window = self._windows.get((caller, resource))
        if window is None or self._now() >= window.reset_at:
            limit = self._limits.get(resource, self._limits["core"])
            window = Allowance(limit=limit, used=0, reset_at=self._now() + timedelta(hours=1))
            self._windows[caller, resource] = window
        return window
