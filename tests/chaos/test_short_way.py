"""The lane `small`, and an item that moves up from it, under kills, lost files and runners that meet."""

from random import Random

import pytest

from tests.chaos.crashes import crash_points, recovery, recovery_from_line
from tests.chaos.portrait import differences
from tests.chaos.test_many_runners import check_late_waking
from tests.chaos.test_whole_runs import run_with_kills
from tests.chaos.timeline import Theatre
from tests.exhaustive import IS_EXHAUSTIVE, SEED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

SAMPLED = 12
"""Crash points of each item that `--all` meets."""


def check_crashes(played: Theatre, *, steps: slice = slice(None), most: int = SAMPLED) -> None:
    points = [point for step in played.steps[steps] for point in crash_points(step)]
    chosen = points if IS_EXHAUSTIVE else Random(SEED).sample(points, min(most, len(points)))

    assert [line for point in chosen for line in recovery(played, point)] == [], f"seed {SEED}"


def test_the_steps_are_those_of_the_short_way(short: Theatre) -> None:
    assert [step.node for step in short.steps if step.node] == [
        "intake",
        "code_generation",
        "review",
        "integration",
    ]


def test_a_step_of_the_short_way_killed_at_a_request_is_done_again_without_a_trace(short: Theatre) -> None:
    check_crashes(short)


def test_a_step_that_moves_up_killed_at_a_request_moves_up_once(moving: Theatre) -> None:
    assert [step.node for step in moving.steps] == ["intake", "code_generation", "architecture"]
    check_crashes(moving)


def test_a_fix_that_the_review_gives_is_applied_once_whenever_a_step_is_killed(mending: Theatre) -> None:
    worked = [step.node for step in mending.steps if step.node]
    assert worked == ["intake", "code_generation", "review", "code_generation", "review", "integration"]
    check_crashes(mending, steps=slice(3, 5), most=4)


def test_a_conflict_is_resolved_once_whenever_its_visit_is_killed(merged: Theatre) -> None:
    worked = [step for step in merged.steps if step.node]
    *_, merging, review, integration = worked
    assert [step.node for step in (merging, review, integration)] == [
        "code_generation",
        "review",
        "integration",
    ]

    check_crashes(merged, steps=slice(merging.number, merging.number + 1), most=4)
    found = [recovery_from_line(merged, merging, line) for line in range(2, 5)]
    assert [line for wrong in found if wrong for line in wrong] == []
    assert any(wrong is not None for wrong in found)


@pytest.mark.parametrize("seed", range(SEED, SEED + (8 if IS_EXHAUSTIVE else 2)))
def test_an_item_of_the_short_way_killed_at_random_ends_as_if_nothing_had_happened(
    short: Theatre, seed: int
) -> None:
    run_with_kills(short, Random(seed))

    assert differences(short.steps[-1].after, short.portrait()) == []


def test_a_runner_that_wakes_up_late_moves_nothing_up_again(moving: Theatre) -> None:
    check_late_waking(moving, "code_generation", 1)
