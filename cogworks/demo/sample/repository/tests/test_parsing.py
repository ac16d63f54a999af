from datetime import timedelta

import pytest

from hourglass import DurationError, ParseError, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1w", timedelta(weeks=1)),
        ("2d", timedelta(days=2)),
        ("3h", timedelta(hours=3)),
        ("4m", timedelta(minutes=4)),
        ("5s", timedelta(seconds=5)),
        ("6ms", timedelta(milliseconds=6)),
    ],
)
def test_every_short_unit(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["90 min", "90mins", "90 minutes", "90 Minutes", "90 MIN"])
def test_a_unit_may_be_spelled_in_several_ways(text):
    assert parse(text) == timedelta(minutes=90)


def test_parts_add_up():
    assert parse("1h 30m") == timedelta(hours=1, minutes=30)


def test_parts_need_no_space_between_them():
    assert parse("1h30m15s") == timedelta(hours=1, minutes=30, seconds=15)


def test_commas_may_separate_parts():
    assert parse("2 days, 4 hours, 5 minutes") == timedelta(days=2, hours=4, minutes=5)


def test_the_word_and_may_join_parts():
    assert parse("1 hour and 30 minutes") == timedelta(hours=1, minutes=30)


def test_a_comma_and_the_word_and_may_stand_together():
    assert parse("1 day, 2 hours, and 3 seconds") == timedelta(days=1, hours=2, seconds=3)


def test_white_space_around_the_text_is_ignored():
    assert parse("  10s\n") == timedelta(seconds=10)


def test_a_leading_minus_makes_the_whole_negative():
    assert parse("-1h 30m") == -timedelta(hours=1, minutes=30)


@pytest.mark.parametrize("text", ["", "   ", "soon", "h"])
def test_a_text_without_a_duration_is_refused(text):
    with pytest.raises(ParseError, match="no duration"):
        parse(text)


def test_an_unknown_unit_is_named():
    with pytest.raises(ParseError, match="unknown unit 'fortnights'") as caught:
        parse("2 fortnights")
    assert caught.value.position == 2
    assert caught.value.text == "2 fortnights"


def test_a_parse_error_is_a_value_error():
    assert issubclass(ParseError, DurationError)
    assert issubclass(ParseError, ValueError)
