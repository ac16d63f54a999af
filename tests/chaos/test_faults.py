"""Every request of every step, met by every kind of fault."""

import sys

import pytest

from tests.chaos.faults import FaultPoint, fault_points, recovery
from tests.chaos.timeline import Step, Theatre

# Two of three runs of the coder test the same requests; each takes as long as all other steps together.
LEFT_OUT = frozenset({9, 11})
CODER = "code_generation"


def test_a_publication_without_an_answer_is_adopted_and_not_repeated(begun: Theatre) -> None:
    step = next(step for step in begun.steps if step.node == "architecture")
    publishing = next(n for n, r in enumerate(step.requests, start=1) if r["operation"] == "Write")
    faults = ({"kind": "cut_after"}, {"kind": "error_after", "status": 502}, {"kind": "rate_limited_200"})
    points = [FaultPoint(step, publishing, fault) for fault in faults]

    assert [line for point in points for line in recovery(begun, point)] == []


def is_tried(step: Step) -> bool:
    return step.number not in LEFT_OUT


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("of_coder", [False, True], ids=["other-steps", "coder"])
def test_every_fault_at_any_request_is_got_over_without_a_trace(
    done: Theatre, of_coder: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [step for step in done.steps if is_tried(step) and (step.node == CODER) is of_coder]
    points = [point for step in steps for point in fault_points(step)]
    found = {str(point): recovery(done, point) for point in points}

    wrong = [line for lines in found.values() for line in lines]
    recovered = sum(not lines for lines in found.values())
    with capsys.disabled():
        sys.stderr.write(f"\n{len(points)} faults, {recovered} got over, {len(wrong)} duplicates or losses\n")
    assert wrong == []
