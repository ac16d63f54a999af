import pytest

from margins import shorten


def test_what_fits_stays():
    assert shorten("abc", 3) == "abc"


def test_the_mark_has_to_fit():
    with pytest.raises(ValueError):
        shorten("abcdef", 2)
