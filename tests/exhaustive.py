"""Whether a sweep plays every one of its cases, or those of today.

`./scripts/test --all` plays a part that changes from day to day; `./scripts/test --exhaustive` everything, which takes hours.
"""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")

IS_EXHAUSTIVE = bool(os.environ.get("COGWORKS_TESTS_EXHAUSTIVE"))
SEED = int(os.environ.setdefault("COGWORKS_TESTS_SEED", str(datetime.now(UTC).toordinal())))
"""Another one every day, so that the samples come to hold every case; a failure names it, and the variable plays it again.

It stays in the environment, where all workers of one run find the same one, also around midnight.
"""


def of_today(cases: Iterable[T], *, days: int) -> list[T]:
    """Every `days`-th case in order, so that as many days in a row play each of them once."""
    if IS_EXHAUSTIVE:
        return list(cases)
    return [case for number, case in enumerate(cases) if (number + SEED) % days == 0]
