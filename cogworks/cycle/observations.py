"""One decision of an earlier visit as it is remembered."""

from pydantic import Field

from cogworks.vocabulary import Value


class Situation(Value):
    """Where a run stood when it decided."""

    environment: str
    """Names conventions and words of the questions."""
    attempts: int
    """Changes that were rolled back since the last one that was kept: 0, 1, 2 (or 3), 4 (or more)."""
    test_file: str
    """Of the first failing test; empty where none fails."""
    signature: str
    """8 hex digits of what failed last; empty where nothing does."""
    is_stalled: bool
    """The last two runs of the tests failed alike."""


class Observation(Value):
    """A decision, where it was made, and what came of it."""

    pattern: str
    """The action, and for what reason, e.g. `GENERATE_PATCH:rolled_back`."""
    situation: Situation
    worth: float = Field(ge=0, le=1)
    """1: a change was kept after it; 0.5: it was taken back; 0: none was kept."""
    age_days: int = Field(ge=0)
    source: str
    """Which log, e.g. `41/visits/0007-code_generation@57`."""
    cycle: int
    """Of that log."""
