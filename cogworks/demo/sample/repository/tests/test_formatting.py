from datetime import timedelta

import pytest

from hourglass import DurationError, format_clock, format_short, humanize


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(seconds=1), "1s"),
        (timedelta(minutes=90), "1h 30m"),
        (timedelta(weeks=1, hours=2), "7d 2h"),
        (timedelta(milliseconds=1500), "1s 500ms"),
        (timedelta(microseconds=1), "0s"),
        (-timedelta(minutes=90), "-1h 30m"),
    ],
)
def test_the_short_form(value, expected):
    assert format_short(value) == expected


def test_the_short_form_may_be_cut_after_some_parts():
    assert format_short(timedelta(days=1, hours=2, minutes=3), parts=2) == "1d 2h"


def test_the_number_of_parts_must_be_positive():
    with pytest.raises(DurationError, match="parts must be 1 or more"):
        format_short(timedelta(1), parts=0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (timedelta(0), "0:00:00"),
        (timedelta(hours=26, minutes=3), "26:03:00"),
        (timedelta(seconds=59.9), "0:00:59"),
        (-timedelta(minutes=1), "-0:01:00"),
    ],
)
def test_the_clock_form(value, expected):
    assert format_clock(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (timedelta(milliseconds=400), "a moment"),
        (timedelta(seconds=1), "1 second"),
        (timedelta(minutes=100), "about 2 hours"),
        (timedelta(hours=3), "3 hours"),
        (timedelta(days=3, hours=1), "about 3 days"),
        (-timedelta(days=14), "2 weeks"),
    ],
)
def test_the_phrase_for_people(value, expected):
    assert humanize(value) == expected
