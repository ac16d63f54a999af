"""What GitHub allows is not run into: points are left for publishing, comments for people."""

from datetime import UTC, datetime

import pytest

from cogworks.engine.claim import too_few_points
from cogworks.engine.report import many_comments
from cogworks.forge.facts import RateLimit
from tests.world import World

RESET = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "rate",
    [None, RateLimit(500, limit=5_000), RateLimit(3), RateLimit(0, limit=0)],
    ids=["not said", "a tenth", "no limit said", "no limit at all"],
)
def test_a_tenth_of_the_points_or_nothing_known_is_enough(rate: RateLimit | None) -> None:
    assert too_few_points(World(rate=rate).snapshot()) == ""


def test_less_than_a_tenth_says_how_much_and_until_when() -> None:
    assert too_few_points(World(rate=RateLimit(499, RESET, limit=5_000)).snapshot()) == (
        "499 of the token's 5000 GitHub points of this hour are left. That may not be enough to publish what a "
        "model answers, so no model was asked and nothing was claimed. The points do not come back before 12:30 UTC. Run the step again then."
    )


@pytest.mark.parametrize(("count", "is_told"), [(1_999, False), (2_000, True)])
def test_an_issue_that_nears_its_last_comment_is_warned_of(count: int, is_told: bool) -> None:
    world = World()
    world.say("Hello.")
    world.comments = world.comments * count

    assert bool(many_comments(world.snapshot())) is is_told
