from datetime import timedelta

import pytest

from hourglass.units import UNITS, find_unit


def test_units_are_listed_longest_first():
    lengths = [unit.length for unit in UNITS]
    assert lengths == sorted(lengths, reverse=True)


def test_ms_is_milliseconds_and_not_the_plural_of_m():
    unit = find_unit("ms")
    assert unit is not None
    assert unit.length == timedelta(milliseconds=1)


@pytest.mark.parametrize("word", ["", "s" * 5, "year", "hs"])
def test_other_words_are_no_units(word):
    assert find_unit(word) is None
