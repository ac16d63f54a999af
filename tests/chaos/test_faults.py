"""A publication that is met by faults of the network and of GitHub."""

from tests.chaos.faults import fault_points, recovery
from tests.chaos.timeline import Theatre


def test_a_publication_that_meets_any_fault_is_neither_lost_nor_repeated(begun: Theatre) -> None:
    step = next(step for step in begun.steps if step.node == "architecture")
    publishing = next(n for n, r in enumerate(step.requests, start=1) if r["operation"] == "Write")
    points = [point for point in fault_points(step) if point.request == publishing]

    assert [line for point in points for line in recovery(begun, point)] == []
