"""Observations of earlier visits, made by hand."""

from typing import Any

from cogworks.cycle.events import Observation, Situation
from cogworks.cycle.experience import environment_of
from tests.cycle.scripted import header

FRESH = Situation(
    environment=environment_of(header()), attempts=0, test_file="", signature="", is_stalled=False
)
"""Where every run of the example begins."""


def remembered(pattern: str, worth: float, *, age_days: int = 0, cycle: int = 1, **at: Any) -> Observation:
    """A decision of another visit, made where the example begins but for the given differences."""
    return Observation(
        pattern=pattern,
        situation=FRESH.model_copy(update=at),
        worth=worth,
        age_days=age_days,
        source="41/visits/0007-code_generation@57",
        cycle=cycle,
    )
