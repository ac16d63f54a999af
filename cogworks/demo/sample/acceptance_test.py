"""What the person who wrote the issue would try; run from the root of a checkout."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path.cwd() / "src"))

import hourglass


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5h", timedelta(hours=1, minutes=30)),
        ("0.25 days", timedelta(hours=6)),
        ("-1.5 h 0.5 min", -timedelta(hours=1, minutes=30, seconds=30)),
        ("2 days, 4 hours and 5 minutes", timedelta(days=2, hours=4, minutes=5)),
    ],
)
def test_durations_as_people_write_them(text, expected):
    assert hourglass.parse(text) == expected


@pytest.mark.parametrize("text", ["1h 30", "1h banana 30m", "1.2.3h"])
def test_what_is_not_understood_is_refused(text):
    with pytest.raises(hourglass.ParseError):
        hourglass.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT1H30M", timedelta(hours=1, minutes=30)),
        ("P1DT12H", timedelta(days=1, hours=12)),
        ("PT0.5S", timedelta(milliseconds=500)),
        ("PT0,5S", timedelta(milliseconds=500)),
        ("P2W", timedelta(weeks=2)),
        ("-PT1M", -timedelta(minutes=1)),
    ],
)
def test_iso_durations_are_read(text, expected):
    assert hourglass.parse_iso(text) == expected


@pytest.mark.parametrize("text", ["P1Y", "P2M", "P", "PT", "1h", "PT1H30"])
def test_what_iso_cannot_say_exactly_is_refused(text):
    with pytest.raises(hourglass.ParseError):
        hourglass.parse_iso(text)


@pytest.mark.parametrize(
    "value",
    [
        timedelta(0),
        timedelta(hours=1, minutes=30),
        timedelta(seconds=59, microseconds=123456),
        timedelta(microseconds=1),
        -timedelta(days=3, microseconds=7),
        timedelta.max,
        timedelta.min,
    ],
)
def test_what_is_written_is_read_back_exactly(value):
    assert hourglass.parse_iso(hourglass.format_iso(value)) == value
