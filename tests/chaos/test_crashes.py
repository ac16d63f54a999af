"""Every step of the demonstration's item, killed at every request and done again."""

import sys

import pytest

from tests.chaos.crashes import crash_points, recovery, recovery_from_line
from tests.chaos.timeline import Theatre
from tests.exhaustive import SEED, of_today

LINES = range(2, 5)
"""Of its progress, while a node works."""


@pytest.mark.slow
def test_a_step_killed_around_its_publication_is_done_again_without_a_trace(begun: Theatre) -> None:
    step = next(step for step in begun.steps if step.node == "architecture")
    publishing = next(n for n, r in enumerate(step.requests, start=1) if r["operation"] == "Write")
    points = [point for point in crash_points(step) if point.request in (publishing, publishing + 1)]

    assert [line for point in points for line in recovery(begun, point)] == []


@pytest.mark.slow
def test_the_item_has_every_effect_that_a_second_one_of_would_be_seen(done: Theatre) -> None:
    issues = done.steps[-1].after["issues"].values()

    for kind in ("comments", "sub-issues", "blocked by", "reviews", "remarks", "pull"):
        assert any(issue[kind] for issue in issues), kind


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_step_killed_at_any_request_is_done_again_without_a_trace(
    done: Theatre, capsys: pytest.CaptureFixture[str]
) -> None:
    every = [point for step in done.steps for point in crash_points(step)]
    points = of_today(every, days=6)
    found = {str(point): recovery(done, point) for point in points}

    wrong = [line for lines in found.values() for line in lines]
    recovered = sum(not lines for lines in found.values())
    with capsys.disabled():
        sys.stderr.write(
            f"\n{len(points)} of {len(every)} crash points, {recovered} recovered, {len(wrong)} duplicates or losses\n"
        )
    assert wrong == [], f"seed {SEED}"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_runner_killed_while_its_node_works_changes_nothing(done: Theatre) -> None:
    moments = of_today([(step, line) for step in done.steps if step.node for line in LINES], days=len(LINES))
    found = [recovery_from_line(done, step, line) for step, line in moments]

    killed = [wrong for wrong in found if wrong is not None]
    assert len(killed) >= len(moments) // len(LINES)
    assert [line for wrong in killed for line in wrong] == [], f"seed {SEED}"
