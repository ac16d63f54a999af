from datetime import timedelta

import pytest

from hourglass import DurationError, clamp, mean, round_to, split, total

MINUTE = timedelta(minutes=1)


def test_the_total_of_nothing_is_zero():
    assert total([]) == timedelta(0)


def test_the_total_adds_up():
    assert total([MINUTE, 2 * MINUTE]) == 3 * MINUTE


def test_the_mean():
    assert mean([MINUTE, 2 * MINUTE]) == 1.5 * MINUTE


def test_the_mean_of_nothing_is_refused():
    with pytest.raises(DurationError, match="mean of no durations"):
        mean([])


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, 0), (29, 0), (30, 60), (89, 60), (90, 120), (-29, 0), (-30, -60)],
)
def test_rounding_goes_to_the_nearest_step_and_away_from_zero_on_a_tie(seconds, expected):
    assert round_to(timedelta(seconds=seconds), MINUTE) == timedelta(seconds=expected)


def test_a_step_of_zero_is_refused():
    with pytest.raises(DurationError, match="step must be longer than zero"):
        round_to(MINUTE, timedelta(0))


def test_clamping():
    low, high = MINUTE, 3 * MINUTE
    assert clamp(0 * MINUTE, low, high) == low
    assert clamp(2 * MINUTE, low, high) == 2 * MINUTE
    assert clamp(9 * MINUTE, low, high) == high


def test_limits_the_wrong_way_round_are_refused():
    with pytest.raises(DurationError, match="lower limit"):
        clamp(MINUTE, 3 * MINUTE, MINUTE)


def test_shares_add_up_exactly():
    value = timedelta(seconds=10)
    shares = split(value, 3)
    assert total(shares) == value
    assert max(shares) - min(shares) == timedelta(microseconds=1)


def test_splitting_into_no_shares_is_refused():
    with pytest.raises(DurationError, match="1 share or more"):
        split(MINUTE, 0)
