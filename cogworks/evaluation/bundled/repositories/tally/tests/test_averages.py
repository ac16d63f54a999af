import pytest

from tally import mean, median


def test_mean():
    assert mean([1, 2, 6]) == 3


def test_median_of_three():
    assert median([9, 1, 5]) == 5


def test_there_is_no_average_of_nothing():
    with pytest.raises(ValueError):
        mean([])
    with pytest.raises(ValueError):
        median([])
