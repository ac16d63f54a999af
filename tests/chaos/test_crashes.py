"""A step of the demonstration's item, killed around its publication and done again."""

from tests.chaos.crashes import crash_points, recovery
from tests.chaos.timeline import Theatre


def test_a_step_killed_around_its_publication_is_done_again_without_a_trace(begun: Theatre) -> None:
    step = next(step for step in begun.steps if step.node == "architecture")
    publishing = next(n for n, r in enumerate(step.requests, start=1) if r["operation"] == "Write")
    points = [point for point in crash_points(step) if point.request in (publishing, publishing + 1)]

    assert [line for point in points for line in recovery(begun, point)] == []
