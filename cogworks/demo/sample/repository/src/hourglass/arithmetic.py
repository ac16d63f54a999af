"""Sums, means, rounding and sharing of durations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from hourglass.errors import DurationError

_ZERO = timedelta(0)
_TICK = timedelta.resolution


def total(values: Iterable[timedelta]) -> timedelta:
    """The sum; zero when there are none."""
    return sum(values, _ZERO)


def mean(values: Iterable[timedelta]) -> timedelta:
    """The average. Raises DurationError when there are no values."""
    listed = list(values)
    if not listed:
        raise DurationError("the mean of no durations is undefined")
    return total(listed) / len(listed)


def round_to(value: timedelta, step: timedelta) -> timedelta:
    """The multiple of `step` nearest to the value; a tie goes away from zero.

    Raises DurationError unless the step is longer than zero.
    """
    if step <= _ZERO:
        raise DurationError(f"the step must be longer than zero, not {step}")
    size = abs(value)
    count = (2 * size + step) // (2 * step)
    return count * step if value >= _ZERO else -(count * step)


def clamp(value: timedelta, low: timedelta, high: timedelta) -> timedelta:
    """The value, or the nearer of the two limits. Raises DurationError when they are the wrong way round."""
    if low > high:
        raise DurationError(f"the lower limit {low} is above the upper limit {high}")
    return max(low, min(value, high))


def split(value: timedelta, count: int) -> list[timedelta]:
    """`count` shares that add up to the value exactly and differ by at most a microsecond, longer shares first.

    Raises DurationError when the count is below 1.
    """
    if count < 1:
        raise DurationError(f"a duration is split into 1 share or more, not {count}")
    share, left_over = divmod(value // _TICK, count)
    return [(share + (1 if index < left_over else 0)) * _TICK for index in range(count)]
