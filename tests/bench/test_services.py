"""The figures of the transports: measured for each, and published for each."""

from pathlib import Path

import pytest

from scripts.benchmarks import services

PUBLISHED = Path(__file__).parents[2] / "docs" / "extension-api.md"


@pytest.mark.slow
def test_a_kept_environment_spares_what_making_it_costs() -> None:
    costs = services.measure_environments()

    published = PUBLISHED.read_text("utf-8")
    assert [cost.installer for cost in costs] == ["pip", "uv"]
    assert [cost.installer for cost in costs if f"| {cost.installer} |" not in published] == []
    assert all(cost.cold_s > cost.warm_s > 0 for cost in costs)


@pytest.mark.slow
def test_every_transport_is_measured_and_published() -> None:
    costs = services.measure(runs=2)

    published = PUBLISHED.read_text("utf-8")
    assert [cost.way for cost in costs if f"| {cost.way} |" not in published] == []
    assert all(cost.warm_ms > 0 and cost.cold_ms > 0 for cost in costs)
    assert [cost.memory_mb > 0 for cost in costs] == [False, True, True]
