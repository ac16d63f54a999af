"""The lane `large`, whose issues are created and started once, under kills, lost files and runners that meet."""

from random import Random

import pytest

from tests.chaos.crashes import crash_points, recovery
from tests.chaos.portrait import differences
from tests.chaos.test_many_runners import check_late_waking
from tests.chaos.test_whole_runs import run_with_kills
from tests.chaos.timeline import MAX_STEPS, Theatre
from tests.exhaustive import IS_EXHAUSTIVE, SEED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

SAMPLED = 5
"""Crash points that `--all` meets."""


def test_the_steps_are_those_of_a_division(large: Theatre) -> None:
    worked = [step.node for step in large.steps if step.node]

    assert worked == ["intake", "division", "division", "parts", "start"]
    issues = large.steps[-1].after["issues"]
    assert [issues[number]["labels"] for number in range(2, 6)] == [["cogworks:run"]] * 4


def test_a_step_of_a_division_killed_at_a_request_is_done_again_without_a_trace(large: Theatre) -> None:
    points = [point for step in large.steps for point in crash_points(step)]
    chosen = points if IS_EXHAUSTIVE else Random(SEED).sample(points, SAMPLED)

    assert [line for point in chosen for line in recovery(large, point)] == [], f"seed {SEED}"


@pytest.mark.parametrize("seed", range(SEED, SEED + (8 if IS_EXHAUSTIVE else 1)))
def test_a_division_killed_at_random_ends_as_if_nothing_had_happened(large: Theatre, seed: int) -> None:
    run_with_kills(large, Random(seed))

    assert differences(large.steps[-1].after, large.portrait()) == []


def test_a_division_whose_local_files_vanish_between_all_steps_ends_the_same(large: Theatre) -> None:
    large.back_to(large.steps[0])
    for _ in range(MAX_STEPS):
        report = large.process()
        assert report["exit_code"] == 0, report
        if report["outcome"] == "done":
            break
        large.act(report)
        large.wipe()

    assert differences(large.steps[-1].after, large.portrait()) == []


def test_a_runner_that_wakes_up_late_creates_no_issue_again(large: Theatre) -> None:
    check_late_waking(large, "parts", 1)
