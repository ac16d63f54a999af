"""Every step of the demonstration's item, killed at every request and done again."""

import sys

import pytest

from tests.chaos.crashes import crash_points, recovery
from tests.chaos.timeline import Theatre


def test_a_step_killed_around_its_publication_is_done_again_without_a_trace(begun: Theatre) -> None:
    step = next(step for step in begun.steps if step.node == "architecture")
    publishing = next(n for n, r in enumerate(step.requests, start=1) if r["operation"] == "Write")
    points = [point for point in crash_points(step) if point.request in (publishing, publishing + 1)]

    assert [line for point in points for line in recovery(begun, point)] == []


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_step_killed_at_any_request_is_done_again_without_a_trace(
    done: Theatre, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [point for step in done.steps for point in crash_points(step)]
    found = {str(point): recovery(done, point) for point in points}

    wrong = [line for lines in found.values() for line in lines]
    recovered = sum(not lines for lines in found.values())
    with capsys.disabled():
        sys.stderr.write(
            f"\n{len(points)} crash points, {recovered} recovered, {len(wrong)} duplicates or losses\n"
        )
    assert wrong == []
