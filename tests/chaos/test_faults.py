"""Every request of every step, met by every kind of fault."""

import sys

import pytest

from tests.chaos.faults import FaultPoint, covering, fault_points, recovery
from tests.chaos.timeline import Theatre
from tests.exhaustive import IS_EXHAUSTIVE, SEED, of_today


@pytest.mark.slow
def test_a_publication_without_an_answer_is_adopted_and_not_repeated(begun: Theatre) -> None:
    step = next(step for step in begun.steps if step.node == "architecture")
    publishing = next(n for n, r in enumerate(step.requests, start=1) if r["operation"] == "Write")
    faults = ({"kind": "cut_after"}, {"kind": "error_after", "status": 502}, {"kind": "rate_limited_200"})
    points = [FaultPoint(step, publishing, fault) for fault in faults]

    assert [line for point in points for line in recovery(begun, point)] == []


@pytest.mark.slow
@pytest.mark.timeout(10_000 if IS_EXHAUSTIVE else 1800)
def test_every_fault_at_any_request_is_got_over_without_a_trace(
    done: Theatre, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the selection of `covering` (every request, and every kind of fault in every kind of step and of request) an eighth a day."""
    every = list(fault_points(done.steps))
    points = every if IS_EXHAUSTIVE else of_today(covering(every), days=8)
    found = {str(point): recovery(done, point) for point in points}

    wrong = [line for lines in found.values() for line in lines]
    recovered = sum(not lines for lines in found.values())
    with capsys.disabled():
        sys.stderr.write(
            f"\n{len(points)} of {len(every)} faults, {recovered} got over, {len(wrong)} duplicates or losses\n"
        )
    assert wrong == [], f"seed {SEED}"
