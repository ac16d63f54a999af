import pytest

from slots import Interval, book, free

DAY = Interval(0, 600)


def test_appointments_stand_in_order():
    assert book([Interval(60, 90)], Interval(0, 30)) == [Interval(0, 30), Interval(60, 90)]


def test_two_at_the_same_time_are_refused():
    with pytest.raises(ValueError):
        book([Interval(60, 90)], Interval(80, 100))


def test_the_same_appointment_twice_is_refused():
    with pytest.raises(ValueError):
        book([Interval(60, 90)], Interval(60, 90))


def test_what_is_free_around_one_appointment():
    assert free([Interval(60, 90)], DAY) == [Interval(0, 60), Interval(90, 600)]
