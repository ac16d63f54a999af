"""The one way to try something again.

A try says by raising `Again` that it may be repeated: it did nothing, or it does no harm twice. Everything else that it
raises is final, so a write whose outcome is unknown is never repeated by accident. `tenacity` drives the tries.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type

Result = TypeVar("Result")
Pause = Callable[[int], float]
"""Seconds to wait after so many failures, counted from 1."""


def doubling(first_s: float, *, longest_s: float = math.inf) -> Pause:
    """Each pause is twice the one before it."""
    return lambda failures: min(longest_s, first_s * 2.0 ** (failures - 1))


AT_ONCE: Pause = doubling(0.0)


@dataclass(frozen=True, eq=False)
class Policy:
    """How often, how fast and how long one kind of failure is tried again; two kinds are counted apart."""

    repeats: int
    pause: Pause = AT_ONCE
    longest_s: float = math.inf
    """Of waiting altogether; a pause that would pass it is not begun."""
    left_s: Callable[[], float | None] = lambda: None
    """What is left of the caller's time; a pause that would use it up is not begun. None: no limit."""


class End(NamedTuple):
    """How the tries ended without a result."""

    failures: int
    """Of the kind that was the last."""
    wait_s: float
    """The pause that was not made."""
    longest_s: float | None
    """The limit that the pause would have passed; None: no try was left."""


class Again(Exception):
    """This try failed, and another may follow."""

    def __init__(
        self,
        policy: Policy,
        error: Exception | Callable[[End], Exception],
        *,
        wait_s: float | None = None,
        repeats: int | None = None,
    ) -> None:
        """
        Args:
            error: what is raised if no other try follows, or what makes it.
            wait_s: the pause that the other side asks for; None: the policy's.
            repeats: where fewer make sense than the policy allows.
        """
        super().__init__()
        self.policy = policy
        self.error = error
        self.wait_s = wait_s
        self.repeats = policy.repeats if repeats is None else repeats


def retried(attempt: Callable[[], Result], *, sleep: Callable[[float], None] = time.sleep) -> Result:
    """The result of the first try that has one.

    Args:
        attempt: one try; `Again` asks for another.
        sleep: waits so many seconds.

    Raises: what `attempt` raises except `Again`, and the error of the last `Again`.
    """
    account = _Account()
    retrying = Retrying(
        retry=retry_if_exception_type(Again),
        wait=account.pause,
        stop=account.is_over,
        sleep=sleep,
        retry_error_callback=account.give_up,
    )
    return retrying(attempt)


class _Account:
    """The failures and pauses of one call, for each policy apart."""

    def __init__(self) -> None:
        self._failures: dict[Policy, int] = {}
        self._waited_s: dict[Policy, float] = {}
        self._end = End(0, 0.0, None)

    def pause(self, state: RetryCallState) -> float:
        again = _again(state)
        failures = self._failures[again.policy] = self._failures.get(again.policy, 0) + 1
        return again.policy.pause(failures) if again.wait_s is None else again.wait_s

    def is_over(self, state: RetryCallState) -> bool:
        again, wait_s = _again(state), state.upcoming_sleep
        failures, waited_s = self._failures[again.policy], self._waited_s.get(again.policy, 0.0) + wait_s
        self._waited_s[again.policy] = waited_s
        is_last = failures > again.repeats
        self._end = End(failures, wait_s, None if is_last else _passed(again.policy, wait_s, waited_s))
        return is_last or self._end.longest_s is not None

    def give_up(self, state: RetryCallState) -> Any:
        again = _again(state)
        if isinstance(again.error, Exception):
            raise again.error
        raise again.error(self._end) from again.__cause__


def _passed(policy: Policy, wait_s: float, waited_s: float) -> float | None:
    """The limit that a pause passes."""
    if waited_s > policy.longest_s:
        return policy.longest_s
    left_s = policy.left_s()
    return left_s if left_s is not None and wait_s >= left_s else None


def _again(state: RetryCallState) -> Again:
    failed = state.outcome.exception() if state.outcome is not None else None
    if isinstance(failed, Again):
        return failed
    raise AssertionError("only `Again` leads to another try")
