import pytest

from hourglass import ParseError, parse


def test_digits_of_other_scripts_are_no_numbers():
    with pytest.raises(ParseError):
        parse("\u0661h")
