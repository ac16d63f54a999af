"""What is tried next when changes keep failing: each rung once."""

from collections.abc import Collection
from enum import StrEnum

from cogworks.vocabulary import Value


class Rung(StrEnum):
    """A way to go on, from the nearest to the last."""

    PROPOSE_AGAIN = "repropose"
    """Other diffs for the same landmark; the question says why the last ones failed."""
    PLAN_AGAIN = "replan"
    """Other landmarks; the question says which one failed and why."""
    COMBINE_AGAIN = "recombine"
    """Another failure pattern, from all that was found out meanwhile."""
    WIDEN = "widen"
    """A larger neighbourhood of the failing tests."""
    GIVE_UP = "give_up"


ORDER = (Rung.PROPOSE_AGAIN, Rung.PLAN_AGAIN, Rung.COMBINE_AGAIN, Rung.WIDEN)


class Ladder(Value):
    """How often each rung was climbed."""

    most: int = 1
    """Times each rung may be climbed."""
    climbed: tuple[Rung, ...] = ()

    def next_rung(self, among: Collection[Rung] = ORDER) -> Rung:
        """The nearest rung that is left among these."""
        left = (rung for rung in ORDER if rung in among and self.climbed.count(rung) < self.most)
        return next(left, Rung.GIVE_UP)

    def after(self, rung: Rung) -> "Ladder":
        """When a rung was climbed; it stays used up, whatever came after it."""
        return self.model_copy(update={"climbed": (*self.climbed, rung)})
