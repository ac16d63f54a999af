from tally import parse


def test_whole_amounts():
    assert parse("12") == 1200


def test_thousands():
    assert parse("1,250.50") == 125050


def test_what_is_owed():
    assert parse("(3.25)") == -325
