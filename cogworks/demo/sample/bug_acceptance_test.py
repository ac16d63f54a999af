"""What the person who reported the bug would try; run from the root of a checkout."""

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
    ],
)
def test_decimals_are_read_as_people_mean_them(text, expected):
    assert hourglass.parse(text) == expected


def test_whole_numbers_are_read_as_before():
    assert hourglass.parse("2 days, 4 hours and 5 minutes") == timedelta(days=2, hours=4, minutes=5)
