import pytest

from slots import Interval


def test_length():
    assert Interval(10, 25).length() == 15


def test_an_interval_has_a_minute_at_least():
    with pytest.raises(ValueError):
        Interval(10, 10)


def test_one_inside_another_overlaps():
    assert Interval(0, 60).overlaps(Interval(10, 20))
    assert Interval(10, 20).overlaps(Interval(0, 60))
