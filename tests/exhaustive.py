"""How much of a sweep and of a property is played: a taste, those of today, or everything.

`./scripts/test --all` plays a part of each sweep that changes from day to day, and tries properties on all their examples;
`./scripts/test` tries them on a sixth, and plays a part of what `--all` plays whole where that takes seconds; `./scripts/test --exhaustive` plays everything, which takes hours.
"""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")

IS_EXHAUSTIVE = bool(os.environ.get("COGWORKS_TESTS_EXHAUSTIVE"))
IS_QUICK = not (IS_EXHAUSTIVE or os.environ.get("COGWORKS_TESTS_ALL"))
MANY = 10_000 if IS_EXHAUSTIVE else 2_500
"""The examples of a property that a slow test tries on many."""
SEED = int(os.environ.setdefault("COGWORKS_TESTS_SEED", str(datetime.now(UTC).toordinal())))
"""Another one every day, so that the samples come to hold every case; a failure names it, and the variable plays it again.

It stays in the environment, where all workers of one run find the same one, also around midnight.
"""


def of_today(cases: Iterable[T], *, days: int) -> list[T]:
    """Every `days`-th case in order, so that as many days in a row play each of them once."""
    if IS_EXHAUSTIVE:
        return list(cases)
    return [case for number, case in enumerate(cases) if (number + SEED) % days == 0]


def tasted(cases: Iterable[T], *, days: int) -> list[T]:
    """All cases; in a quick run those of today."""
    return of_today(cases, days=days) if IS_QUICK else list(cases)


def examples(count: int) -> int:
    """On how many inputs a property is tried that is to be tried on so many."""
    return min(count, max(10, count // 6)) if IS_QUICK else count
