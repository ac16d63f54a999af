"""The figures of the transports: measured for each, and published for each."""

from pathlib import Path

import pytest

from scripts.benchmarks import services

PUBLISHED = Path(__file__).parents[2] / "docs" / "extension-api.md"


@pytest.mark.slow
def test_every_transport_is_measured_and_published() -> None:
    costs = services.measure(runs=2)

    published = PUBLISHED.read_text("utf-8")
    assert [cost.way for cost in costs if f"| {cost.way} |" not in published] == []
    assert all(cost.warm_ms > 0 and cost.cold_ms > 0 for cost in costs)
    assert [cost.memory_mb > 0 for cost in costs] == [False, True, True]
